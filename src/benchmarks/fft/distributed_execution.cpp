// One vector over all ranks, and the steps that CPUs make of it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "benchmarks/fft/distributed.hpp"

namespace fabricmark::fft {

Distributed::Local Distributed::local_part(const runtime::Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks().size());
  const Steps size = steps(context.parameters().count("log_size"));
  return {size.rows / ranks, size.columns / ranks};
}

Distributed::Distributed(const runtime::Context& context, std::size_t complex_bytes, std::size_t entry,
                         std::size_t first)
    : ranks_(context.ranks()),
      size_(steps(context.parameters().count("log_size"))),
      local_(local_part(context)),
      bytes_(local_points(context) * complex_bytes),
      outgoing_(context.device(), bytes_, context.memory_kind()),
      incoming_(context.device(), bytes_, context.memory_kind()),
      transport_(board::make_transport(
          context,
          {.space = outgoing_.space(), .largest_bytes = bytes_ / static_cast<std::size_t>(ranks_.size())})),
      first_kernel_(context.replications(1, first)),
      input_(std::move(context.buffers(entry, "source").front())),
      output_(std::move(context.buffers(entry, "target").front())) {}

void Distributed::write_input(const void* points) {
  first_kernel_.transfer([&](int i) { input_.write(first_kernel_.queue(i), points, bytes_); });
}
void Distributed::write_output(const void* points) {
  first_kernel_.transfer([&](int i) { output_.write(first_kernel_.queue(i), points, bytes_); });
}
void Distributed::read_output(void* points) {
  first_kernel_.transfer([&](int i) { output_.read(first_kernel_.queue(i), points, bytes_); });
}

void Distributed::poison() {
  for (device::Buffer* buffer : {&output_, scratch(), &outgoing(), &incoming()}) {
    if (buffer != nullptr) poison_one(*buffer);
  }
}
void Distributed::poison_one(device::Buffer& buffer) {
  first_kernel_.transfer([&](int i) { buffer.poison(first_kernel_.queue(i)); });
}

void Distributed::run(Direction direction) {
  spread(direction);
  exchange(outgoing_, incoming_);
  transform_columns(direction);
  exchange(outgoing_, incoming_);
  transform_rows(direction);
  exchange(outgoing_, incoming_);
  order(direction);
}

void Distributed::time_exchange(runtime::TimedRegions& regions) {
  poison_one(outgoing());
  regions.time("exchange", [&] { exchange(incoming_, outgoing_); });
  poison_one(incoming());
  poison_one(output_);
  exchange(outgoing_, incoming_);
  order(Direction::kInverse);
}

namespace {

enum Entry : std::size_t { kSwapAxes = 2, kColumnsStep = 3, kRowsStep = 4 };

class CpuDistributed : public Distributed {
 public:
  CpuDistributed(const runtime::Context& context, std::size_t complex_bytes)
      : Distributed(context, complex_bytes, kColumnsStep, kSwapAxes),
        items_(cpu_items(context)),
        columns_step_(context.replications(1, kColumnsStep)),
        rows_step_(context.replications(1, kRowsStep)),
        scratch_(std::move(context.buffers(kColumnsStep, "scratch").front())),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return filled_buffer(context, kColumnsStep, "twiddles",
                                                 twiddles<decltype(zero)>(size().rows));
                          })),
        between_(of_type(complex_bytes, [&](auto zero) {
          const std::size_t first = static_cast<std::size_t>(ranks().rank()) * local().columns;
          const int threads = runtime::host_threads(context.ranks());
          return filled_buffer(context, kColumnsStep, "between_all",
                               between_steps<decltype(zero)>(size(), first, local().columns, threads));
        })) {}

 private:
  /// Of an array of outer x inner runs of `points`, of which the first two are swapped.
  struct Axes {
    std::size_t outer = 1;
    std::size_t inner = 1;
    std::size_t points = 1;
  };

  void spread(Direction direction) override {
    swap(direction, input(), outgoing(), {local().rows, ranks_count(), local().columns});
  }
  void transform_columns(Direction direction) override {
    columns_step_.set(0, {{"between_all", between_}, {"columns", local().columns}, {"ranks", ranks_count()}});
    start(columns_step_, direction);
  }
  void transform_rows(Direction direction) override {
    rows_step_.set(0, {{"rows", local().rows}});
    start(rows_step_, direction);
  }
  void order(Direction direction) override {
    swap(direction, incoming(), output(), {ranks_count(), local().columns, local().rows});
  }
  device::Buffer* scratch() override { return &scratch_; }

  /// From what has arrived to what will be sent.
  void start(device::Replications& step, Direction direction) {
    step.set(0, {{"source", incoming()},
                 {"target", outgoing()},
                 {"twiddles", twiddles_},
                 {"scratch", scratch_},
                 {"inverse", is_inverse(direction)}});
    step.run(name(direction), {{items_, 1}});
  }
  void swap(Direction direction, const device::Buffer& from, const device::Buffer& to, const Axes& axes) {
    first_kernel().set(0, {{"source", from},
                           {"target", to},
                           {"outer", axes.outer},
                           {"inner", axes.inner},
                           {"points", axes.points}});
    first_kernel().run(name(direction), {{items_, 1}});
  }

  std::size_t items_;
  device::Replications columns_step_, rows_step_;
  device::Buffer scratch_, twiddles_, between_;
};

/// Throws Error (bad use) where a rank would have too little; `least`: columns side by side.
void check_part(const runtime::Context& context, std::size_t least) {
  const auto ranks = static_cast<unsigned>(context.ranks().size());
  if (!std::has_single_bit(ranks)) {
    throw bad_use(fmt::format("a vector of 2^n points cannot be divided over {} ranks", ranks),
                  "use a power of two of them, such as 1, 2, 4 or 8");
  }
  const std::size_t log_size = context.parameters().count("log_size");
  if (log_size < 4 || steps(log_size).columns / ranks < least) {
    throw bad_use(fmt::format("2^{} points are too few for {} rank{}, each with {} columns side by side",
                              log_size, ranks, ranks == 1 ? "" : "s", least),
                  "use a larger --log-size or a smaller --vector-bytes");
  }
}

}  // namespace

std::size_t local_points(const runtime::Context& context) {
  const std::size_t points = std::size_t{1} << context.parameters().count("log_size");
  if (context.parameters().text("scope") == "batched") return points * context.parameters().count("batch");
  return points / static_cast<std::size_t>(context.ranks().size());
}

Error not_distributed() {
  return bad_use("one vector over all ranks is transformed by the throughput kernels only",
                 "use --variant throughput, or --scope batched");
}

std::unique_ptr<Execution> make_distributed(const runtime::Context& context, const PointType& type) {
  context.require_memory({.host_bytes = type.host_bytes(context, 1)}, "log_size");
  if (!is_four_step(context)) {
    check_part(context, 1);
    return make_distributed_stages(context, type);
  }
  const std::size_t lanes = context.parameters().count("vector_bytes") / (type.bytes / 2);
  const std::size_t columns = steps(context.parameters().count("log_size")).columns;
  check_part(context, std::min(lanes, std::max<std::size_t>(columns, 2)));
  return std::make_unique<CpuDistributed>(context, type.bytes);
}

}  // namespace fabricmark::fft
