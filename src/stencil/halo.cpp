#include "stencil/halo.hpp"

#include <algorithm>

#include "base/random_bits.hpp"
#include "transport/registry.hpp"

namespace fabricmark::stencil {

namespace {

/// Tags of what goes down and up.
enum Tag : std::uint8_t { kDown = 0, kUp = 1 };

}  // namespace

Halo::Halo(const runtime::Context& context, const Problem& problem, const Part& part, std::size_t rows,
           std::size_t pitch, std::size_t number_bytes)
    : rows_(rows), pitch_(pitch), numbers_(rows * part.fields * pitch), number_bytes_(number_bytes) {
  const int size = context.ranks().size();
  if (size == 1) return;
  transport_ = transport::make_transport(
      context, {.waiting = transport::Waiting::kSleep, .largest_bytes = numbers_ * number_bytes_});
  // The state's rows: a row that nobody uses, ghosts, own rows, ghosts.
  const int rank = context.ranks().rank();
  if (rank > 0 || problem.is_periodic_along) neighbours_.push_back({(rank + size - 1) % size, rows_ + 1, 1});
  if (rank + 1 < size || problem.is_periodic_along)
    neighbours_.push_back({(rank + 1) % size, part.rows + 1, part.rows + rows_ + 1});
  sent_ = side(context, /*is_sent=*/true);
  received_ = side(context, /*is_sent=*/false);
}

std::unique_ptr<Halo::Side> Halo::side(const runtime::Context& context, bool is_sent) {
  enum HaloEntry : std::size_t { kPack = 2, kUnpack = 3 };
  const std::size_t bytes = numbers_ * number_bytes_;
  const std::size_t room = bytes * neighbours_.size();
  const device::Queue queue = context.device().queue();
  std::vector<std::uint64_t> marks(pitch_ * neighbours_.size());
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = common::first_mark(i % pitch_);
  auto made = std::make_unique<Side>(Side{.kernel = context.replications(1, is_sent ? kPack : kUnpack),
                                          .marks = context.buffer(marks.size() * sizeof(std::uint64_t)),
                                          .memory = transport_->allocate(room)});
  made->marks.write(queue, marks.data(), made->marks.bytes());
  queue.finish();
  if (device::is_on_host(made->memory->space())) made->own = context.buffer(room);
  for (std::size_t n = 0; n < neighbours_.size(); ++n) {
    const bool is_below = neighbours_[n].arriving == 1;
    const Tag tag = is_below == is_sent ? kDown : kUp;
    (is_sent ? messages_out_ : messages_in_)
        .push_back({{made->memory.get(), n * bytes, bytes}, neighbours_[n].rank, tag});
  }
  made->kernel.set(0,
                   {{"packed", made->packed()}, {"marks", made->marks}, {"pitch", pitch_}, {"rows", rows_}});
  return made;
}

void Halo::run(Side& side, const device::Queue& queue, const device::Buffer& state, bool is_sent) const {
  for (std::size_t n = 0; n < neighbours_.size(); ++n) {
    const Neighbour& neighbour = neighbours_[n];
    side.kernel.set(0, {{"state", state},
                        {"row", is_sent ? neighbour.leaving : neighbour.arriving},
                        {"place", n * numbers_},
                        {"mark", n * pitch_}});
    constexpr std::size_t kGroup = 16;  // of which the pitch is a multiple
    side.kernel.start_on(queue, 0, {pitch_, kGroup}, nullptr, nullptr);
  }
}

void Halo::exchange(const device::Queue& queue, const device::Buffer& state) {
  if (neighbours_.empty()) return;
  has_exchanged_ = true;
  run(*sent_, queue, state, /*is_sent=*/true);
  if (sent_->own) {
    const std::span<std::byte> host = sent_->memory->host();
    sent_->own->read(queue, host.data(), host.size());
  }
  queue.finish();
  transport_->exchange(messages_out_, messages_in_);
  if (received_->own) {
    const std::span<std::byte> host = received_->memory->host();
    received_->own->write(queue, host.data(), host.size());
  }
  run(*received_, queue, state, /*is_sent=*/false);
}

std::vector<std::int32_t> Halo::ranks_beside() const {
  std::vector<std::int32_t> ranks;
  for (const Neighbour& neighbour : neighbours_) {
    if (std::ranges::find(ranks, neighbour.rank) == ranks.end()) ranks.push_back(neighbour.rank);
  }
  return ranks;
}

std::vector<unsigned long long> Halo::folded(const device::Queue& queue, const Side& side, bool is_sent,
                                             std::size_t& unchanged) const {
  std::vector<std::uint64_t> marks(pitch_ * neighbours_.size());
  side.marks.read(queue, marks.data(), side.marks.bytes());
  queue.finish();
  const std::vector<std::int32_t> ranks = ranks_beside();
  std::vector<unsigned long long> sums(ranks.size());
  const std::vector<transport::Message>& messages = is_sent ? messages_out_ : messages_in_;
  for (std::size_t n = 0; n < neighbours_.size(); ++n) {
    auto sum = static_cast<std::uint64_t>(messages[n].tag);
    for (std::size_t i = 0; i < pitch_; ++i) {
      const std::uint64_t mark = marks[n * pitch_ + i];
      if (has_exchanged_ && mark == common::first_mark(i)) ++unchanged;
      sum = mixed_bits(sum + kRandomStep) ^ mark;
    }
    sums[static_cast<std::size_t>(std::ranges::find(ranks, neighbours_[n].rank) - ranks.begin())] += sum;
  }
  return sums;
}

common::HaloSums Halo::sums(const device::Queue& queue) const {
  common::HaloSums sums;
  if (neighbours_.empty()) return sums;
  sums.neighbours = ranks_beside();
  sums.sent = folded(queue, *sent_, /*is_sent=*/true, sums.unchanged);
  sums.received = folded(queue, *received_, /*is_sent=*/false, sums.unchanged);
  sums.words = numbers_ * neighbours_.size();
  return sums;
}

}  // namespace fabricmark::stencil
