// Messages of pairs of ranks, by the wall clock.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "microbench/omb/measure.hpp"
#include "microbench/omb/pair.hpp"

namespace fabricmark::microbench::omb {

namespace {

using collectives::Type;

constexpr std::size_t kMostRoom = std::size_t{1} << 40U;
constexpr std::size_t kPlacesBytes = std::size_t{512} << 20U;  // of messages that have a place each
constexpr std::size_t kLeastAtOnce = 4;  // short messages between two looks at the clock
constexpr std::size_t kShortLeadIn = 3;  // until they are as fast as before a check

/// Elements of a message, and where they lie.
struct Range {
  std::uint64_t seed = 0;
  std::size_t first = 0;  // their numbers for the inputs
  std::size_t count = 0;
  std::size_t place = 0;  // bytes
  std::size_t width = 1;  // of an element
};

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
        sampling_(ranks),
        seed_(sampling_.below(kSeeds)),
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
    const std::size_t stride = slots(bytes, 1).stride;
    const std::size_t fewest = 3 * stride <= room_ ? 2 : 1;  // so that each can have its own now and then
    const std::size_t fitting = std::min(kCheckedBytes, room_ / 2) / stride;
    return std::min(std::max(fitting, fewest), window());
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

  void set_operands(std::size_t bytes, Type type);
  void fill(std::uint64_t seed, const Slots& slots);
  void check(const Slots& slots, std::size_t count, Found& found, bool is_last = false);
  void check_part(Operand& expected, const Range& range, const std::string& what, Found& found,
                  bool is_corrupted);
  void round() {
    if (takes_part()) program_.round(pair_);
  }
  /// A round with inputs of its own, every message of which is checked, as far as there is room.
  struct Timed {
    double start = 0;
    double seconds = 0;
  };
  Timed checked_round(Found& found, bool is_last = false);
  /// In which slots the messages of a window lie where all cannot have their own: one is for all others, and
  /// which others these are is drawn.
  [[nodiscard]] std::vector<std::size_t> order(const Slots& slots);
  /// Seconds of each iteration.
  [[nodiscard]] std::vector<double> timed_rounds(const Slots& slots, Found& found);
  /// Where each is checked.
  [[nodiscard]] std::vector<double> checked_rounds(const Iterations& iterations, Found& found);
  /// Where nothing is to be done between two iterations, and nobody asks for each: the clock is read for many
  /// of them at once, as reading it twice takes as long as a short message does. Each gets their mean.
  /// Whether the rate is that of several pairs, which then begin together.
  [[nodiscard]] bool is_of_several() const { return pairs_ > 1 && program_.family == Family::kRate; }
  [[nodiscard]] bool reads_clock_seldom() const {
    return options_.percentiles.empty() && !carrier_->is_touched();
  }
  void timed_batch(std::size_t first, std::size_t last, std::vector<double>& seconds);
  void timed_singly(std::size_t first, std::size_t last, std::vector<double>& seconds);
  void untimed(std::size_t first, std::size_t last);
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
  Begun begun_;  // of the size in progress
  Sampling sampling_;
  std::uint64_t seed_;
  std::size_t room_;  // of a memory, on all ranks [bytes]
  std::size_t largest_;
  std::vector<std::uint64_t> seeds_;  // [slot], of what lies there
  std::uint64_t answer_seed_ = 0;
  Operand own_;
  Operand peers_;
  std::size_t bytes_ = 0;  // of a message
  std::size_t count_ = 0;  // elements
  std::size_t width_ = 1;
  std::size_t rounds_ = 0;  // of this size
  Sampled sampled_;
};

std::size_t Pairs::largest_of(const Options& options) const {
  std::size_t found = 0;
  for (std::size_t bytes = options.smallest; bytes <= options.largest && memory_bytes(bytes) <= room_;
       bytes *= 2)
    found = bytes;
  return found;
}

void Pairs::set_operands(std::size_t bytes, Type type) {
  bytes_ = bytes;
  const std::size_t count = bytes / collectives::bytes_of(type);
  const std::size_t kept = takes_part() ? count * checked_slots(bytes) : 0;
  const auto of_rank = [](int rank) {
    return [rank](std::uint64_t seed, const collectives::View& elements, std::size_t first) {
      collectives::fill_input(inputs_of(seed), rank, elements, first);
    };
  };
  own_ = Operand(kept, type, of_rank(ranks_.rank()));
  peers_ = Operand(receives_messages() ? kept : 0, type, of_rank(peer()));
  count_ = count;
  width_ = collectives::bytes_of(type);
}

void Pairs::fill(std::uint64_t seed, const Slots& slots) {
  if (!takes_part()) return;
  seeds_.resize(std::max(seeds_.size(), slots.count));
  for (std::size_t slot = 0; slot < slots.count; ++slot) {
    seeds_[slot] = seed;
    const std::size_t place = slots.place(slot);
    own_.pieces(seed, slot * count_, count_, [&](Elements& piece, std::size_t first) {
      carrier_->write_sent(place + first * width_, piece.bytes());
    });
    if (!receives_messages()) continue;
    peers_.pieces(seed, slot * count_, count_, [&](Elements& piece, std::size_t first) {
      piece.invert();
      carrier_->write_received(place + first * width_, piece.bytes());
    });
  }
  if (!program_.is_one_way) return;
  answer_seed_ = seed;
  Elements answer(kAnswerBytes, Type::kInt8);
  collectives::fill_input(inputs_of(seed), ranks_.rank(), answer.view());
  carrier_->write_sent(Slots::answer(), answer.bytes());
  collectives::fill_input(inputs_of(seed), peer(), answer.view());
  answer.invert();
  carrier_->write_received(Slots::answer(), answer.bytes());
}

void Pairs::check_part(Operand& expected, const Range& range, const std::string& what, Found& found,
                       bool is_corrupted) {
  const auto read = [&](std::size_t first, std::span<std::byte> bytes) {
    carrier_->read_received(range.place + first * range.width, bytes);
    const bool is_end = first * range.width + bytes.size() == range.count * range.width;
    if (is_corrupted && is_end) bytes.back() ^= std::byte{0x40};
  };
  expected.compare(range.seed, range.first, range.count, read, what, found);
}

void Pairs::check(const Slots& slots, std::size_t used, Found& found, bool is_last) {
  for (std::size_t slot = 0; slot < std::min(used, slots.count) && receives_messages(); ++slot) {
    const bool is_corrupted = options_.has_fault && is_last && slot == 0 && ranks_.rank() == pairs_;
    const Range range{seeds_[slot], slot * count_, count_, slots.place(slot), width_};
    check_part(peers_, range, fmt::format("message {} from rank {}, round {}", slot, peer(), rounds_), found,
               is_corrupted);
  }
  if (!takes_part() || receives_messages()) return;
  Operand answer(0, Type::kInt8, [this](std::uint64_t seed, const collectives::View& elements, std::size_t) {
    collectives::fill_input(inputs_of(seed), peer(), elements);
  });
  check_part(answer, {answer_seed_, 0, kAnswerBytes, Slots::answer()},
             fmt::format("the answer of rank {}, round {}", peer(), rounds_), found, false);
}

std::vector<std::size_t> Pairs::order(const Slots& slots) {
  std::vector<std::size_t> order(window(), 0);
  const std::size_t own = slots.count < window() ? slots.count - 1 : window();
  const std::size_t first = window() - own > 0 ? 1 : 0;
  std::size_t slot = first;
  for (const std::size_t message : sampling_.some(own, window())) order[message] = slot++;
  return order;
}

Pairs::Timed Pairs::checked_round(Found& found, bool is_last) {
  const Slots own = slots(bytes_, checked_slots(bytes_));
  pair_.set(own, window(), window() > 1 ? order(own) : std::vector<std::size_t>{});
  fill(++seed_, own);
  carrier_->touch();
  ranks_.barrier();
  const double start = now();
  round();
  const double seconds = now() - start;
  ++rounds_;
  check(own, own.count, found, is_last);
  ranks_.barrier();
  sampled_.add(static_cast<double>(own.count) / static_cast<double>(window()));
  return {start, seconds};
}

void Pairs::untimed(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    pair_.begin_at(i * window());
    if (carrier_->is_touched()) {
      carrier_->touch();
      ranks_.barrier();
    }
    round();
    sampled_.add(0);
  }
  rounds_ += last - first;
}

