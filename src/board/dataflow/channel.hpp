#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/interface.hpp"
#include "board/dataflow/channel_trace.hpp"
#include "board/dataflow/corrupted_words.hpp"
#include "board/dataflow/kernel.hpp"
#include "board/dataflow/link_direction.hpp"
#include "board/dataflow/peers.hpp"
#include "network/message_fault.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

/// The way of words from one kernel to another: how many may be in flight or wait at its end, and how long
/// each takes. Between kernels of a device it is a FIFO memory, between devices a link.
struct ChannelTiming {
  std::size_t depth = 2;  ///< words: of the FIFO, or the credits of a link's sender
  Time word_time = 0;     ///< between two words that leave
  Time latency = 0;       ///< from a word's leaving to its arrival, beside word_time
  Time back_latency = 0;  ///< from a word's being taken to the place's being free for its sender
  unsigned cycles = 1;    ///< of a link's clock, that a word by itself takes
};

/// What a channel has carried.
struct ChannelCounters {
  std::uint64_t words = 0;     ///< that came in
  std::uint64_t taken = 0;     ///< that were read
  std::uint64_t overruns = 0;  ///< that were lost since there was no place
  Time writer_stalled = 0;     ///< its kernel waited for a place
  Time reader_stalled = 0;     ///< its kernel waited for a word
};

/// A bounded way of words in order, with one writing and one reading kernel, which stop where it is full or
/// empty. Each word has the modelled time of its arrival, each place that of its becoming free; a word is
/// written and read at the latest of these, of the kernel's clock and of the port's interval (a timed
/// dataflow graph in max-plus arithmetic: Baccelli et al., Synchronization and Linearity, 1992, chapter 2).
/// So modelled time does not depend on the order in which kernels really run. Questions such as "is it
/// empty?" are answered at the kernel's clock, when all that happens before it is known.
///
/// The pipeline of a kernel that `stands_still` is in the FIFOs that it writes to: they hold its words beside
/// their own. Of another kernel a word that is held up moves the clock, which it learns only when it has that
/// word: too late where the next one comes from a link whose times are decided one after the other.
///
/// The kernels at the two ends may be run by different threads (`split`): then each end knows of the other
/// what was so when they last met.
class Channel : public Interface, public std::enable_shared_from_this<Channel> {
 public:
  Channel(std::string name, std::size_t word_bytes, const ChannelTiming& timing, bool is_link);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t word_bytes() const { return word_bytes_; }
  [[nodiscard]] const ChannelTiming& timing() const { return timing_; }
  [[nodiscard]] ChannelCounters counters() const;
  /// Words that wait, or are in flight.
  [[nodiscard]] std::uint64_t fill() const {
    return decided_ ? decided_->fill() : writer_.done - reader_.done;
  }
  /// Most words that wait.
  [[nodiscard]] std::size_t places() const { return decided_ ? decided_->places() : ready_.size(); }
  /// Flow control other than credits whose times follow from each other. To be said before its first use.
  void control(std::unique_ptr<LinkDirection> decided) {
    decided_ = std::move(decided);
    is_watched_ = true;
  }
  /// Of a link: the devices of its writer and its reader.
  void join(int from, int to) {
    from_ = from;
    to_ = to;
  }
  /// What a kernel that holds it must be, known by its device; false where both could be.
  [[nodiscard]] bool must_write(int device) const { return from_ == device && to_ != device; }
  [[nodiscard]] bool must_read(int device) const { return to_ == device && from_ != device; }
  /// To be said before its first use.
  void split() {
    is_split_ = true;
    trace_ = std::make_unique<ChannelTrace>(name_, is_link_);  // which neither end may make then
  }
  /// While neither end runs: each learns what the other has done. False where that is nothing.
  bool meet();

  // Where the other end is in another process: what this end has done goes there in packets.

  [[nodiscard]] bool has_untold(bool is_writer) const;
  void pack(Packet& packet, bool is_writer);
  void unpack(Packet& packet, bool is_writer);
  /// Null before its first use.
  [[nodiscard]] Kernel* writer() const { return writer_.kernel; }
  [[nodiscard]] Kernel* reader() const { return reader_.kernel; }
  /// The kernel waits in vain: tells its trace that it does so until then.
  void tell_stuck(const Kernel& kernel, Time until);
  /// The kernel has ended: another one may take its end.
  void release(const Kernel& kernel);
  /// The loop of its writer has ended: no word waits in the pipeline for the next one.
  void drain();

  /// While no kernel writes: has the fault happen to the next word.
  void corrupt(network::MessageFault fault);

  // By the kernel that runs.

  /// At the clock of the kernel.
  [[nodiscard]] bool is_empty();
  [[nodiscard]] bool is_full();

