// Rows of cells: on a CPU several steps of them a launch, in bands that are work-items; on a GPU a cell each.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "stencil/device_states.hpp"
#include "stencil/halo.hpp"

namespace fabricmark::stencil {

namespace {

enum Entry : std::size_t { kWrap = 1 };
/// Ghost columns at each side, and what columns are rounded up to (kernels/common/stencil/throughput.h).
constexpr std::size_t kSide = 64;
/// More of a row, so that numbers of one column lie in different lines of a cache.
constexpr std::size_t kUneven = 32;
/// A kind's bit beside it where the cell or one around it is special.
constexpr std::uint8_t kSpecial = 128;

std::size_t rounded_up(std::size_t number, std::size_t to) { return (number + to - 1) / to * to; }

/// Where the numbers of a part lie: rows with their ghosts, in each the fields one after the other.
struct Layout {
  std::size_t ghosts = 0;  ///< rows at each end, and one that nobody uses
  std::size_t pitch = 0;
  std::size_t rows = 0;  ///< with ghosts
  std::size_t fields = 0;

  [[nodiscard]] std::size_t numbers() const { return pitch * rows * fields; }
  [[nodiscard]] std::size_t at(std::size_t field, std::size_t row, std::size_t column) const {
    return ((row + ghosts) * fields + field) * pitch + kSide + column;
  }
};

template <typename T>
class ThroughputExecution final : public Execution {
 public:
  ThroughputExecution(const runtime::Context& context, const Problem& problem, const Part& part)
      : context_(context),
        problem_(problem),
        part_(part),
        is_cpu_(context.device().info().device_class == device::DeviceClass::kCpu),
        most_steps_(context.parameters().count("steps_in_cache")),
        layout_{.ghosts = most_steps_ + 1,
                .pitch = rounded_up(part.columns, kSide) + 2 * kSide + kUneven,
                .rows = part.rows + 2 * (most_steps_ + 1),
                .fields = part.fields},
        states_(context),
        kinds_(of_advance(context, "kinds")),
        constants_(of_advance(context, "constants")),
        scratch_(of_advance(context, "scratch")),
        halo_(context, problem, part, most_steps_, layout_.pitch, sizeof(T)),
        wrap_(context.replications(1, kWrap)),
        host_(context.host_array<T>(layout_.numbers())) {
    require_steps();
    write_kinds();
    const std::vector<T> constants(problem.constants.begin(), problem.constants.end());
    constants_.write(states_.queue(), constants.data(), constants.size() * sizeof(T));
    states_.queue().finish();
    bands_ = std::min(context.parameters().count("bands"), part.rows);
    states_.set({{"kinds", kinds_},
                 {"constants", constants_},
                 {"scratch", scratch_},
                 {"columns", part.columns},
                 {"rows", part.rows},
                 {"pitch", layout_.pitch},
                 {"ghost_rows", layout_.ghosts},
                 {"band_rows", (part.rows + bands_ - 1) / bands_},
                 {"tile_columns", tile_columns()}});
    wrap_.set(0, {{"columns", part.columns},
                  {"rows", part.rows},
                  {"pitch", layout_.pitch},
                  {"ghost_rows", layout_.ghosts},
                  {"across", problem.is_periodic_across ? std::uint64_t{1} : 0},
                  {"along", wraps_rows() ? std::uint64_t{1} : 0}});
  }

  void write(const std::vector<double>& state, std::uint32_t offset) override {
    std::fill_n(host_.data(), host_.size(), T{0});
    for_all([&](std::size_t here, std::size_t there) {
      std::copy_n(&state[here], part_.columns, host_.data() + there);
    });
    states_.now().write(states_.queue(), host_.data(), host_.size() * sizeof(T));
    states_.begin(offset);
  }
  void read(std::vector<double>& state) override {
    states_.now().read(states_.queue(), host_.data(), host_.size() * sizeof(T));
    states_.queue().finish();
    state.resize(part_.numbers());
    for_all([&](std::size_t here, std::size_t there) {
      std::copy_n(host_.data() + there, part_.columns, &state[here]);
    });
  }

  void advance(std::int64_t first, std::int64_t count) override {
    states_.set_state(first);
    for (std::int64_t step = first; step < first + count;) {
      const std::int64_t steps = std::min<std::int64_t>(first + count - step, most_steps_);
      refresh_ghosts();
      device::Replications& kernel = states_.kernel();
      kernel.set(0, {{"steps", static_cast<std::uint64_t>(steps)}, {"begin_state", states_.told(step)}});
      launch(kernel, "advance", geometry());
      states_.launched(step, step + steps);
      step += steps;
    }
    states_.queue().finish();
  }

  std::optional<std::int64_t> trouble() override { return states_.trouble(); }
  [[nodiscard]] std::int64_t state() const override { return states_.state(); }
  common::HaloSums halo_sums() override { return halo_.sums(states_.queue()); }

