#pragma once

#include <memory>
#include <string>

#include "device/cuda/peer_memory.hpp"
#include "runtime/context.hpp"
#include "transport/messages.hpp"
#include "transport/nvlink/peer_blocks.hpp"
#include "transport/nvlink/windows.hpp"
#include "transport/registry.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Messages between the memories of GPUs of one host, of one process or several, that the sender's GPU copies
/// where they belong, past the host's memory: over NVLink where the GPUs have it. The receiver grants the
/// place in a message of the communicator, and another one tells it that the copy has ended.
class NvlinkTransport : public Transport {
 public:
  NvlinkTransport(const runtime::Context& context, const TransportUse& use);
  [[nodiscard]] std::string name() const override { return "nvlink"; }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation /*operation*/) const override {
    return from == device::MemorySpace::kDeviceBank && to == device::MemorySpace::kDeviceBank;
  }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  [[nodiscard]] std::vector<device::Buffer> reach(Memory& own) override;
  [[nodiscard]] bool has_own_devices() const override;

 private:
  friend class NvlinkTransfer;
  /// A tag that no message of another piece has.
  int own_tag() {
    constexpr int kFirst = 3 << 13;  // above those of grants
    constexpr int kCount = 1 << 13;
    return kFirst + next_tag_++ % kCount;
  }

  const device::Device& device_;
  double timeout_;
  Waiting waiting_;
  bool is_timed_;
  device::Buffer first_;  // by which the GPU is known
  PeerBlocks blocks_;
  device::cuda::Copies copies_;
  Windows incoming_, outgoing_;
  int next_tag_ = 0;
  Transfers transfers_;
};

}  // namespace fabricmark::transport
