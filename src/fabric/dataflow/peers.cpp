#include "fabric/dataflow/peers.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.hpp"

namespace fabricmark::dataflow {

namespace {

constexpr int kTag = 0;

}  // namespace

void Packet::get(void* data, std::size_t bytes) {
  if (bytes_.size() - read_ < bytes) {
    throw environment_failure("a packet of the fabric ends too early", "run the same program on all ranks");
  }
  std::memcpy(data, bytes_.data() + read_, bytes);
  read_ += bytes;
}

Report Peers::exchange(const Report& own, std::vector<Packet>& packets) {
  Packet said;
  said.put(own.next);
  said.put(own.has_news);
  said.put(own.has_finished);
  for (const Packet& packet : packets) said.put<std::uint64_t>(packet.bytes().size());
  const auto all = ranks_->all_gather(said.bytes());

  Report together{fabric::kEndOfTime, false, true};
  std::vector<std::vector<std::byte>> arriving(packets.size());
  for (int rank = 0; rank < size(); ++rank) {
    Packet from(all[static_cast<std::size_t>(rank)]);
    together.next = std::min(together.next, from.get<fabric::Time>());
    together.has_news |= from.get<bool>();
    together.has_finished &= from.get<bool>();
    for (int to = 0; to < size(); ++to) {
      const auto bytes = from.get<std::uint64_t>();
      if (to == this->own() && rank != to) arriving[static_cast<std::size_t>(rank)].resize(bytes);
    }
  }
  struct Moving {
    runtime::Request request;
    int peer;
  };
  std::vector<Moving> moving;
  for (int rank = 0; rank < size(); ++rank) {
    auto& bytes = arriving[static_cast<std::size_t>(rank)];
    if (!bytes.empty()) moving.push_back({ranks_->start_receive(rank, bytes, kTag), rank});
  }
  for (int rank = 0; rank < size(); ++rank) {
    const auto& bytes = packets[static_cast<std::size_t>(rank)].bytes();
    if (rank != this->own() && !bytes.empty())
      moving.push_back({ranks_->start_send(rank, bytes, kTag), rank});
  }
  for (Moving& one : moving) ranks_->wait(one.request, one.peer, runtime::Waiting::kYield);
  for (std::size_t rank = 0; rank < packets.size(); ++rank) packets[rank] = Packet(std::move(arriving[rank]));
  return together;
}

}  // namespace fabricmark::dataflow
