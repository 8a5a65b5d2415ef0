// The throughput kernels of a GPU, on a batch.

#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

// Entry points: a pass of the larger radix, and of half of it.
constexpr std::size_t kPass = 1;
constexpr std::size_t kSmallerPass = 5;

/// One start of the kernel for each pass, to and fro between the output and scratch memory.
class StagesExecution : public Batch {
 public:
  StagesExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, kPass),
        tile_points_(context.parameters().count("tile_points")),
        log_radices_(log_radices_of(log_size(),
                                    passes_of(log_size(), log2(context.parameters().count("radix_points"))))),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return filled_buffer(context, kPass, "twiddles",
                                                 twiddles_of_steps<decltype(zero)>(log_radices_));
                          })),
        scratch_(context.buffers(std::nullopt, "other")),
        smaller_(context.replications(static_cast<int>(parts().size()), kSmallerPass)) {}

 private:
  void start(Direction direction) override {
    std::size_t log_done = 0;
    const std::size_t passes = log_radices_.size();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::vector<device::Geometry> geometries;
      device::Replications& chosen = log_radices_[pass] == log_radices_.back() ? kernels() : smaller_;
      for (std::size_t i = 0; i < parts().size(); ++i) {
        // The last pass writes to the output.
        const bool to_output = (passes - pass) % 2 == 1;
        const device::Buffer& other = to_output ? scratch_[i] : output(i);
        chosen.set(static_cast<int>(i), {{"source", pass == 0 ? input(i) : other},
                                         {"target", to_output ? output(i) : scratch_[i]},
                                         {"twiddles", twiddles_},
                                         {"batch", parts()[i].count},
                                         {"log_done", log_done},
                                         {"swap_in", pass == 0 ? is_inverse(direction) : 0},
                                         {"swap_out", pass + 1 == passes ? is_inverse(direction) : 0}});
        const std::size_t points = parts()[i].count << log_size();
        const std::size_t tiles = (points + tile_points_ - 1) / tile_points_;
        geometries.push_back({tiles * tile_points_ / kHeld, tile_points_ / kHeld});
      }
      chosen.run(name(direction), geometries);
      log_done += log_radices_[pass];
    }
  }
  device::Buffer* scratch(std::size_t part) override { return &scratch_[part]; }

  static constexpr std::size_t kHeld = 16;  // points of a work-item
  std::size_t tile_points_;
  std::vector<std::size_t> log_radices_;  // smaller ones first
  device::Buffer twiddles_;
  std::vector<device::Buffer> scratch_;  // [part]
  device::Replications smaller_;
};

}  // namespace

std::unique_ptr<Execution> make_stages(const runtime::Context& context, const PointType& type) {
  require_batch(context, type);
  return std::make_unique<StagesExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
