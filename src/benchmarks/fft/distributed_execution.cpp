// One vector over all ranks. As a matrix of rows x columns points, its rows are divided over the ranks; three
// exchanges of all with all transpose it: to columns, to rows of the transformed columns, and to natural
// order.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "base/error.hpp"
#include "benchmarks/fft/batch.hpp"
#include "benchmarks/fft/tables.hpp"
#include "board/board_transport.hpp"

namespace fabricmark::fft {

namespace {

enum Entry : std::size_t { kSwapAxes = 2, kColumnsStep = 3, kRowsStep = 4 };

/// The part of the matrix that a rank has in each step.
struct Local {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

Local local_part(const runtime::Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks().size());
  const Steps size = steps(context.parameters().count("log_size"));
  return {size.rows / ranks, size.columns / ranks};
}

class DistributedExecution : public Execution {
 public:
  DistributedExecution(const runtime::Context& context, std::size_t complex_bytes)
      : ranks_(context.ranks()),
        size_(steps(context.parameters().count("log_size"))),
        local_(local_part(context)),
        bytes_(local_points(context) * complex_bytes),
        items_(cpu_items(context)),
        outgoing_(context.device(), bytes_, context.memory_kind()),
        incoming_(context.device(), bytes_, context.memory_kind()),
        transport_(board::make_transport(
            context,
            {.space = outgoing_.space(), .largest_bytes = bytes_ / static_cast<std::size_t>(ranks_.size())})),
        swap_axes_(context.replications(1, kSwapAxes)),
        columns_step_(context.replications(1, kColumnsStep)),
        rows_step_(context.replications(1, kRowsStep)),
        input_(planned(context, "source")),
        output_(planned(context, "target")),
        scratch_(planned(context, "scratch")),
        twiddles_(of_type(complex_bytes,
                          [&](auto zero) {
                            return filled_buffer(context, kColumnsStep, "twiddles",
                                                 twiddles<decltype(zero)>(size_.rows));
                          })),
        between_(of_type(complex_bytes, [&](auto zero) {
          const std::size_t first = static_cast<std::size_t>(ranks_.rank()) * local_.columns;
          const int threads = runtime::host_threads(context.ranks());
          return filled_buffer(context, kColumnsStep, "between_all",
                               between_steps<decltype(zero)>(size_, first, local_.columns, threads));
        })) {}

  void write_input(const void* points) override {
    swap_axes_.transfer([&](int i) { input_.write(swap_axes_.queue(i), points, bytes_); });
  }
  void write_output(const void* points) override {
    swap_axes_.transfer([&](int i) { output_.write(swap_axes_.queue(i), points, bytes_); });
  }
  void read_output(void* points) override {
    swap_axes_.transfer([&](int i) { output_.read(swap_axes_.queue(i), points, bytes_); });
  }

  void poison() override {
    swap_axes_.transfer([&](int i) {
      for (device::Buffer* buffer : {&output_, &scratch_, &outgoing_.device(), &incoming_.device()}) {
        buffer->poison(swap_axes_.queue(i));
      }
    });
  }

  void run(Direction direction) override {
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    const std::uint32_t inverse = is_inverse(direction);
    swap(direction, input_, outgoing_.device(), {local_.rows, ranks, local_.columns});
    exchange();
    columns_step_.set(0, {{"between_all", between_}, {"columns", local_.columns}, {"ranks", ranks}});
    start(columns_step_, direction, inverse);
    exchange();
    rows_step_.set(0, {{"rows", local_.rows}});
    start(rows_step_, direction, inverse);
    exchange();
    order(direction);
  }

  // Twice such an exchange gives what was before it: there and, untimed, back.
  void time_exchange(runtime::TimedRegions& regions) override {
    poison_one(outgoing_.device());
    regions.time("exchange", [&] { exchange(incoming_, outgoing_); });
    poison_one(incoming_.device());
    poison_one(output_);
    exchange(outgoing_, incoming_);
    order(Direction::kInverse);
  }

