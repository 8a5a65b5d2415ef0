#include "fabric/dataflow/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.hpp"

namespace fabricmark::dataflow {

namespace {

constexpr int kLengthTag = 0;
constexpr int kWordsTag = 1;
constexpr int kParcelTag = 2;

}  // namespace

void Packet::get(void* data, std::size_t bytes) {
  if (bytes_.size() - read_ < bytes) {
    throw environment_failure("a packet of the fabric ends too early", "run the same program on all ranks");
  }
  std::memcpy(data, bytes_.data() + read_, bytes);
  read_ += bytes;
}

/// One that is open. What is sent stays until it has left.
struct Peers::Meeting {
  std::vector<Packet> sent;                      // [rank]
  std::vector<std::uint64_t> sent_bytes;         // [rank]
  std::vector<std::uint64_t> arriving_bytes;     // [rank]
  std::vector<std::vector<std::byte>> arriving;  // [rank]
  std::vector<Moving> lengths;                   // that arrive
  std::vector<Moving> words;                     // and all that leaves
  bool knows_lengths = false;
};

Peers::Peers(std::unique_ptr<runtime::Communicator> ranks)
    : ranks_(std::move(ranks)), before_(static_cast<std::size_t>(ranks_->size())) {}

Peers::~Peers() {
  for (Moving& one : leaving_parcels_) ranks_->cancel(one.request);
  for (Moving& one : arriving_parcels_) ranks_->cancel(one.request);
  if (!meeting_) return;
  for (Moving& one : meeting_->lengths) ranks_->cancel(one.request);
  for (Moving& one : meeting_->words) ranks_->cancel(one.request);
}

bool Peers::has_answered() const {
  return std::ranges::any_of(before_, [this](const Said& said) {
    return std::ranges::any_of(said.awaited,
                               [this](const auto& letter) { return ranks_->has_answered(letter); });
  });
}

void Peers::begin_meeting(const Report& own, std::vector<Packet> packets,
                          const std::vector<std::vector<std::span<const std::byte>>>& parcels) {
  meeting_ = std::make_unique<Meeting>();
  Meeting& now = *meeting_;
  Packet said;
  said.put(own.next);
  said.put(own.has_news);
  said.put(own.has_finished);
  said.put(has_answered());
  said.put(awaited_.has_value());
  const std::vector<runtime::Letter> awaited = awaited_.value_or(std::vector<runtime::Letter>{});
  said.put<std::uint64_t>(awaited.size());
  for (const runtime::Letter& letter : awaited) said.put(letter);
  const auto places = static_cast<std::size_t>(size());
  now.sent.assign(places, said);
  now.sent_bytes.resize(places);
  now.arriving_bytes.resize(places);
  now.arriving.resize(places);
  for (int rank = 0; rank < size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    now.sent[place].put(packets[place].bytes().data(), packets[place].bytes().size());
    now.sent_bytes[place] = now.sent[place].bytes().size();
    if (rank == this->own()) continue;
    const auto length = std::as_writable_bytes(std::span(&now.arriving_bytes[place], 1));
    now.lengths.push_back({ranks_->start_receive(rank, length, kLengthTag), rank});
  }
  for (int rank = 0; rank < size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (rank == this->own()) continue;
    const auto length = std::as_bytes(std::span(&now.sent_bytes[place], 1));
    now.words.push_back({ranks_->start_send(rank, length, kLengthTag), rank});
    now.words.push_back({ranks_->start_send(rank, now.sent[place].bytes(), kWordsTag), rank});
    if (parcels.empty()) continue;
    for (const auto& parcel : parcels[place]) {
      leaving_parcels_.push_back({ranks_->start_send(rank, parcel, kParcelTag), rank});
    }
  }
}

void Peers::receive_parcels(int from, const std::vector<std::span<std::byte>>& places) {
  for (const auto& place : places) {
    arriving_parcels_.push_back({ranks_->start_receive(from, place, kParcelTag), from});
  }
}

void Peers::finish_parcels() {
  while (!have_moved(arriving_parcels_, true) || !have_moved(leaving_parcels_, true)) continue;
}

bool Peers::have_moved(std::vector<Moving>& moving, bool waits) {
  constexpr int kLooks = 256;
  runtime::Patience patience(*ranks_, runtime::Waiting::kYield, ranks_->timeout());
  // All of them in each look: between threads a message leaves when its receiver looks.
  for (int look = 0; waits || look < kLooks; ++look) {
    std::erase_if(moving, [this](Moving& one) { return ranks_->test(one.request); });
    if (moving.empty()) return true;
    if (patience.is_over()) {
      throw runtime::DeadlineError(fmt::format("no sign of a message from or to rank {} in {} s",
                                               moving.front().peer, ranks_->timeout().count()));
    }
  }
  return false;
}

Peers::Said Peers::hear(Packet& packet) const {
  Said said;
  said.report.next = packet.get<fabric::Time>();
  said.report.has_news = packet.get<bool>();
  said.report.has_finished = packet.get<bool>();
  said.has_answered = packet.get<bool>();
  said.is_passing = packet.get<bool>();
  for (auto count = packet.get<std::uint64_t>(); count > 0; --count) {
    said.awaited.push_back(packet.get<runtime::Letter>());
  }
  return said;
}

std::optional<Report> Peers::end_meeting(std::vector<Packet>& packets, bool waits) {
  Meeting& now = *meeting_;
  // Lengths first: who receives must know them. Longer words leave only when they are received.
  if (!have_moved(now.lengths, waits)) return std::nullopt;
  if (!std::exchange(now.knows_lengths, true)) {
    for (int rank = 0; rank < size(); ++rank) {
      const auto place = static_cast<std::size_t>(rank);
      if (rank == own()) continue;
      now.arriving[place].resize(now.arriving_bytes[place]);
      now.words.push_back({ranks_->start_receive(rank, now.arriving[place], kWordsTag), rank});
    }
  }
  if (!have_moved(now.words, waits)) return std::nullopt;
  Report together{fabric::kEndOfTime, false, true, false};
  for (int rank = 0; rank < size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    packets[place] = rank == own() ? now.sent[place] : Packet(std::move(now.arriving[place]));
    Said said = hear(packets[place]);
    together.next = std::min(together.next, said.report.next);
    together.has_news |= said.report.has_news;
    together.has_finished &= said.report.has_finished;
    together.may_go_on |= said.has_answered;
    together.may_go_on |= said.is_passing && (said.awaited.empty() || said.awaited != before_[place].awaited);
    before_[place] = std::move(said);
  }
  meeting_.reset();
  return together;
}

}  // namespace fabricmark::dataflow
