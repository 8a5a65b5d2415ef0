// RandomAccess: how many items of a large table a device updates in a second when nothing says which is next
// (Meyer 2024, sections 3.1.3 and 4.1.4).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/parallel.hpp"
#include "base/random_bits.hpp"
#include "benchmarks/random_access/check.hpp"
#include "benchmarks/random_access/execution.hpp"
#include "runtime/run.hpp"

namespace fabricmark::random_access {

namespace {

/// An item as a fault changes it: a number that is multiplied.
class FaultyItem {
 public:
  FaultyItem() = default;
  explicit FaultyItem(double value)
      : bits_(value < 0x1p64 ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0}) {}
  explicit operator double() const { return static_cast<double>(bits_); }

 private:
  std::uint64_t bits_;
};
static_assert(sizeof(FaultyItem) == sizeof(std::uint64_t));

/// One repetition writes the table to the device, updates it and reads it back. Each has a table and updates
/// that no other one has.
class RandomAccess : public runtime::Benchmark {
 public:
  RandomAccess(const runtime::Context& context, MakeExecution make_execution)
      : is_global_(context.parameters().text("scope") == "global"),
        rank_(context.ranks().rank()),
        ranks_(context.ranks().size()),
        threads_(runtime::host_threads(context.ranks())),
        scope_(scope(context)),
        first_item_(static_cast<std::uint64_t>(context.ranks().rank()) * scope_.part_items()),
        cache_bytes_(device::last_cache_bytes(context.device().info())),
        execution_(make_execution(context, scope_)),
        initial_(context.host_array<std::uint64_t>(scope_.part_items())),
        results_(context.host_array<std::uint64_t>(scope_.part_items())),
        expected_(context.computes() ? scope_.part_items() : 0) {}

  void prepare(int repetition) override {
    scope_ = make_scope(is_global_, scope_.log_part, rank_, ranks_, repetition);
    execution_->write_starts(scope_);
    const std::uint64_t key = mixed_bits(static_cast<std::uint64_t>(repetition));
    parallel_for(initial_.size(), threads_, kWorthAThread, [&](std::size_t start, std::size_t end) {
      for (std::size_t i = start; i < end; ++i) {
        initial_[i] = mixed_bits(key + (first_item_ + i) * kRandomStep);
        results_[i] = ~initial_[i];  // wrong everywhere, until it is read
      }
    });
    is_expected_ = false;
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.time("host_to_device", [&] { execution_->write(initial_.span()); });
    regions.time("update", [&] { execution_->run(); });
    regions.time("device_to_host", [&] { execution_->read(results_.span()); });
  }

  void inject(const runtime::Fault& fault) override {
    if (!fault.target.empty() && fault.target != "table") {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target), "use table");
    }
    const auto items = [](device::HostArray<std::uint64_t>& array) {
      return std::span<FaultyItem>(reinterpret_cast<FaultyItem*>(array.data()), array.size());
    };
    runtime::corrupt<FaultyItem>(items(results_), items(initial_), fault.kind,
                                 10 * std::numeric_limits<double>::epsilon());
    execution_->write(results_.span());
    execution_->read(results_.span());
  }

  std::vector<runtime::Verdict> validate() override {
    if (!is_expected_) {
      std::ranges::copy(initial_.span(), expected_.data());
      apply_updates(scope_, expected_.span(), threads_);
      is_expected_ = true;
    }
    return check(scope_, results_.span(), expected_.span(), execution_->plan().losses);
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const auto items = static_cast<double>(scope_.part_items());
    runtime::Metric updates{.name = "updates",
                            .axes = {{"operation", "update"}},
                            .region = "update",
                            .unit = "GUOP/s",
                            .scale = 1e-9};
    updates.work = 4 * items;
    updates.work_unit = "updates";
    const double bytes = items * sizeof(std::uint64_t);
    return {updates, runtime::bandwidth("host_to_device", bytes),
            runtime::bandwidth("device_to_host", bytes)};
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    const auto table_bytes = static_cast<double>(initial_.size() * sizeof(std::uint64_t));
    if (table_bytes < cache_bytes_) {
      notes.push_back(fmt::format("the table of {:.3g} MB fits into the last-level cache ({:.3g} MB)",
                                  table_bytes / 1e6, cache_bytes_ / 1e6));
    }
    if (execution_->plan().losses.are_possible()) {
      notes.push_back(
          "updates that meet at an item may be lost: the fewer, the larger log_size and the smaller " +
          std::string(execution_->plan().lost_with));
    }
    return notes;
  }

 private:
  static Scope scope(const runtime::Context& context) {
    const bool is_global = context.parameters().text("scope") == "global";
    const int ranks = context.ranks().size();
    if (is_global && !std::has_single_bit(static_cast<unsigned>(ranks))) {
      throw bad_use(fmt::format("scope = global cannot divide a power of two over {} ranks", ranks),
                    "start 1, 2, 4, 8, ... ranks or use --scope star");
    }
    return make_scope(is_global, static_cast<int>(context.parameters().integer("log_size")),
                      context.ranks().rank(), ranks);
  }

  bool is_global_;
  int rank_;
  int ranks_;
  int threads_;
  Scope scope_;  ///< of the repetition
  std::uint64_t first_item_;
  double cache_bytes_;
  std::unique_ptr<Execution> execution_;
  device::HostArray<std::uint64_t> initial_;
  device::HostArray<std::uint64_t> results_;
  device::HostArray<std::uint64_t> expected_;
  bool is_expected_ = false;  ///< expected_ is of this repetition
};

/// An entry of the table: the benchmark with this execution.
auto with(MakeExecution execution) {
  return [=](const runtime::Context& context) { return std::make_unique<RandomAccess>(context, execution); };
}

}  // namespace

}  // namespace fabricmark::random_access

int main(int argc, char** argv) {
  using namespace fabricmark::random_access;
  return fabricmark::runtime::run_program(
      argc, argv,
      {"random_access", {{"base", {}, with(make_base)}, {"throughput", {}, with(make_throughput)}}});
}
