// Messages of pairs of ranks, by the wall clock.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "microbench/omb/measure.hpp"
#include "microbench/omb/pair.hpp"

namespace fabricmark::microbench::omb {

namespace {

using collectives::Type;

constexpr std::size_t kMostRoom = std::size_t{1} << 40U;
constexpr std::size_t kPlacesBytes = std::size_t{512} << 20U;  // of messages that have a place each

class Pairs final : public Measurer {
 public:
  Pairs(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        options_(options),
        program_(*options.program),
        pairs_(pairs_of(ranks, program_)),
        carrier_(make_carrier(ranks, options)),
        pair_(*carrier_, peer(), ranks.rank() < pairs_),
        clock_(ranks),
        room_(static_cast<std::size_t>(
            ranks.all_reduce_min(static_cast<std::int64_t>(std::min(carrier_->room(), kMostRoom))))),
        largest_(largest_of(options)) {
    if (largest_ < options.smallest) {
      throw bad_use(fmt::format("no memory for messages of {} B", options.smallest), "choose smaller ones");
    }
    const std::size_t bytes = memory_bytes(largest_);
    carrier_->allocate(bytes, bytes);
  }

  Row measure(std::size_t bytes, Type type) override;
  [[nodiscard]] std::size_t largest() const override { return largest_; }
  [[nodiscard]] device::DeviceInfo device() const override { return carrier_->device(); }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes = carrier_->notes();
    for (const std::string& note : clock_.notes()) notes.push_back(note);
    return notes;
  }
  [[nodiscard]] runtime::Result::Kernel kernel() const override { return carrier_->kernel(); }

 private:
  static int pairs_of(const runtime::Communicator& ranks, const Program& program) {
    return program.has_all_pairs ? ranks.size() / 2 : 1;
  }
  [[nodiscard]] bool takes_part() const { return ranks_.rank() < 2 * pairs_; }
  [[nodiscard]] int peer() const {
    return ranks_.rank() < pairs_ ? ranks_.rank() + pairs_ : ranks_.rank() - pairs_;
  }
  [[nodiscard]] std::size_t window() const {
    return program_.windows == 0 ? 1 : static_cast<std::size_t>(options_.window);
  }
  [[nodiscard]] static Slots slots(std::size_t bytes, std::size_t count) {
    return {bytes, device::whole_pages(std::max(bytes, kAnswerBytes)), count};
  }
  /// Each message of a window that is checked has a place of its own, as far as there is room.
  [[nodiscard]] std::size_t checked_slots(std::size_t bytes) const {
    const std::size_t fitting = std::min(kCheckedBytes, room_ / 2) / slots(bytes, 1).stride;
    return std::clamp<std::size_t>(fitting, 1, window());
  }
  /// Of a device's own memory each message of a window has a place, too: no kernel can touch the memory
  /// between two of them, and of the same place a runtime might copy only the first one.
  [[nodiscard]] std::size_t timed_slots(std::size_t bytes) const {
    const bool is_copied = carrier_->is_touched() && !carrier_->device().is_in_host_memory();
    const std::size_t wanted = options_.has_many_buffers ? static_cast<std::size_t>(options_.window)
                               : is_copied               ? window()
                                                         : 1;
    const std::size_t fitting = std::min(room_, kPlacesBytes) / slots(bytes, 1).stride;
    return std::clamp<std::size_t>(fitting - std::min<std::size_t>(fitting, 1), 1, wanted);
  }
  [[nodiscard]] std::size_t memory_bytes(std::size_t bytes) const {
    std::size_t most = 0;
    for (std::size_t size = options_.smallest; size <= bytes; size *= 2) {
      most =
          std::max({most, slots(size, checked_slots(size)).total(), slots(size, timed_slots(size)).total()});
    }
    return most;
  }
  [[nodiscard]] std::size_t largest_of(const Options& options) const;

