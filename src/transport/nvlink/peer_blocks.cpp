#include "transport/nvlink/peer_blocks.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::transport {

using device::cuda::Block;

PeerBlocks::PeerBlocks(runtime::Communicator& ranks, std::shared_ptr<const device::cuda::Gpu> gpu)
    : gpu_(std::move(gpu)),
      sockets_(ranks),
      own_rank_(ranks.rank()),
      peers_(static_cast<std::size_t>(ranks.size())) {}

Grant PeerBlocks::grant(int peer, const device::cuda::PeerMemory& memory, std::size_t bytes) {
  if (seen_gone_ != Block::count_gone()) tell_what_is_gone();
  Peer& other = peers_[static_cast<std::size_t>(peer)];
  const auto [shown, is_new] = other.shown.try_emplace(memory.block->number(), memory.block);
  if (is_new && peer != own_rank_) {
    sockets_.send(peer, {memory.block->number(), memory.block->bytes()}, memory.block->file());
    ++other.sent;
  }
  return {.block = memory.block->number(), .offset = memory.offset, .bytes = bytes, .notes = other.sent};
}

void PeerBlocks::tell_what_is_gone() {
  seen_gone_ = Block::count_gone();
  for (std::size_t place = 0; place < peers_.size(); ++place) {
    const auto rank = static_cast<int>(place);
    Peer& other = peers_[place];
    std::erase_if(other.shown, [&](const auto& one) {
      if (!one.second.expired()) return false;
      if (rank != own_rank_) {
        sockets_.send(rank, {one.first, 0}, {});
        ++other.sent;
      }
      return true;
    });
  }
}

device::cuda::PeerMemory PeerBlocks::memory(int peer, const Grant& grant) {
  Peer& other = peers_[static_cast<std::size_t>(peer)];
  for (; other.received < grant.notes; ++other.received) {
    PeerSockets::Received received = sockets_.receive(peer);
    if (received.note.bytes == 0) {
      other.known.erase(received.note.block);
    } else {
      other.known[received.note.block] = Block::open(gpu_, std::move(received.file), received.note.bytes);
    }
  }
  const auto known = other.known.find(grant.block);
  const std::shared_ptr<const Block> block = peer == own_rank_            ? other.shown[grant.block].lock()
                                             : known == other.known.end() ? nullptr
                                                                          : known->second;
  if (!block || grant.offset + grant.bytes > block->bytes()) {
    throw environment_failure(fmt::format("rank {} has granted memory that it has not shown", peer),
                              "use --transport host");
  }
  return {block, grant.offset};
}

}  // namespace fabricmark::transport
