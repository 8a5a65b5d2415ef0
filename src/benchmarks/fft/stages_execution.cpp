// The throughput kernels of a GPU, on a batch.
#include <algorithm>
#include <bit>

#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"

namespace fabricmark::fft {

namespace {

// The entry point.
constexpr std::size_t kPass = 1;

/// The twiddles of transforms of `points`, on the device. Made and copied in parts: whole, they would take as
/// much memory of the host as a transform. A quarter of a turn exchanges sine and cosine, so that three of
/// four parts are copies.
template <typename T>
device::Buffer twiddle_buffer(const runtime::Context& context, std::size_t points) {
  constexpr std::size_t kPart = std::size_t{1} << 22;  // points
  const device::Queue queue = context.device().queue();
  device::Buffer buffer = std::move(context.buffers(kPass, "twiddles").front());
  const int threads = runtime::host_threads(context.ranks());
  const std::size_t quarter = points / 4;
  device::HostArray<T> part = context.host_array<T>(2 * std::min(quarter, kPart));
  const std::size_t count = part.size() / 2;  // points; a power of two, as their number
  for (std::size_t first = 0; first < quarter; first += count) {
    fill_twiddles(part.span(), first, points, threads);
    for (std::size_t place = first; place < points; place += quarter) {
      if (place > first) turn_twiddles(part.span(), threads);
      buffer.write(queue, part.data(), part.size() * sizeof(T), 2 * place * sizeof(T));
      queue.finish();
    }
  }
  return buffer;
}

/// One start of the kernel for each stage, to and fro between the output and scratch memory.
class StagesExecution : public Batch {
 public:
  StagesExecution(const runtime::Context& context, std::size_t complex_bytes)
      : Batch(context, complex_bytes, kPass),
        group_(std::bit_floor(context.fitting_group(kGroup, kPass))),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return twiddle_buffer<decltype(zero)>(context, std::size_t{1} << log_size());
                          })),
        scratch_(context.buffers(std::nullopt, "other")) {
    for (std::size_t left = log_size(); left > 0; left -= log_radices_.back()) {
      log_radices_.push_back(std::min<std::size_t>(left, 3));
    }
  }

 private:
  void start(Direction direction) override {
    std::size_t log_done = 0;
    const std::size_t stages = log_radices_.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
      std::vector<device::Geometry> geometries;
      for (std::size_t i = 0; i < parts().size(); ++i) {
        // The last stage writes to the output.
        const bool to_output = (stages - stage) % 2 == 1;
        const device::Buffer& other = to_output ? scratch_[i] : output(i);
        kernels().set(static_cast<int>(i), {{"in", stage == 0 ? input(i) : other},
                                            {"out", to_output ? output(i) : scratch_[i]},
                                            {"twiddles", twiddles_},
                                            {"log_radix", log_radices_[stage]},
                                            {"log_done", log_done},
                                            {"swap_in", stage == 0 ? is_inverse(direction) : 0},
                                            {"swap_out", stage + 1 == stages ? is_inverse(direction) : 0}});
        const std::size_t butterflies = parts()[i].count << (log_size() - log_radices_[stage]);
        // A power of two that divides their number.
        geometries.push_back({butterflies, std::min<std::size_t>(butterflies & (~butterflies + 1), group_)});
      }
      kernels().run(name(direction), geometries);
      log_done += log_radices_[stage];
    }
  }
  device::Buffer* scratch(std::size_t part) override { return &scratch_[part]; }

  static constexpr std::size_t kGroup = 64;  // work-items of a work-group, where the kernel takes so many
  std::size_t group_;
  device::Buffer twiddles_;
  std::vector<device::Buffer> scratch_;  // [part]
  std::vector<std::size_t> log_radices_;
};

}  // namespace

std::unique_ptr<Execution> make_stages(const runtime::Context& context, const PointType& type) {
  require_batch(context, type);
  return std::make_unique<StagesExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