  void fill(std::uint64_t seed, const Slots& slots, Type type);
  void check(std::uint64_t seed, const Slots& slots, std::size_t count, Type type, Found& found,
             bool is_last);
  void check_part(std::uint64_t seed, std::size_t place, Elements& expected, const std::string& what,
                  Found& found, bool is_spoilt);
  void round() {
    if (takes_part()) program_.round(pair_);
  }
  /// A round that is not timed, with inputs of its own, every message of which is checked.
  void checked_round(std::size_t bytes, Type type, Found& found, bool is_last);
  /// Seconds of each iteration.
  [[nodiscard]] std::vector<double> timed_rounds(const Slots& slots, Type type, Found& found);
  /// Where nothing is to be done between two iterations, and nobody asks for each: the clock is read for many
  /// of them at once, as reading it twice takes as long as a short message does. Each gets their mean.
  [[nodiscard]] std::vector<double> timed_batches(const Iterations& iterations);
  /// One that is timed and checked: seconds.
  double checked_timed_round(const Slots& slots, Type type, Found& found);
  /// Whether the rate is that of several pairs, which then begin together.
  [[nodiscard]] bool is_of_several() const { return pairs_ > 1 && program_.family == Family::kRate; }
  [[nodiscard]] bool receives_messages() const {
    return takes_part() && !(program_.is_one_way && pair_.is_first());
  }

  runtime::Communicator& ranks_;
  Options options_;
  const Program& program_;
  int pairs_;
  std::unique_ptr<Carrier> carrier_;
  Pair pair_;
  runtime::SharedClock clock_;
  Begun begun_;       // of the size under way
  std::size_t room_;  // of a memory, on all ranks [bytes]
  std::size_t largest_;
  std::uint64_t seed_ = 0;
};

std::size_t Pairs::largest_of(const Options& options) const {
  std::size_t found = 0;
  for (std::size_t bytes = options.smallest; bytes <= options.largest && memory_bytes(bytes) <= room_;
       bytes *= 2)
    found = bytes;
  return found;
}

void Pairs::fill(std::uint64_t seed, const Slots& slots, Type type) {
  if (!takes_part()) return;
  const std::size_t count = slots.bytes / collectives::bytes_of(type);
  Elements elements(count, type);
  for (std::size_t slot = 0; slot < slots.count; ++slot) {
    collectives::fill_input(inputs_of(seed), ranks_.rank(), elements.view(), slot * count);
    carrier_->write_sent(slots.place(slot), elements.bytes());
    if (!receives_messages()) continue;
    collectives::fill_input(inputs_of(seed), pair_.peer(), elements.view(), slot * count);
    elements.invert();
    carrier_->write_received(slots.place(slot), elements.bytes());
  }
  if (!program_.is_one_way) return;
  Elements answer(kAnswerBytes, Type::kInt8);
  collectives::fill_input(inputs_of(seed), ranks_.rank(), answer.view(), slots.count * count);
  carrier_->write_sent(slots.answer(), answer.bytes());
  collectives::fill_input(inputs_of(seed), pair_.peer(), answer.view(), slots.count * count);
  answer.invert();
  carrier_->write_received(slots.answer(), answer.bytes());
}

void Pairs::check_part(std::uint64_t seed, std::size_t place, Elements& expected, const std::string& what,
                       Found& found, bool is_spoilt) {
  Elements actual(expected.view().count, expected.view().type);
  carrier_->read_received(place, actual.bytes());
  if (is_spoilt) actual.bytes().back() ^= std::byte{0x40};
  compare(expected.view(), actual.view(), fmt::format("{}, round {}", what, seed), found);
}

void Pairs::check(std::uint64_t seed, const Slots& slots, std::size_t used, Type type, Found& found,
                  bool is_last) {
  const std::size_t count = slots.bytes / collectives::bytes_of(type);
  for (std::size_t slot = 0; slot < std::min(used, slots.count) && receives_messages(); ++slot) {
    Elements expected(count, type);
    collectives::fill_input(inputs_of(seed), pair_.peer(), expected.view(), slot * count);
    const bool is_spoilt = options_.has_fault && is_last && slot == 0 && ranks_.rank() == pairs_;
    check_part(seed, slots.place(slot), expected, fmt::format("message {} from rank {}", slot, pair_.peer()),
               found, is_spoilt);
  }
  if (!takes_part() || receives_messages()) return;
  Elements expected(kAnswerBytes, Type::kInt8);
  collectives::fill_input(inputs_of(seed), pair_.peer(), expected.view(), slots.count * count);
  check_part(seed, slots.answer(), expected, fmt::format("the answer of rank {}", pair_.peer()), found,
             false);
}

void Pairs::checked_round(std::size_t bytes, Type type, Found& found, bool is_last) {
  const Slots own = slots(bytes, checked_slots(bytes));
  pair_.set(own, static_cast<int>(own.count));
  pair_.begin_at(0);
  fill(++seed_, own, type);
  carrier_->touch();
  ranks_.barrier();
  round();
  check(seed_, own, own.count, type, found, is_last);
  ranks_.barrier();
}

double Pairs::checked_timed_round(const Slots& own, Type type, Found& found) {
  fill(++seed_, own, type);
  carrier_->touch();
  pair_.begin_at(0);
  ranks_.barrier();
  const double start = now();
  round();
  const double seconds = now() - start;
  begun_.starts.push_back(start);
  check(seed_, own, window(), type, found, false);
  ranks_.barrier();
  return seconds;
}

std::vector<double> Pairs::timed_batches(const Iterations& iterations) {
  const auto rounds = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      pair_.begin_at(i * window());
      round();
    }
  };
  rounds(0, iterations.warmup);
  std::vector<double> seconds;
  seconds.reserve(iterations.counted);
  ranks_.barrier();
  for (const auto& [first, last] : batches_of(iterations.counted)) {
    if (is_of_several()) ranks_.barrier();
    const double start = now();
    rounds(iterations.warmup + first, iterations.warmup + last);
    const double mean = (now() - start) / static_cast<double>(last - first);
    seconds.resize(last, mean / program_.parts);
    for (std::size_t i = first; i < last; ++i) {
      begun_.starts.push_back(start + mean * static_cast<double>(i - first));
    }
  }
  return seconds;
}