 private:
  /// Of an array of outer x inner runs of `points`, of which the first two are swapped.
  struct Axes {
    std::size_t outer = 1;
    std::size_t inner = 1;
    std::size_t points = 1;
  };

  void exchange(transport::Memory& from, transport::Memory& to) {
    transport_->all_to_all({&from, 0, bytes_}, {&to, 0, bytes_}).wait();
  }
  void exchange() { exchange(outgoing_, incoming_); }
  /// What the third exchange has brought, into natural order.
  void order(Direction direction) {
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    swap(direction, incoming_.device(), output_, {ranks, local_.columns, local_.rows});
  }
  void poison_one(device::Buffer& buffer) {
    swap_axes_.transfer([&](int i) { buffer.poison(swap_axes_.queue(i)); });
  }
  /// From what has arrived to what will be sent.
  void start(device::Replications& step, Direction direction, std::uint32_t inverse) {
    step.set(0, {{"source", incoming_.device()},
                 {"target", outgoing_.device()},
                 {"twiddles", twiddles_},
                 {"scratch", scratch_},
                 {"inverse", inverse}});
    step.run(name(direction), {{items_, 1}});
  }
  void swap(Direction direction, const device::Buffer& from, const device::Buffer& to, const Axes& axes) {
    swap_axes_.set(0, {{"source", from},
                       {"target", to},
                       {"outer", axes.outer},
                       {"inner", axes.inner},
                       {"points", axes.points}});
    swap_axes_.run(name(direction), {{items_, 1}});
  }

  static device::Buffer planned(const runtime::Context& context, const char* argument) {
    return std::move(context.buffers(kColumnsStep, argument).front());
  }

  runtime::Communicator& ranks_;
  Steps size_;
  Local local_;
  std::size_t bytes_;
  std::size_t items_;
  transport::Memory outgoing_, incoming_;
  std::unique_ptr<transport::Transport> transport_;
  device::Replications swap_axes_, columns_step_, rows_step_;
  device::Buffer input_, output_, scratch_, twiddles_, between_;
};

}  // namespace

std::size_t local_points(const runtime::Context& context) {
  const std::size_t points = std::size_t{1} << context.parameters().count("log_size");
  if (context.parameters().text("scope") == "batched") return points * context.parameters().count("batch");
  return points / static_cast<std::size_t>(context.ranks().size());
}

Error not_distributed() {
  return bad_use("one vector over all ranks is transformed by the four-step throughput kernel on a CPU only",
                 "use --variant throughput on a CPU, or --scope batched");
}

std::unique_ptr<Execution> make_distributed(const runtime::Context& context, const PointType& type) {
  context.require_memory({.host_bytes = type.host_bytes(context, 1)}, "log_size");
  const bool is_cpu = context.device().info().device_class == device::DeviceClass::kCpu;
  if (!is_cpu || !is_four_step(context)) throw not_distributed();
  const auto ranks = static_cast<unsigned>(context.ranks().size());
  if (!std::has_single_bit(ranks)) {
    throw bad_use(fmt::format("a vector of 2^n points cannot be divided over {} ranks", ranks),
                  "use a power of two of them, such as 1, 2, 4 or 8");
  }
  const std::size_t lanes = context.parameters().count("vector_bytes") / (type.bytes / 2);
  const Local local = local_part(context);
  const std::size_t log_size = context.parameters().count("log_size");
  const std::size_t least = std::min(lanes, std::max<std::size_t>(steps(log_size).columns, 2));
  if (log_size < 4 || local.columns < least) {
    throw bad_use(fmt::format("2^{} points are too few for {} rank{}, each with {} columns side by side",
                              log_size, ranks, ranks == 1 ? "" : "s", least),
                  "use a larger --log-size or a smaller --vector-bytes");
  }
  return std::make_unique<DistributedExecution>(context, type.bytes);
}

}  // namespace fabricmark::fft
