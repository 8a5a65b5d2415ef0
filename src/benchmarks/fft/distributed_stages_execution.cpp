// One vector over all ranks by the kernels of GPUs.
#include <algorithm>
#include <utility>

#include "benchmarks/fft/distributed.hpp"

namespace fabricmark::fft {

namespace {

enum StagesEntry : std::size_t { kAxisPass = 6, kSmallerAxisPass = 7, kMoveRuns = 8, kTranspose = 9 };

/// Passes along an axis leave the other one as the slower (kernels/fft/throughput_gpu.h): columns come to lie
/// one behind the other, and rows too, which are transposed before they are sent.
class DistributedStages : public Distributed {
 public:
  DistributedStages(const runtime::Context& context, std::size_t complex_bytes)
      : Distributed(context, complex_bytes, kAxisPass, kMoveRuns),
        tile_points_(context.parameters().count("tile_points")),
        log_points_(log2(local_points(context))),
        passes_(passes_of(log2(size().rows), log2(context.parameters().count("radix_points")))),
        log_larger_(log_radices_of(log2(size().rows), passes_).back()),
        axis_pass_(context.replications(1, kAxisPass)),
        smaller_axis_pass_(context.replications(1, kSmallerAxisPass)),
        transpose_(context.replications(1, kTranspose)),
        twiddles_(of_type(complex_bytes, [&](auto zero) {
          const std::size_t smaller = log_radices_of(log2(size().columns), passes_).front();
          return filled_buffer(context, kAxisPass, "twiddles",
                               twiddles_of_steps<decltype(zero)>({smaller, log_larger_}));
        })) {}

 private:
  /// Of 2^log_outer x 2^log_inner runs, of which the first two axes are swapped.
  struct Runs {
    std::size_t log_outer = 0;
    std::size_t log_inner = 0;
    std::size_t log_run = 0;
  };

  void spread(Direction direction) override {
    move(direction, input(), outgoing(), {log2(local().rows), log2(ranks_count()), log2(local().columns)},
         {.swaps = is_inverse(direction)});
  }
  void transform_columns(Direction direction) override {
    const device::Buffer& found = transform(direction, log2(size().rows));
    move(direction, found, outgoing(), {log2(local().columns), log2(ranks_count()), log2(local().rows)},
         {.first = static_cast<std::size_t>(ranks().rank()) * local().columns, .turns = 1});
  }
  void transform_rows(Direction direction) override {
    transpose_.set(0, {{"source", transform(direction, log2(size().columns))},
                       {"target", outgoing()},
                       {"rows", local().rows},
                       {"columns", size().columns}});
    const std::size_t log_side = (log2(tile_points_) - 1) / 2;
    const auto squares = [&](std::size_t points) {
      return (points + (std::size_t{1} << log_side) - 1) >> log_side;
    };
    const std::size_t items = tile_points_ / kHeld;
    transpose_.run(name(direction), {{squares(local().rows) * squares(size().columns) * items, items}});
  }
  void order(Direction direction) override {
    move(direction, incoming(), output(), {log2(ranks_count()), log2(local().columns), log2(local().rows)},
         {.swaps = is_inverse(direction)});
  }

  /// What has arrived, along its slower axis, to and fro between that memory and the output's; returns where
  /// it is.
  const device::Buffer& transform(Direction direction, std::size_t log_axis) {
    device::Buffer* from = &incoming();
    device::Buffer* to = &output();
    const std::size_t tiles = ((std::size_t{1} << log_points_) + tile_points_ - 1) / tile_points_;
    std::size_t log_done = 0;
    for (const std::size_t log_radix : log_radices_of(log_axis, passes_)) {
      device::Replications& kernel = log_radix == log_larger_ ? axis_pass_ : smaller_axis_pass_;
      kernel.set(0, {{"source", *from},
                     {"target", *to},
                     {"twiddles", twiddles_},
                     {"log_points", log_points_},
                     {"log_done", log_done}});
      kernel.run(name(direction), {{tiles * tile_points_ / kHeld, tile_points_ / kHeld}});
      std::swap(from, to);
      log_done += log_radix;
    }
    return *from;
  }

  struct Change {
    std::size_t first = 0;
    std::size_t turns = 0;
    std::size_t swaps = 0;
  };
  void move(Direction direction, const device::Buffer& from, const device::Buffer& to, const Runs& runs,
            const Change& change) {
    first_kernel().set(0, {{"source", from},
                           {"target", to},
                           {"log_outer", runs.log_outer},
                           {"log_inner", runs.log_inner},
                           {"log_run", runs.log_run},
                           {"first", change.first},
                           {"turns", change.turns},
                           {"swaps", change.swaps}});
    const std::size_t items = tile_points_ / kHeld;
    first_kernel().run(name(direction), {{std::max(std::size_t{1} << log_points_, items), items}});
  }

  static constexpr std::size_t kHeld = 16;  // points of a work-item
  std::size_t tile_points_;
  std::size_t log_points_;  // of a rank
  std::size_t passes_;      // of an axis
  std::size_t log_larger_;
  device::Replications axis_pass_, smaller_axis_pass_, transpose_;
  device::Buffer twiddles_;
};

}  // namespace

std::unique_ptr<Execution> make_distributed_stages(const runtime::Context& context, const PointType& type) {
  return std::make_unique<DistributedStages>(context, type.bytes);
}

}  // namespace fabricmark::fft
