#include "apps/shallow_water/halo.hpp"

#include <algorithm>

#include "base/random_bits.hpp"
#include "transport/registry.hpp"

namespace fabricmark::shallow_water {

namespace {

enum HaloEntry : std::size_t { kPack = 1, kUnpack = 2 };

std::size_t largest_message(const LocalMesh& local, std::size_t element_bytes) {
  std::size_t most = 0;
  for (const LocalMesh::Neighbour& neighbour : local.neighbours) {
    most = std::max({most, neighbour.send.size(), neighbour.receive.size()});
  }
  return most * element_bytes;
}

device::Buffer buffer_of(const runtime::Context& context, const device::Queue& queue,
                         const std::vector<std::int32_t>& values) {
  device::Buffer buffer = context.buffer(values.size() * sizeof(std::int32_t));
  buffer.write(queue, values.data(), buffer.bytes());
  queue.finish();
  return buffer;
}

device::Buffer first_marks(const runtime::Context& context, const device::Queue& queue,
                           const std::vector<std::size_t>& sizes) {
  std::vector<std::uint64_t> marks;
  for (const std::size_t size : sizes) {
    for (std::size_t i = 0; i < size; ++i) marks.push_back(common::first_mark(i));
  }
  device::Buffer buffer = context.buffer(marks.size() * sizeof(std::uint64_t));
  buffer.write(queue, marks.data(), buffer.bytes());
  queue.finish();
  return buffer;
}

}  // namespace

Halo::Halo(const runtime::Context& context, const LocalMesh& local, std::size_t numbers,
           std::size_t number_bytes)
    : local_(local),
      numbers_(numbers),
      number_bytes_(number_bytes),
      work_group_(std::min(context.work_group_size(kPack), context.work_group_size(kUnpack))) {
  if (context.ranks().size() == 1) return;
  const auto most = static_cast<std::size_t>(context.ranks().all_reduce_max(
      static_cast<std::int64_t>(largest_message(local, numbers * number_bytes))));
  transport_ =
      transport::make_transport(context, {.waiting = transport::Waiting::kSleep, .largest_bytes = most});
  if (local.neighbours.empty()) return;
  sent_ = side(context, kPack, /*is_sent=*/true);
  received_ = side(context, kUnpack, /*is_sent=*/false);
}

std::unique_ptr<Halo::Side> Halo::side(const runtime::Context& context, std::size_t entry, bool is_sent) {
  std::vector<std::int32_t> places;
  std::vector<std::int32_t> targets;
  std::vector<std::int32_t> spans;
  std::vector<std::size_t> sizes;
  std::vector<transport::Message>& messages = is_sent ? messages_out_ : messages_in_;
  for (const LocalMesh::Neighbour& neighbour : local_.neighbours) {
    const std::vector<std::int32_t>& own = is_sent ? neighbour.send : neighbour.receive;
    const std::size_t start = places.size() * numbers_;
    for (std::size_t i = 0; i < own.size(); ++i) {
      places.push_back(own[i]);
      targets.push_back(static_cast<std::int32_t>(start + i));
      spans.push_back(static_cast<std::int32_t>(own.size()));
    }
    sizes.push_back(own.size());
    messages.push_back(
        {{nullptr, start * number_bytes_, own.size() * numbers_ * number_bytes_}, neighbour.rank, 0});
  }
  const std::size_t bytes = places.size() * numbers_ * number_bytes_;
  // Messages to each other's receivers (--inject-fault swapped) are longer than the last one.
  const std::size_t room = bytes + largest_message(local_, numbers_ * number_bytes_);
  const device::Queue queue = context.device().queue();
  auto made = std::make_unique<Side>(Side{.kernel = context.replications(1, entry),
                                          .places = buffer_of(context, queue, places),
                                          .targets = buffer_of(context, queue, targets),
                                          .spans = buffer_of(context, queue, spans),
                                          .marks = first_marks(context, queue, sizes),
                                          .count = places.size(),
                                          .memory = transport_->allocate(room)});
  if (device::is_on_host(made->memory->space())) made->own = context.buffer(room);
  for (transport::Message& message : messages) message.buffer = made->memory.get();
  made->kernel.set(0, {{"places", made->places},
                       {"targets", made->targets},
                       {"spans", made->spans},
                       {"packed", made->packed()},
                       {"marks", made->marks},
                       {"count", made->count},
                       {"stride", local_.stride}});
  return made;
}

void Halo::run(Side& side, const device::Queue& queue, const device::Buffer& state,
               device::Event* done) const {
  side.kernel.set(0, {{"state", state}});
  const std::size_t items = (side.count + work_group_ - 1) / work_group_ * work_group_;
  side.kernel.start_on(queue, 0, {items, work_group_}, nullptr, done);
}

void Halo::start(const device::Queue& queue, const device::Buffer& state) {
  if (is_empty()) return;
  has_exchanged_ = true;
  device::Event packed;
  run(*sent_, queue, state, &packed);
  if (sent_->own) {
    const std::span<std::byte> host = sent_->memory->host();
    sent_->own->read(queue, host.data(), host.size());
    queue.finish();
    under_way_ = transport_->start(messages_out_, messages_in_);
    return;
  }
  queue.flush();
  under_way_ = transport_->start(messages_out_, messages_in_, {packed});
}

void Halo::finish(const device::Queue& queue, const device::Buffer& state) {
  if (is_empty()) return;
  under_way_.wait();
  if (received_->own) {
    const std::span<std::byte> host = received_->memory->host();
    received_->own->write(queue, host.data(), host.size());
  }
  run(*received_, queue, state, nullptr);
}

common::HaloSums Halo::sums(const device::Queue& queue) const {
  common::HaloSums sums;
  if (is_empty()) return sums;
  const auto folded = [&](const Side& side, bool is_sent) {
    std::vector<std::uint64_t> marks(side.count);
    side.marks.read(queue, marks.data(), side.marks.bytes());
    queue.finish();
    std::vector<unsigned long long> of_neighbours;
    std::size_t first = 0;
    for (const LocalMesh::Neighbour& neighbour : local_.neighbours) {
      const std::size_t count = is_sent ? neighbour.send.size() : neighbour.receive.size();
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t mark = marks[first + i];
        if (has_exchanged_ && mark == common::first_mark(i)) ++sums.unchanged;
        sum = mixed_bits(sum + kRandomStep) ^ mark;
      }
      of_neighbours.push_back(sum);
      first += count;
    }
    return of_neighbours;
  };
  for (const LocalMesh::Neighbour& neighbour : local_.neighbours) sums.neighbours.push_back(neighbour.rank);
  sums.sent = folded(*sent_, /*is_sent=*/true);
  sums.received = folded(*received_, /*is_sent=*/false);
  sums.words = received_->count * numbers_;
  return sums;
}

}  // namespace fabricmark::shallow_water
