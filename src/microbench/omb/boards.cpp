// Messages and operations over an emulated fabric, in modelled time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "collectives/elements.hpp"
#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/options_check.hpp"
#include "microbench/omb/measure.hpp"
#include "runtime/agreement.hpp"
#include "runtime/system_file.hpp"

namespace fabricmark::microbench::omb {

namespace {

Act act_of(const Program& program) {
  if (program.is_collective()) return Act::kCollective;
  if (program.windows == 0) return Act::kPingPong;
  return program.is_one_way ? Act::kOneWay : Act::kBothWays;
}

void check_program(const Program& program) {
  if (program.family == Family::kOverlap) {
    throw bad_use(fmt::format("fm_{} over an emulated fabric: no computation is modelled beside its calls",
                              program.name),
                  "use the program without i, or a transport of this machine");
  }
  if (program.has_all_pairs) {
    throw bad_use(fmt::format("fm_{} over an emulated fabric: messages of ranks 0 and 1 alone are modelled",
                              program.name),
                  "use fm_latency or fm_bw, or a transport of this machine");
  }
}

class Boards final : public Measurer {
 public:
  Boards(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks), options_(options), program_(*options.program) {
    check_program(program_);
  }

  Row measure(std::size_t bytes, collectives::Type type) override;
  [[nodiscard]] std::size_t largest() const override { return options_.largest; }
  [[nodiscard]] device::DeviceInfo device() const override { return device::Device::none().info(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  [[nodiscard]] microbench::Options options_of(std::size_t bytes, collectives::Type type) const;
  [[nodiscard]] std::size_t window() const {
    return program_.windows == 0 ? 1 : static_cast<std::size_t>(options_.window);
  }

  runtime::Communicator& ranks_;
  Options options_;
  const Program& program_;
  std::vector<std::string> notes_;
};

microbench::Options Boards::options_of(std::size_t bytes, collectives::Type type) const {
  microbench::Options wanted;
  wanted.name = program_.name;
  wanted.act = act_of(program_);
  wanted.operation = program_.operation;
  wanted.transport = options_.transport;
  wanted.medium = medium_of(options_.transport);
  wanted.ranks = ranks_.size();
  wanted.has_ranks = true;
  wanted.smallest = wanted.largest = bytes;
  wanted.type = type;
  wanted.root = options_.root;
  if (program_.windows > 0) wanted.window = options_.window;
  return with_board_options(wanted, options_.of_boards);
}

Row Boards::measure(std::size_t bytes, collectives::Type type) {
  const std::size_t width = collectives::bytes_of(type);
  std::size_t own = std::max(bytes, width);
  if (program_.operation == collectives::Operation::kReduceScatter && program_.is_collective()) {
    own /= static_cast<std::size_t>(ranks_.size());
  }
  microbench::Options options = options_of(own, type);
  options.has_fault = options_.has_fault && bytes * 2 > options_.largest;
  runtime::collective_step(ranks_, [&] {
    if (!options.system.empty()) {
      runtime::check_devices_with(options.system, options.transport, ranks_.size());
    }
  });
  const auto measurer = make_measurer(ranks_, options);
  const microbench::Row made = measurer->measure(program_.has_sizes() ? own : 0);
  notes_ = measurer->notes();
  Row row{.bytes = program_.has_sizes() ? bytes : 0, .type = type, .algorithm = made.algorithm};
  row.window = window() * static_cast<std::size_t>(std::max(program_.windows, 1));
  for (const double seconds : made.modelled_seconds) {
    row.seconds.push_back({seconds / program_.parts});
    row.emulation_seconds.push_back(made.wall_seconds[row.emulation_seconds.size()].front());
  }
  if (!program_.is_collective()) {
    // Of a message that goes one way its receiver knows the end, of others rank 0.
    const double whole = program_.is_one_way ? row.seconds[1].front() : row.seconds[0].front();
    for (auto& one : row.seconds) one.clear();
    row.seconds[0] = {whole};
  }
  row.found = made.found;
  row.sampled = {.checked = 1, .of = 1};
  return row;
}

}  // namespace

std::unique_ptr<Measurer> measure_boards(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<Boards>(ranks, options);
}

}  // namespace fabricmark::microbench::omb