void Pairs::timed_batch(std::size_t first, std::size_t last, std::vector<double>& seconds) {
  if (is_of_several()) ranks_.barrier();
  const double start = now();
  for (std::size_t i = first; i < last; ++i) {
    pair_.begin_at(i * window());
    round();
  }
  const double mean = (now() - start) / static_cast<double>(last - first);
  std::fill(seconds.begin() + static_cast<std::ptrdiff_t>(first),
            seconds.begin() + static_cast<std::ptrdiff_t>(last), mean / program_.parts);
  begun_.stretches.push_back(first);
  for (std::size_t i = first; i < last; ++i) {
    begun_.starts.push_back(start + mean * static_cast<double>(i - first));
  }
}

void Pairs::timed_singly(std::size_t first, std::size_t last, std::vector<double>& seconds) {
  const bool is_touched = carrier_->is_touched();
  begun_.are_apart = true;
  for (std::size_t i = first; i < last; ++i) {
    pair_.begin_at(i * window());
    if (is_touched) carrier_->touch();
    if (is_touched || is_of_several()) ranks_.barrier();
    const double start = now();
    round();
    seconds[i] = (now() - start) / program_.parts;
    begun_.starts.push_back(start);
  }
}

std::vector<double> Pairs::checked_rounds(const Iterations& iterations, Found& found) {
  begun_.are_apart = true;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < iterations.warmup + iterations.counted; ++i) {
    const Timed taken = checked_round(found);
    if (i < iterations.warmup) continue;
    seconds.push_back(taken.seconds / program_.parts);
    begun_.starts.push_back(taken.start);
  }
  return seconds;
}