 protected:
  struct End {
    Kernel* kernel = nullptr;
    Time next = 0;  // of a word through this end
    Time stalled = 0;
    Time next_question = 0;
    std::uint64_t done = 0;   // words through this end
    std::uint64_t known = 0;  // words through the other one, as far as this one knows
    std::uint64_t told = 0;   // words through this end, as far as another process knows
    std::size_t place = 0;    // of the next word
    bool is_waiting = false;
    bool is_traced = false;
  };

  [[nodiscard]] virtual std::byte* word(std::size_t place) = 0;
  /// Makes `first` the first place, of so many.
  virtual void arrange(std::size_t first, std::size_t places) = 0;
  /// Whether words pass by the two functions below it, and by no others.
  [[nodiscard]] bool is_decided() const { return decided_ != nullptr; }
  /// Whether words that come in pass by the function below it: those, and where there is a fault.
  [[nodiscard]] bool is_watched() const { return is_watched_; }
  void watched_push(std::span<const std::byte> word);
  void decided_pop(std::span<std::byte> word);

  /// Waits for a place; it is that of the next word.
  std::size_t begin_push() {
    Kernel& kernel = owner(writer_);
    if (writer_.done - writer_.known >= ready_.size()) wait_for_space(kernel);
    const Time wanted = later(std::max(kernel.clock, writer_.next), ahead_);
    const Time left = std::max({wanted, freed_[writer_.place], leaves_});
    writer_.stalled += left - wanted;
    kernel.clock = left - ahead_;
    writer_.next = kernel.clock + kernel.interval;
    leaves_ = left + timing_.word_time;
    ready_[writer_.place] = leaves_ + timing_.latency;
    if (writer_.is_traced) [[unlikely]]
      tell_push(wanted, left);
    return writer_.place;
  }
  void end_push() {
    step(writer_);
    if (held_ > 0) [[unlikely]] {
      push_on();
    } else {
      show(writer_, reader_);
    }
  }
  /// Waits for a word.
  std::size_t begin_pop() {
    Kernel& kernel = owner(reader_);
    if (reader_.done == reader_.known) wait_for_word(kernel);
    const Time wanted = std::max(kernel.clock, reader_.next);
    const Time taken = std::max(wanted, ready_[reader_.place]);
    reader_.stalled += taken - wanted;
    kernel.clock = taken;
    reader_.next = taken + kernel.interval;
    freed_[reader_.place] = later(taken, timing_.back_latency);
    if (reader_.is_traced) [[unlikely]]
      tell_pop(wanted, taken);
    return reader_.place;
  }
  void end_pop() {
    step(reader_);
    show(reader_, writer_);
  }

 private:
  void plain_push(std::span<const std::byte> word);
  void decided_push(std::span<const std::byte> word);
  static Time later(Time start, Time delay) { return network::later(start, delay); }
  Kernel& owner(End& end) {
    Kernel* const kernel = kernel_here();
    if (kernel != end.kernel || kernel == nullptr) take(end);
    return *kernel;
  }
  void step(End& end) {
    if (++end.place == ready_.size()) end.place = 0;
    ++end.done;
  }
  void show(const End& own, End& other) {
    if (is_split_) return;
    other.known = own.done;
    if (other.is_waiting) wake(other);
  }
  void take(End& end);
  void hold_pipeline(const Kernel& kernel);
  void grow(std::size_t places);
  /// A word has come into a pipeline that stands still between words: one leaves it.
  void push_on();
  void wait_for_space(Kernel& kernel);
  void wait_for_word(Kernel& kernel);
  static void wake(End& end);
  // What the traces of the kernels are told.
  [[gnu::cold]] void tell_push(Time wanted, Time left);
  void tell_decided_push(const Kernel& kernel, Time for_link, Time for_space);
  [[gnu::cold]] void tell_pop(Time wanted, Time taken);
  /// The kernel that asks a question of this end, at the time of the question.
  Kernel& ask(End& end);

  std::string name_;
  std::size_t word_bytes_;
  ChannelTiming timing_;
  bool is_link_;
  int from_ = -1;
  int to_ = -1;
  bool is_split_ = false;
  bool is_watched_ = false;
  End writer_;
  End reader_;
  Time ahead_ = 0;           // from the writer's clock to a word's leaving its pipeline
  std::size_t held_ = 0;     // words that wait in the writer's pipeline for the next one
  Time leaves_ = 0;          // when the link is free again
  std::vector<Time> ready_;  // [place]: arrival of its word
  std::vector<Time> freed_;  // [place]: when its writer may use it
  std::unique_ptr<LinkDirection> decided_;
  std::unique_ptr<CorruptedWords> corrupted_;
  std::unique_ptr<ChannelTrace> trace_;  // null before a kernel with a trace takes an end
};

}  // namespace fabricmark::dataflow
