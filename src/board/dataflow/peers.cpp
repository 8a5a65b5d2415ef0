#include "board/dataflow/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/error.hpp"

namespace fabricmark::dataflow {

namespace {

constexpr int kBeginningTag = 0;
constexpr int kRestTag = 1;
constexpr int kParcelTag = 2;
constexpr std::size_t kBeginningBytes = 248;

}  // namespace

void Packet::get(void* data, std::size_t bytes) {
  if (bytes_.size() - read_ < bytes) {
    throw environment_failure("a packet of the fabric ends too early", "run the same program on all ranks");
  }
  if (bytes > 0) std::memcpy(data, bytes_.data() + read_, bytes);  // `data` may be null where there are none
  read_ += bytes;
}

/// Its memory stays for the next one: there are many, and most are short.
struct Peers::Meeting {
  /// The first message to each. Of one length, so that its receiver need not ask for that before; most
  /// meetings have no more to say.
  struct Beginning {
    std::uint64_t all_bytes = 0;  // of what is said
    std::array<std::byte, kBeginningBytes> bytes{};
  };
  struct WithRank {
    Packet sent;
    Beginning sent_beginning;
    Beginning arriving_beginning;
    std::vector<std::byte> arriving;
  };
  std::vector<WithRank> with;      // [rank]
  std::vector<Moving> beginnings;  // that arrive; wanted from the end of the meeting before on
  std::vector<Moving> rests;       // and all that leaves
  bool has_beginnings = false;
  bool is_open = false;
};

Peers::Peers(std::unique_ptr<runtime::Communicator> ranks)
    : ranks_(std::move(ranks)),
      meeting_(std::make_unique<Meeting>()),
      before_(static_cast<std::size_t>(ranks_->size())) {
  meeting_->with.resize(static_cast<std::size_t>(ranks_->size()));
  want_beginnings();
}

Peers::~Peers() {
  for (Moving& one : leaving_parcels_) ranks_->cancel(one.request);
  for (Moving& one : arriving_parcels_) ranks_->cancel(one.request);
  for (Moving& one : meeting_->beginnings) ranks_->cancel(one.request);
  for (Moving& one : meeting_->rests) ranks_->cancel(one.request);
}

bool Peers::has_answered() const {
  return std::ranges::any_of(before_, [this](const Said& said) {
    return std::ranges::any_of(said.awaited, [this](const auto& one) { return ranks_->has_answered(one); });
  });
}

bool Peers::is_meeting() const { return meeting_->is_open; }

void Peers::want_beginnings() {
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == own()) continue;
    const auto arriving = std::span(&meeting_->with[static_cast<std::size_t>(rank)].arriving_beginning, 1);
    meeting_->beginnings.push_back(
        {ranks_->start_receive(rank, std::as_writable_bytes(arriving), kBeginningTag), rank});
  }
}

void Peers::say(const Report& own, Packet& packet) const {
  packet.clear();
  packet.put(own.next);
  packet.put(own.has_news);
  packet.put(own.has_finished);
  packet.put(own.has_ended);
  packet.put(has_answered());
  packet.put(awaited_.has_value());
  packet.put<std::uint64_t>(awaited_ ? awaited_->size() : 0);
  if (!awaited_) return;
  for (const runtime::Awaited& one : *awaited_) packet.put(one);
}