std::vector<double> Pairs::timed_rounds(const Slots& own, Type type, Found& found) {
  const Iterations iterations = options_.iterations_of(own.bytes);
  if (!options_.checks_all && options_.percentiles.empty() && !carrier_->is_touched()) {
    return timed_batches(iterations);
  }
  const bool is_touched = carrier_->is_touched();
  begun_.are_apart = true;
  std::vector<double> seconds(iterations.counted);  // its pages are met before
  for (std::size_t i = 0; i < iterations.warmup + iterations.counted; ++i) {
    if (i == iterations.warmup) {
      ranks_.barrier();
      begun_.starts.clear();
    }
    double taken = 0;
    if (options_.checks_all) {
      taken = checked_timed_round(own, type, found);
    } else {
      pair_.begin_at(i * window());
      if (is_touched) {
        carrier_->touch();
      }
      if (is_touched || is_of_several()) ranks_.barrier();
      const double start = now();
      round();
      taken = now() - start;
      begun_.starts.push_back(start);
    }
    if (i >= iterations.warmup) seconds[i - iterations.warmup] = taken / program_.parts;
  }
  return seconds;
}

Row Pairs::measure(std::size_t bytes, Type type) {
  Found found;
  carrier_->set_type(type);
  checked_round(bytes, type, found, false);  // the first one, before anything has warmed up
  const Slots own = slots(bytes, timed_slots(bytes));
  pair_.set(own, static_cast<int>(window()));
  fill(++seed_, own, type);
  begun_ = {};
  begun_.starts.reserve(options_.iterations_of(bytes).warmup + options_.iterations_of(bytes).counted);
  clock_.compare();
  std::vector<double> seconds = timed_rounds(own, type, found);
  ranks_.barrier();
  clock_.compare();
  const Iterations iterations = options_.iterations_of(bytes);
  const std::size_t used = options_.checks_all ? 0 : (iterations.warmup + iterations.counted) * window();
  check(seed_, own, used, type, found, false);  // what the last of them have left
  checked_round(bytes, type, found, true);
  if (!takes_part() || !pair_.is_first()) seconds.clear();
  Row row{.bytes = bytes,
          .type = type,
          .window = window() * static_cast<std::size_t>(std::max(program_.windows, 1))};
  gather(ranks_, seconds, found, row);
  if (is_of_several()) add_batches(ranks_, clock_, begun_, row);
  return row;
}

}  // namespace

std::unique_ptr<Measurer> measure_pairs(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<Pairs>(ranks, options);
}

}  // namespace fabricmark::microbench::omb
