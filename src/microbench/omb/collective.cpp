// An operation of all ranks, by the wall clock; also beside computation.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "microbench/omb/compute.hpp"
#include "microbench/omb/measure.hpp"

namespace fabricmark::microbench::omb {

namespace {

using collectives::Operation;
using collectives::Type;

constexpr std::chrono::milliseconds kLate{2};
constexpr std::size_t kMostRanksOfInt8 = 127;  // whose sums do not leave it

class Collective final : public Measurer {
 public:
  Collective(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        options_(options),
        program_(*options.program),
        carrier_(make_carrier(ranks, options)),
        sampling_(ranks),
        seed_(sampling_.below(kSeeds)) {
    largest_ = largest_of();
    if (program_.has_sizes() && largest_ < options.smallest) {
      throw bad_use(fmt::format("no memory for {} B of {} ranks", options.smallest, ranks.size()),
                    "choose a smaller -m or fewer ranks");
    }
    const Bytes bytes = memory_bytes(largest_);
    carrier_->allocate(bytes.sent, bytes.received);
  }

  Row measure(std::size_t bytes, Type type) override;
  [[nodiscard]] std::size_t largest() const override { return largest_; }
  [[nodiscard]] device::DeviceInfo device() const override { return carrier_->device(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return carrier_->notes(); }
  [[nodiscard]] runtime::Result::Kernel kernel() const override { return carrier_->kernel(); }

 private:
  struct Bytes {
    std::size_t sent = 0;
    std::size_t received = 0;
  };
  /// Parts of both memories for a size, one for each slot.
  struct Plan {
    Shape shape;
    std::size_t slots = 1;
    std::vector<std::size_t> sent{};
    std::vector<std::size_t> received{};
  };

  [[nodiscard]] Shape shape(std::size_t bytes, Type type) const;
  [[nodiscard]] std::size_t own(const Shape& shape) const {
    return collectives::own_count(shape.operation, ranks_.rank(), shape.root, ranks_.size(), shape.count);
  }
  [[nodiscard]] std::size_t result(const Shape& shape) const {
    return collectives::result_count(shape.operation, ranks_.rank(), shape.root, ranks_.size(), shape.count);
  }
  [[nodiscard]] Plan plan(std::size_t bytes, Type type) const;
  [[nodiscard]] Bytes memory_bytes(std::size_t largest) const;
  [[nodiscard]] std::size_t largest_of();

  [[nodiscard]] collectives::Inputs inputs(std::uint64_t seed) const {
    return inputs_of(seed, program_.reduces() ? ranks_.size() : 1);
  }
  [[nodiscard]] collectives::Call call_of(const Shape& shape) const {
    return {.operation = shape.operation, .root = shape.root, .count = shape.count};
  }
  /// The root of a broadcast has its result where it sends from, and nothing to be checked there.
  [[nodiscard]] bool has_result(const Shape& shape) const {
    const bool is_sender = shape.operation == Operation::kBroadcast && shape.root == ranks_.rank();
    return result(shape) > 0 && !is_sender;
  }
  void set_operands(const Shape& shape);
  void fill(const Plan& plan, std::size_t slot);
  void check(const Plan& plan, std::size_t slot, Found& found, bool is_last = false);
  void perform(std::size_t slot) {
    if (program_.family != Family::kOverlap) return carrier_->call(slot);
    carrier_->start(slot);
    carrier_->wait();
  }
  using Measured = std::function<void(std::size_t slot, bool counts)>;
  /// One with inputs of its own, whose result is checked.
  void checked(const Plan& plan, Found& found, const Measured& measured, bool counts = false,
               bool is_last = false);
  /// That no rank leaves a barrier before the last has come to it, where all see the same clock.
  void check_barrier(Found& found, const Measured& measured, bool counts);
  /// What has to be before each.
  void meet() {
    if (carrier_->is_touched()) carrier_->touch();
    ranks_.barrier();
  }
  /// Does `measured(slot, counts)` as often as the options say, with what has to be between two, and checks:
  /// all, or others between those that count.
  void repeat(const Plan& plan, const Iterations& iterations, Found& found, const Measured& measured);
  [[nodiscard]] Overlap overlapped(const Plan& plan, const Iterations& iterations, double pure, Found& found);

  runtime::Communicator& ranks_;
  Options options_;
  const Program& program_;
  std::unique_ptr<Carrier> carrier_;
  Sampling sampling_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> seeds_;  // [slot], of what lies there
  Operand own_;
  Operand result_;
  std::size_t rounds_ = 0;  // of this size
  Sampled sampled_;
  std::size_t largest_ = 0;
};

Shape Collective::shape(std::size_t bytes, Type type) const {
  Shape made{.operation = program_.operation,
             .type = type,
             .root = options_.root,
             .has_counts = program_.has_counts};
  made.count = bytes / collectives::bytes_of(type);
  // OMB's size is that of all parts.
  if (made.operation == Operation::kReduceScatter) made.count /= static_cast<std::size_t>(ranks_.size());
  if (made.operation == Operation::kBarrier) made.count = 0;
  return made;
}

Collective::Plan Collective::plan(std::size_t bytes, Type type) const {
  Plan made{.shape = shape(bytes, type)};
  const std::size_t width = collectives::bytes_of(type);
  const std::size_t sent = device::whole_pages(std::max<std::size_t>(own(made.shape) * width, 1));
  const std::size_t received = device::whole_pages(std::max<std::size_t>(result(made.shape) * width, 1));
  if (options_.has_many_buffers) {
    const auto window = static_cast<std::size_t>(options_.window);
    // All ranks need as many: by the largest operands of any.
    const std::size_t most =
        device::whole_pages(made.shape.count * width * static_cast<std::size_t>(ranks_.size()));
    made.slots = std::clamp<std::size_t>(kCheckedBytes / std::max<std::size_t>(most, 1), 2,
                                         std::max<std::size_t>(window, 2));
  }
  for (std::size_t slot = 0; slot < made.slots; ++slot) {
    made.sent.push_back(slot * sent);
    made.received.push_back(slot * received);
  }
  return made;
}

Collective::Bytes Collective::memory_bytes(std::size_t largest) const {
  Bytes most{device::kPageBytes, device::kPageBytes};
  for (std::size_t bytes = options_.smallest; bytes <= largest; bytes *= 2) {
    for (const Type type : options_.types) {
      const Plan one = plan(bytes, type);
      const std::size_t width = collectives::bytes_of(type);
      most.sent = std::max(most.sent, one.sent.back() + device::whole_pages(own(one.shape) * width));
      most.received =
          std::max(most.received, one.received.back() + device::whole_pages(result(one.shape) * width));
    }
  }
  return most;
}

std::size_t Collective::largest_of() {
  const auto room = static_cast<std::size_t>(ranks_.all_reduce_min(
      static_cast<std::int64_t>(std::min<std::size_t>(carrier_->room(), std::size_t{1} << 40U))));
  std::size_t found = 0;
  for (std::size_t bytes = options_.smallest; bytes <= options_.largest; bytes *= 2) {
    const Bytes needed = memory_bytes(bytes);
    const bool fits = std::max(needed.sent, needed.received) <= room;
    if (ranks_.all_reduce_min(fits ? 1 : 0) == 0) break;
    found = bytes;
  }
  return found;
}

void Collective::set_operands(const Shape& shape) {
  own_ = Operand(own(shape), shape.type,
                 [this](std::uint64_t seed, const collectives::View& elements, std::size_t first) {
                   collectives::fill_input(inputs(seed), ranks_.rank(), elements, first);
                 });
  result_ = Operand(has_result(shape) ? result(shape) : 0, shape.type,
                    [this, shape](std::uint64_t seed, const collectives::View& elements, std::size_t first) {
                      collectives::fill_expected(inputs(seed), call_of(shape), ranks_.rank(), ranks_.size(),
                                                 elements, first);
                    });
}

void Collective::fill(const Plan& plan, std::size_t slot) {
  const Shape& shape = plan.shape;
  const std::size_t width = collectives::bytes_of(shape.type);
  seeds_.resize(std::max(seeds_.size(), plan.slots));
  seeds_[slot] = seed_;
  own_.pieces(seed_, 0, own(shape), [&](Elements& piece, std::size_t first) {
    carrier_->write_sent(plan.sent[slot] + first * width, piece.bytes());
  });
  if (!has_result(shape)) return;
  result_.pieces(seed_, 0, result(shape), [&](Elements& piece, std::size_t first) {
    piece.invert();
    carrier_->write_received(plan.received[slot] + first * width, piece.bytes());
  });
}

void Collective::check(const Plan& plan, std::size_t slot, Found& found, bool is_last) {
  const Shape& shape = plan.shape;
  const int corrupted = is_last && options_.has_fault
                            ? static_cast<int>(ranks_.all_reduce_max(has_result(shape) ? ranks_.rank() : -1))
                            : -1;
  if (!has_result(shape)) return;
  const std::size_t count = result(shape);
  const std::size_t width = collectives::bytes_of(shape.type);
  const std::string what = fmt::format("the result of round {}", rounds_);
  const auto read = [&](std::size_t first, std::span<std::byte> bytes) {
    carrier_->read_received(plan.received[slot] + first * width, bytes);
    const bool is_end = first * width + bytes.size() == count * width;
    if (corrupted == ranks_.rank() && is_end) bytes.back() ^= std::byte{0x40};
  };
  result_.compare(seeds_[slot], 0, count, read, what, found);
}

void Collective::check_barrier(Found& found, const Measured& measured, bool counts) {
  const bool sees_all = ranks_.local_size() == ranks_.size();
  ranks_.barrier();
  // One comes late: another one each time.
  const bool is_late =
      sees_all && std::cmp_equal(sampling_.below(static_cast<std::size_t>(ranks_.size())), ranks_.rank());
  if (is_late) std::this_thread::sleep_for(kLate);
  const double entered = now();
  measured(0, counts);
  const double left = now();
  sampled_.add(sees_all ? 1 : 0);
  ++rounds_;
  if (!sees_all) return;
  const double last = ranks_.all_reduce_max_number(entered);
  ++found.checked;
  if (left >= last || found.wrong++ > 0) return;
  found.place = fmt::format("the end of barrier {}, in seconds after the last rank has come", rounds_);
  found.actual = left - last;
}

void Collective::checked(const Plan& plan, Found& found, const Measured& measured, bool counts,
                         bool is_last) {
  if (!program_.has_sizes()) return check_barrier(found, measured, counts);
  const std::size_t slot = sampling_.below(plan.slots);
  ++seed_;
  fill(plan, slot);
  carrier_->touch();
  ranks_.barrier();
  measured(slot, counts);
  ++rounds_;
  check(plan, slot, found, is_last);
  ranks_.barrier();
  sampled_.add(1);
}

void Collective::repeat(const Plan& plan, const Iterations& iterations, Found& found,
                        const Measured& measured) {
  if (options_.checks_all) {
    for (std::size_t i = 0; i < iterations.warmup + iterations.counted; ++i) {
      checked(plan, found, measured, i >= iterations.warmup);
    }
    return;
  }
  ++seed_;
  for (std::size_t slot = 0; slot < plan.slots; ++slot) fill(plan, slot);
  ranks_.barrier();
  std::size_t slot = 0;
  const auto unchecked = [&](std::size_t count, bool counts) {
    for (std::size_t i = 0; i < count; ++i) {
      slot = rounds_++ % plan.slots;
      meet();
      measured(slot, counts);
      sampled_.add(0);
    }
  };
  unchecked(iterations.warmup, false);
  sampling_.go(
      iterations.counted, 1, [&](std::size_t first, std::size_t last) { unchecked(last - first, true); },
      [&](std::size_t checks) {
        for (std::size_t i = 0; i < checks; ++i) checked(plan, found, measured);
        unchecked(1, false);  // so that those that count find the caches as others leave them
      });
  ranks_.barrier();
  if (iterations.counted > 0) check(plan, slot, found);  // what the last of them has left
}

Overlap Collective::overlapped(const Plan& plan, const Iterations& iterations, double pure, Found& found) {
  Overlap sum;
  repeat(plan, iterations, found, [&](std::size_t slot, bool counts) {
    const double start = now();
    carrier_->start(slot);
    const double started = now();
    const Computed computed = compute(pure, options_.probes, [&] { carrier_->test(); });
    const double waits = now();
    carrier_->wait();
    const double end = now();
    if (!counts) return;
    sum.overall += end - start;
    sum.init += started - start;
    sum.compute += computed.seconds - computed.looks;
    sum.test += computed.looks;
    sum.wait += end - waits;
  });
  const auto count = static_cast<double>(iterations.counted) * ranks_.size();
  for (double* const part : {&sum.overall, &sum.init, &sum.compute, &sum.test, &sum.wait}) {
    *part = ranks_.all_reduce_sum(*part) / count;
  }
  return sum;
}

Row Collective::measure(std::size_t bytes, Type type) {
  if (program_.reduces() && type == Type::kInt8 && std::cmp_greater(ranks_.size(), kMostRanksOfInt8)) {
    throw bad_use(fmt::format("sums of {} ranks do not fit into mpi_char", ranks_.size()), "use -T mpi_int");
  }
  const Plan used = plan(bytes, type);
  carrier_->prepare(used.shape, used.sent, used.received);
  set_operands(used.shape);
  sampled_ = {};
  rounds_ = 0;
  const Iterations iterations = options_.iterations_of(bytes);
  Found found;
  const Measured performed = [&](std::size_t slot, bool /*counts*/) { perform(slot); };
  checked(used, found, performed);
  std::vector<double> seconds;
  seconds.reserve(iterations.counted);
  repeat(used, iterations, found, [&](std::size_t slot, bool counts) {
    const double start = now();
    perform(slot);
    if (counts) seconds.push_back(now() - start);
  });
  Row row{.bytes = program_.has_sizes() ? bytes : 0, .type = type, .algorithm = carrier_->algorithm()};
  if (program_.family == Family::kOverlap) {
    const double own_mean =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
    row.overlap = overlapped(used, iterations, own_mean, found);
  }
  checked(used, found, performed, false, /*is_last=*/true);
  row.sampled = sampled_;
  row.seconds = ranks_.all_gather_numbers(seconds);
  row.found = gathered(ranks_, found);
  return row;
}

}  // namespace

std::unique_ptr<Measurer> measure_collective(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<Collective>(ranks, options);
}

}  // namespace fabricmark::microbench::omb