std::vector<double> Pairs::timed_rounds(const Slots& own, Found& found) {
  const Iterations iterations = options_.iterations_of(own.bytes);
  if (options_.checks_all) return checked_rounds(iterations, found);
  const auto settle = [&](std::size_t rounds) {
    pair_.set(own, window());
    untimed(0, rounds);
  };
  settle(iterations.warmup);
  ranks_.barrier();
  std::vector<double> seconds(iterations.counted);  // its pages are met before
  sampling_.go(
      iterations.counted, program_.windows == 0 && reads_clock_seldom() ? kLeastAtOnce : 1,
      [&](std::size_t first, std::size_t last) {
        reads_clock_seldom() ? timed_batch(first, last, seconds) : timed_singly(first, last, seconds);
        for (std::size_t i = first; i < last; ++i) sampled_.add(0);
        rounds_ += last - first;
      },
      [&](std::size_t checks) {
        for (std::size_t i = 0; i < checks; ++i) checked_round(found);
        settle(program_.windows == 0 ? kShortLeadIn : 1);
      });
  return seconds;
}

Row Pairs::measure(std::size_t bytes, Type type) {
  Found found;
  sampled_ = {};
  rounds_ = 0;
  carrier_->set_type(type);
  set_operands(bytes, type);
  checked_round(found);  // the first one, before anything has warmed up
  const Slots own = slots(bytes, timed_slots(bytes));
  fill(++seed_, own);
  begun_ = {};
  begun_.starts.reserve(options_.iterations_of(bytes).counted);
  clock_.compare();
  std::vector<double> seconds = timed_rounds(own, found);
  ranks_.barrier();
  clock_.compare();
  if (!options_.checks_all) check(own, options_.iterations_of(bytes).counted * window(), found);
  checked_round(found, true);
  if (!takes_part() || !pair_.is_first()) seconds.clear();
  Row row{.bytes = bytes,
          .type = type,
          .window = window() * static_cast<std::size_t>(std::max(program_.windows, 1)),
          .sampled = sampled_};
  row.seconds = ranks_.all_gather_numbers(seconds);
  row.found = gathered(ranks_, found);
  if (is_of_several()) add_batches(ranks_, clock_, begun_, row);
  return row;
}

}  // namespace

std::unique_ptr<Measurer> measure_pairs(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<Pairs>(ranks, options);
}

}  // namespace fabricmark::microbench::omb