void Peers::begin_meeting(const Report& own, const std::vector<Packet>& packets,
                          const std::vector<std::vector<std::span<const std::byte>>>& parcels) {
  Meeting& now = *meeting_;
  now.is_open = true;
  const auto self = static_cast<std::size_t>(this->own());
  Packet& said = now.with[self].sent;
  say(own, said);
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == this->own()) continue;
    const auto place = static_cast<std::size_t>(rank);
    Packet& sent = now.with[place].sent;
    sent.clear();
    sent.put(said.bytes().data(), said.bytes().size());
    sent.put(packets[place].bytes().data(), packets[place].bytes().size());
    const std::span<const std::byte> all = sent.bytes();
    Meeting::Beginning& beginning = now.with[place].sent_beginning;
    beginning.all_bytes = all.size();
    std::ranges::copy(all.first(std::min(all.size(), kBeginningBytes)), beginning.bytes.begin());
    now.rests.push_back(
        {ranks_->start_send(rank, std::as_bytes(std::span(&beginning, 1)), kBeginningTag), rank});
    if (all.size() > kBeginningBytes) {
      now.rests.push_back({ranks_->start_send(rank, all.subspan(kBeginningBytes), kRestTag), rank});
    }
    if (parcels.empty()) continue;
    for (const auto& parcel : parcels[place]) {
      leaving_parcels_.push_back({ranks_->start_send(rank, parcel, kParcelTag), rank});
    }
  }
  said.put(packets[self].bytes().data(), packets[self].bytes().size());
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
  constexpr int kLooksPerYield = 16;
  runtime::Patience patience(*ranks_, runtime::Waiting::kYield, ranks_->timeout());
  // All of them in each look: between threads a message leaves when its receiver looks.
  for (int look = 0; waits || look < kLooks; ++look) {
    std::erase_if(moving, [this](Moving& one) { return ranks_->test(one.request); });
    if (moving.empty()) return true;
    if (look % kLooksPerYield != 0) continue;
    if (patience.is_over()) throw ranks_->no_sign_of_message(moving.front().peer);
  }
  return false;
}

Peers::Said Peers::hear(Packet& packet) const {
  Said said;
  said.report.next = packet.get<network::Time>();
  said.report.has_news = packet.get<bool>();
  said.report.has_finished = packet.get<bool>();
  said.report.has_ended = packet.get<bool>();
  said.has_answered = packet.get<bool>();
  said.is_passing = packet.get<bool>();
  for (auto count = packet.get<std::uint64_t>(); count > 0; --count) {
    said.awaited.push_back(packet.get<runtime::Awaited>());
  }
  return said;
}

void Peers::receive_rests() {
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == own()) continue;
    const Meeting::Beginning& beginning = meeting_->with[static_cast<std::size_t>(rank)].arriving_beginning;
    std::vector<std::byte>& all = meeting_->with[static_cast<std::size_t>(rank)].arriving;
    all.resize(beginning.all_bytes);
    const std::size_t known = std::min(all.size(), kBeginningBytes);
    std::copy_n(beginning.bytes.begin(), known, all.begin());
    if (all.size() == known) continue;
    meeting_->rests.push_back({ranks_->start_receive(rank, std::span(all).subspan(known), kRestTag), rank});
  }
}

std::optional<Report> Peers::end_meeting(std::vector<Packet>& packets, bool waits) {
  Meeting& now = *meeting_;
  // Beginnings first: they say how long the rest is, which leaves only when it is received.
  if (!have_moved(now.beginnings, waits)) return std::nullopt;
  if (!std::exchange(now.has_beginnings, true)) receive_rests();
  if (!have_moved(now.rests, waits)) return std::nullopt;
  Report together{.has_finished = true};
  for (int rank = 0; rank < size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (rank == own()) {
      std::swap(packets[place], now.with[place].sent);
      packets[place].read_again();
    } else {
      packets[place].take(now.with[place].arriving);
    }
    Said said = hear(packets[place]);
    together.next = std::min(together.next, said.report.next);
    together.has_news |= said.report.has_news;
    together.has_finished &= said.report.has_finished;
    together.has_ended |= said.report.has_ended;
    together.may_go_on |= said.has_answered;
    together.may_go_on |= said.is_passing && (said.awaited.empty() || said.awaited != before_[place].awaited);
    before_[place] = std::move(said);
  }
  now.has_beginnings = now.is_open = false;
  want_beginnings();
  return together;
}

}  // namespace fabricmark::dataflow
