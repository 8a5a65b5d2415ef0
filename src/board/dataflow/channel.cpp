#include "board/dataflow/channel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "board/dataflow/worker.hpp"

namespace fabricmark::dataflow {

Channel::Channel(std::string name, std::size_t word_bytes, const ChannelTiming& timing, bool is_link)
    : name_(std::move(name)),
      word_bytes_(word_bytes),
      timing_(timing),
      is_link_(is_link),
      ready_(timing.depth),
      freed_(timing.depth) {
  if (timing.depth == 0) throw bad_use("stream " + name_ + " has no place for a word", "give it a depth");
}

ChannelCounters Channel::counters() const {
  return {writer_.done, reader_.done, decided_ ? decided_->overruns() : 0, writer_.stalled, reader_.stalled};
}

void Channel::corrupt(network::MessageFault fault) {
  if (!corrupted_) corrupted_ = std::make_unique<CorruptedWords>();
  corrupted_->strike(fault);
  is_watched_ = true;
}

void Channel::watched_push(std::span<const std::byte> word) {
  const auto push = [this](std::span<const std::byte> one) {
    decided_ ? decided_push(one) : plain_push(one);
  };
  if (!corrupted_) {
    push(word);
    return;
  }
  for (const std::vector<std::byte>& one : corrupted_->passing(word)) push(one);
}

void Channel::plain_push(std::span<const std::byte> one) {
  std::ranges::copy(one, word(begin_push()));
  end_push();
}

void Channel::decided_push(std::span<const std::byte> word) {
  Kernel& kernel = owner(writer_);
  kernel.clock = std::max(kernel.clock, writer_.next);
  const auto [for_link, for_space] = decided_->push(kernel, word);
  writer_.stalled += for_link + for_space;
  if (writer_.is_traced) tell_decided_push(kernel, for_link, for_space);
  writer_.next = later(kernel.clock, kernel.interval);
  ++writer_.done;
}

void Channel::decided_pop(std::span<std::byte> word) {
  Kernel& kernel = owner(reader_);
  kernel.clock = std::max(kernel.clock, reader_.next);
  const Time stalled = decided_->pop(kernel, word);
  reader_.stalled += stalled;
  if (reader_.is_traced) tell_pop(kernel.clock - stalled, kernel.clock);
  reader_.next = later(kernel.clock, kernel.interval);
  ++reader_.done;
}

void Channel::take(End& end) {
  Kernel& kernel = current_kernel();
  if (end.kernel != nullptr) {
    throw bad_use(fmt::format("kernels {} and {} both {} stream {}", end.kernel->name(), kernel.name(),
                              &end == &writer_ ? "write" : "read", name_),
                  "a stream has one writer and one reader");
  }
  const End& other = &end == &writer_ ? reader_ : writer_;
  // The other end of a link may be another worker's.
  if (!is_link_ && other.kernel != nullptr && other.kernel->device() != kernel.device()) {
    throw bad_use(fmt::format("stream {} joins kernel {} of device {} with kernel {} of device {}", name_,
                              other.kernel->name(), other.kernel->device(), kernel.name(), kernel.device()),
                  "open a link between devices");
  }
  end.kernel = &kernel;
  kernel.use(shared_from_this());
  if (kernel.trace() != nullptr) {
    if (!trace_) trace_ = std::make_unique<ChannelTrace>(name_, is_link_);
    trace_->take(&end == &writer_, kernel);
    end.is_traced = true;
    if (!is_split_) trace_->meet();
  }
  const bool is_writer = &end == &writer_;
  if (is_writer) ahead_ = kernel.depth;
  if (is_link_) return;
  // A FIFO memory: a word is seen, and a place free, in the cycle after.
  (is_writer ? timing_.latency : timing_.back_latency) = kernel.cycle;
  if (is_writer && kernel.stands_still) hold_pipeline(kernel);
}

void Channel::hold_pipeline(const Kernel& kernel) {
  timing_.latency += std::exchange(ahead_, 0);
  held_ = kernel.words_in_pipeline();
  if (timing_.depth + held_ > ready_.size()) grow(timing_.depth + held_);
}

void Channel::grow(std::size_t places) {
  for (std::vector<Time>* const times : {&ready_, &freed_}) {
    std::ranges::rotate(*times, times->begin() + static_cast<std::ptrdiff_t>(reader_.place));
    times->resize(places);
  }
  arrange(reader_.place, places);
  reader_.place = 0;
  writer_.place = fill();
}

void Channel::push_on() {
  if (writer_.done - reader_.known <= held_) return;
  const std::size_t place = (reader_.place + reader_.known - reader_.done) % ready_.size();
  ready_[place] = std::max(ready_[place], later(leaves_, writer_.kernel->cycle));
  ++reader_.known;
  if (reader_.is_waiting) wake(reader_);
}

void Channel::drain() {
  if (held_ > 0) show(writer_, reader_);
}

void Channel::release(const Kernel& kernel) {
  for (End* const end : {&writer_, &reader_}) {
    if (end->kernel != &kernel) continue;
    if (end == &writer_) {
      drain();
      held_ = 0;
    }
    end->kernel = nullptr;
    end->is_traced = false;
    end->next = 0;  // the interval is that of the kernel's loop
    end->next_question = 0;
  }
}

void Channel::wait_for_space(Kernel& kernel) {
  while (writer_.done - writer_.known >= ready_.size()) {
    writer_.is_waiting = true;
    kernel.wait(Kernel::Waits::kForSpace, this);
  }
}

void Channel::wait_for_word(Kernel& kernel) {
  while (reader_.done == reader_.known) {
    reader_.is_waiting = true;
    kernel.wait(Kernel::Waits::kForWord, this);
  }
}

void Channel::wake(End& end) {
  end.is_waiting = false;
  end.kernel->worker().make_ready(*end.kernel);
}

bool Channel::meet() {
  if (trace_) trace_->meet();
  if (decided_) return decided_->meet();
  if (!is_split_) return false;
  const bool has_news = writer_.known != reader_.done || reader_.known != writer_.done;
  writer_.known = reader_.done;
  reader_.known = writer_.done;
  if (writer_.is_waiting && writer_.done - writer_.known < ready_.size()) wake(writer_);
  if (reader_.is_waiting && reader_.done != reader_.known) wake(reader_);
  return has_news;
}

bool Channel::has_untold(bool is_writer) const {
  if (decided_) return decided_->has_untold(is_writer);
  const End& end = is_writer ? writer_ : reader_;
  return end.told != end.done;
}

void Channel::pack(Packet& packet, bool is_writer) {
  if (decided_) {
    decided_->pack(packet, is_writer);
    return;
  }
  End& end = is_writer ? writer_ : reader_;
  packet.put(end.done - end.told);
  for (; end.told < end.done; ++end.told) {
    const auto place = static_cast<std::size_t>(end.told % timing_.depth);
    packet.put(is_writer ? ready_[place] : freed_[place]);
    if (is_writer) packet.put(word(place), word_bytes_);
  }
}

void Channel::unpack(Packet& packet, bool is_writer) {
  if (decided_) {
    decided_->unpack(packet, is_writer, word_bytes_);
    return;
  }
  End& far = is_writer ? reader_ : writer_;
  for (auto count = packet.get<std::uint64_t>(); count > 0; --count) {
    (is_writer ? freed_ : ready_)[far.place] = packet.get<Time>();
    if (!is_writer) packet.get(word(far.place), word_bytes_);
    step(far);
  }
}

// Traces.

void Channel::tell_push(Time wanted, Time left) {
  const Time from = wanted - ahead_;  // what stops is the pipeline's begin
  const Time to = left - ahead_;
  if (to > from) {
    freed_[writer_.place] < left ? trace_->waited_for_link(from, to)
                                 : trace_->waited(/*is_writer=*/true, from, to);
  }
  trace_->carried(left, leaves_);
}

void Channel::tell_decided_push(const Kernel& kernel, Time for_link, Time for_space) {
  const Time from = kernel.clock - for_space;
  if (for_link > 0) trace_->waited_for_link(from - for_link, from);
  if (for_space > 0) trace_->waited(/*is_writer=*/true, from, kernel.clock);
  const Time leaves = later(kernel.clock, kernel.depth);
  trace_->carried(leaves, later(leaves, timing_.word_time));
}

void Channel::tell_pop(Time wanted, Time taken) {
  if (taken > wanted) trace_->waited(/*is_writer=*/false, wanted, taken);
}

void Channel::tell_stuck(const Kernel& kernel, Time until) {
  const bool writes = kernel.waits() == Kernel::Waits::kForSpace;
  const End& end = writes ? writer_ : reader_;
  if (!end.is_traced) return;
  const Time from = std::max(kernel.clock, end.next);
  trace_->waited(writes, from, std::max(until, later(from, kernel.cycle)));
}

Kernel& Channel::ask(End& end) {
  Kernel& kernel = owner(end);
  kernel.clock = std::max(kernel.clock, end.next_question);
  end.next_question = later(kernel.clock, kernel.cycle);
  return kernel;
}

bool Channel::is_empty() {
  Kernel& kernel = ask(reader_);
  if (decided_) return decided_->is_empty(kernel);
  const auto has_none = [this] { return reader_.done == reader_.known; };
  if (has_none()) kernel.worker().wait_until_known(kernel);
  return has_none() || ready_[reader_.place] > kernel.clock;
}

bool Channel::is_full() {
  Kernel& kernel = ask(writer_);
  if (decided_) return decided_->is_full(kernel);
  const auto has_none = [this] { return writer_.done - writer_.known >= ready_.size(); };
  if (has_none()) kernel.worker().wait_until_known(kernel);
  return has_none() || std::max(freed_[writer_.place], leaves_) > kernel.clock + ahead_;
}

}  // namespace fabricmark::dataflow