 private:
  void require_steps() const {
    if (!is_cpu_ && most_steps_ > 1) {
      throw bad_use(fmt::format("--steps-in-cache {} on a device that is no CPU", most_steps_),
                    "leave it out: there a launch makes one step");
    }
    const std::int64_t fewest = context_.ranks().all_reduce_min(static_cast<std::int64_t>(part_.rows));
    if (std::cmp_less(fewest, most_steps_) && context_.ranks().size() > 1) {
      throw bad_use(
          fmt::format("a rank has {} rows, and a launch of {} steps needs as many of its neighbours", fewest,
                      most_steps_),
          "use fewer ranks, more --rows or fewer --steps-in-cache");
    }
  }

  /// Of a single step nothing is used again from the cache: whole rows are the longest streams from memory.
  [[nodiscard]] std::size_t tile_columns() const {
    return most_steps_ > 1 ? context_.parameters().count("tile_columns") : rounded_up(part_.columns, kSide);
  }

  /// Calls `body` with the places of each field of each row, here and on the device.
  template <typename Body>
  void for_all(const Body& body) const {
    constexpr std::size_t kRowsOfThread = 64;
    parallel_for(part_.rows, runtime::host_threads(context_.ranks()), kRowsOfThread,
                 [&](std::size_t first, std::size_t end) {
                   for (std::size_t row = first; row < end; ++row) {
                     for (std::size_t field = 0; field < part_.fields; ++field) {
                       body(part_.at(field, row, 0), layout_.at(field, row, 0));
                     }
                   }
                 });
  }

  void write_kinds() {
    const auto kind = [&](std::size_t row, std::size_t column) {
      return kind_at(
          problem_, static_cast<std::int64_t>(column) - static_cast<std::int64_t>(kSide),
          static_cast<std::int64_t>(part_.first_row + row) - static_cast<std::int64_t>(layout_.ghosts));
    };
    std::vector<std::uint8_t> kinds(layout_.pitch * layout_.rows);
    for (std::size_t row = 0; row < layout_.rows; ++row) {
      for (std::size_t column = 0; column < layout_.pitch; ++column)
        kinds[row * layout_.pitch + column] = kind(row, column);
    }
    mark_special(kinds);
    kinds_.write(states_.queue(), kinds.data(), kinds.size());
    states_.queue().finish();
  }
  void mark_special(std::vector<std::uint8_t>& kinds) const {
    const std::size_t pitch = layout_.pitch;
    std::vector<std::uint8_t> marked = kinds;
    for (std::size_t row = 0; row < layout_.rows; ++row) {
      for (std::size_t column = 0; column < pitch; ++column) {
        bool is_special = row == 0 || column == 0 || row + 1 == layout_.rows || column + 1 == pitch;
        for (std::size_t i = 0; i < 9 && !is_special; ++i) {
          is_special = kinds[(row + i / 3 - 1) * pitch + column + i % 3 - 1] != 0;
        }
        if (is_special) marked[row * pitch + column] |= kSpecial;
      }
    }
    kinds = std::move(marked);
  }

  [[nodiscard]] device::Geometry geometry() const {
    if (is_cpu_) return {bands_, 1};
    const std::size_t group = context_.work_group_size(kAdvance);
    return {rounded_up(rounded_up(part_.columns, kSide) * part_.rows, group), group};
  }
  /// Rows that are periodic within a rank; of several ranks they come as messages.
  [[nodiscard]] bool wraps_rows() const { return problem_.is_periodic_along && context_.ranks().size() == 1; }
  void refresh_ghosts() {
    halo_.exchange(states_.queue(), states_.now());
    if (!problem_.is_periodic_across && !wraps_rows()) return;
    wrap_.set(0, {{"state", states_.now()}});
    launch(wrap_, "wrap", {layout_.pitch * layout_.rows, kUneven});
  }
  void launch(device::Replications& kernel, const char* name, const device::Geometry& geometry) {
    device::Timeline& timeline = context_.timeline();
    device::Event done;
    kernel.start_on(states_.queue(), 0, geometry, nullptr, timeline.enabled() ? &done : nullptr);
    if (timeline.enabled()) timeline.add("steps", name, 0, done);
  }

  const runtime::Context& context_;
  const Problem& problem_;
  Part part_;
  bool is_cpu_;
  std::size_t most_steps_;
  Layout layout_;
  DeviceStates states_;
  device::Buffer kinds_, constants_, scratch_;
  Halo halo_;
  device::Replications wrap_;
  device::HostArray<T> host_;
  std::size_t bands_ = 1;
};

}  // namespace

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Problem& problem,
                                           const Part& part) {
  if (context.parameters().text("data_type") == "double")
    return std::make_unique<ThroughputExecution<double>>(context, problem, part);
  return std::make_unique<ThroughputExecution<float>>(context, problem, part);
}

}  // namespace fabricmark::stencil
