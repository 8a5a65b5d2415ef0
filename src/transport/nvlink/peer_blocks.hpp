#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "device/cuda/peer_memory.hpp"
#include "transport/nvlink/peer_sockets.hpp"

namespace fabricmark::transport {

/// Where a message is to go: part of a block of the receiver's memory.
struct Grant {
  std::uint64_t block = 0;   ///< by the number that the receiver has given it; 0: none yet
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t bytes = 0;
  std::uint64_t notes = 0;  ///< that the receiver has sent of its blocks so far
  int reply_tag = 0;        ///< without a block: where a sender that is ready asks for one
  int unused = 0;
};

/// The blocks of memory that this rank has shown to others, and theirs.
class PeerBlocks {
 public:
  PeerBlocks(runtime::Communicator& ranks, std::shared_ptr<const device::cuda::Gpu> gpu);

  /// Shows the block to the peer, where it does not know it, and says what has gone since.
  Grant grant(int peer, const device::cuda::PeerMemory& memory, std::size_t bytes);
  /// What a peer has granted, as this rank's GPU reaches it. Throws Error (environment) where it does not.
  device::cuda::PeerMemory memory(int peer, const Grant& grant);

 private:
  struct Peer {
    std::map<std::uint64_t, std::weak_ptr<const device::cuda::Block>> shown;
    std::map<std::uint64_t, std::shared_ptr<const device::cuda::Block>> known;
    std::uint64_t sent = 0;      // notes
    std::uint64_t received = 0;  // notes
  };
  void tell_what_is_gone();

  std::shared_ptr<const device::cuda::Gpu> gpu_;
  PeerSockets sockets_;
  int own_rank_;
  std::vector<Peer> peers_;      // [rank]
  std::uint64_t seen_gone_ = 0;  // blocks of this process, when they were looked through last
};

}  // namespace fabricmark::transport
