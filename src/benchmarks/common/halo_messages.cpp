#include "benchmarks/common/halo_messages.hpp"

#include <algorithm>

#include "base/random_bits.hpp"
#include "transport/registry.hpp"

namespace fabricmark::common {

namespace {

device::Buffer first_marks(const runtime::Context& context, const device::Queue& queue,
                           const std::vector<HaloMessage>& messages) {
  std::vector<std::uint64_t> marks;
  for (const HaloMessage& message : messages) {
    for (std::size_t i = 0; i < message.marks; ++i) marks.push_back(first_mark(i));
  }
  device::Buffer buffer = context.buffer(marks.size() * sizeof(std::uint64_t));
  buffer.write(queue, marks.data(), buffer.bytes());
  queue.finish();
  return buffer;
}

}  // namespace

HaloMessages::HaloMessages(const runtime::Context& context, const Direction& sent, const Direction& received,
                           std::size_t number_bytes, const HaloPuts::Use& use) {
  std::size_t longest = 0;
  for (const Direction* direction : {&sent, &received}) {
    for (const HaloMessage& message : direction->messages) {
      longest = std::max(longest, message.numbers * number_bytes);
    }
  }
  const auto of_all =
      static_cast<std::size_t>(context.ranks().all_reduce_max(static_cast<std::int64_t>(longest)));
  transport_ = transport::make_transport(context, {.beside_kernels = true, .largest_bytes = of_all});
  puts_ = HaloPuts::make(context, *transport_, use, sent.messages, received.messages, number_bytes);
  if (sent.messages.empty()) return;
  sent_ = side(context, sent, longest, number_bytes);
  received_ = side(context, received, longest, number_bytes);
}

std::unique_ptr<HaloMessages::Side> HaloMessages::side(const runtime::Context& context,
                                                       const Direction& direction, std::size_t longest,
                                                       std::size_t number_bytes) {
  std::vector<transport::Message> messages;
  std::size_t offset = 0;
  std::size_t room = 0;
  for (const HaloMessage& message : direction.messages) {
    const std::size_t bytes = message.numbers * number_bytes;
    messages.push_back({{nullptr, offset, bytes}, message.rank, message.tag});
    // Messages to each other's receivers (--inject-fault swapped) may be longer than those that belong here.
    room = std::max(room, offset + longest);
    offset += bytes;
  }
  const device::Queue queue = context.device().queue();
  auto made = std::make_unique<Side>(Side{.kernel = context.replications(1, direction.entry),
                                          .marks = first_marks(context, queue, direction.messages),
                                          .memory = transport_->allocate(room),
                                          .parts = direction.messages,
                                          .messages = std::move(messages)});
  for (transport::Message& message : made->messages) message.buffer = made->memory.get();
  if (device::is_on_host(made->memory->space())) made->own = context.buffer(room);
  made->kernel.set(0, {{"packed", made->own ? *made->own : made->memory->device()}, {"marks", made->marks}});
  return made;
}

void HaloMessages::start(const device::Queue& queue, const Pack& pack) {
  has_exchanged_ = true;
  device::Event packed;
  pack(&packed);
  if (sent_->own) {
    const std::span<std::byte> host = sent_->memory->host();
    sent_->own->read(queue, host.data(), host.size());
    queue.finish();
    in_flight_ = transport_->start(sent_->messages, received_->messages);
    return;
  }
  queue.flush();
  in_flight_ = transport_->start(sent_->messages, received_->messages, {packed});
}

void HaloMessages::finish(const device::Queue& queue) {
  in_flight_.wait();
  if (!received_->own) return;
  const std::span<std::byte> host = received_->memory->host();
  received_->own->write(queue, host.data(), host.size());
}

std::vector<std::int32_t> HaloMessages::neighbours() const {
  std::vector<std::int32_t> ranks;
  for (const HaloMessage& message : sent_->parts) {
    if (std::ranges::find(ranks, message.rank) == ranks.end()) ranks.push_back(message.rank);
  }
  return ranks;
}

std::vector<unsigned long long> HaloMessages::folded(const device::Queue& queue, const Side& side,
                                                     std::size_t& unchanged) const {
  std::vector<std::uint64_t> marks(side.marks.bytes() / sizeof(std::uint64_t));
  side.marks.read(queue, marks.data(), side.marks.bytes());
  queue.finish();
  const std::vector<std::int32_t> ranks = neighbours();
  std::vector<unsigned long long> sums(ranks.size());
  std::size_t first = 0;
  for (const HaloMessage& message : side.parts) {
    auto sum = static_cast<std::uint64_t>(message.tag);
    for (std::size_t i = 0; i < message.marks; ++i) {
      const std::uint64_t mark = marks[first + i];
      if (has_exchanged_ && mark == first_mark(i)) ++unchanged;
      sum = mixed_bits(sum + kRandomStep) ^ mark;
    }
    sums[static_cast<std::size_t>(std::ranges::find(ranks, message.rank) - ranks.begin())] += sum;
    first += message.marks;
  }
  return sums;
}

HaloSums HaloMessages::sums(const device::Queue& queue) const {
  HaloSums sums;
  if (is_empty()) return sums;
  sums.neighbours = neighbours();
  sums.sent = folded(queue, *sent_, sums.unchanged);
  sums.received = folded(queue, *received_, sums.unchanged);
  for (const HaloMessage& message : received_->parts) sums.words += message.numbers;
  return sums;
}

}  // namespace fabricmark::common
