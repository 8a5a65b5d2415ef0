#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/context.hpp"
#include "transport/host/host_protocol.hpp"
#include "transport/host/own_messages.hpp"
#include "transport/host/staging.hpp"
#include "transport/messages.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Messages between the device memories of ranks over their hosts: device, host, MPI, host, device
/// (Meyer 2024, section 4.1.1.1). How a device is reached is each rank's own matter; in which pieces their
/// messages travel, two ranks agree when the transport is made, or by what all have measured in `tune`. Ranks
/// of one node may have staging memory in common: device, host, device (near_ranks.hpp).
class HostTransport : public Transport {
 public:
  static constexpr const char* kName = "host";
  /// As measured by `tune`; before that, messages of more than 256 KiB in pieces or mapped.
  static constexpr std::int64_t kMeasured = -1;

  struct Use {
    double timeout_seconds = 60;
    bool is_timed = false;                                    ///< its events carry times
    device::MemoryKind memory = device::MemoryKind::kBuffer;  ///< that `allocate` makes
    /// Messages longer than this go in chunks of so many bytes, or where the device's memory is the host's
    /// and `zero_copy` is set, from mapped memory; 0: all whole.
    std::int64_t chunk_bytes = kMeasured;
    bool zero_copy = true;
    Waiting waiting = Waiting::kSpin;
    StagingUse staging = StagingUse::kMeasured;  ///< the same on all ranks
    std::int64_t slots = kMeasured;              ///< of a message in shared memory
  };
  /// `ranks` and `device` have to live as long. Collective: the ranks tell each other the pieces that they
  /// need, and find out which of them are near. Throws Error (environment) where staging memory is to be
  /// shared and no two ranks can.
  HostTransport(runtime::Communicator& ranks, const device::Device& device, const Use& use);
  [[nodiscard]] std::string name() const override { return kName; }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation /*operation*/) const override {
    return device::is_on_device(from) && device::is_on_device(to);
  }
  [[nodiscard]] bool is_over_hosts() const override { return true; }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  [[nodiscard]] std::vector<std::string> protocols(std::size_t bytes) const override;
  void take(std::size_t size_class, const std::string& protocol) override;
  [[nodiscard]] std::unique_ptr<Steps> steps() override;

  /// Bytes of the pieces that a message travels in: all of it, where it is not cut.
  [[nodiscard]] std::size_t piece_bytes(const Message& message) const;
  /// Messages that begin together as the pieces that travel, in their order: the first pieces of all messages
  /// come before the second ones, so that both directions start at once. For those on the other side that
  /// have no device.
  [[nodiscard]] std::vector<Message> in_pieces(std::span<const Message> messages) const;

 private:
  friend class StagedTransfer;
  friend class MappedTransfer;
  friend class HostSteps;
  friend class SharedTransfer;
  /// Calls `take` with each piece's message, the bytes of the messages before that, and where in the message
  /// the piece begins and how long it is; in the order of in_pieces.
  template <typename Take>
  void for_each_piece(std::span<const Message> messages, Take&& take) const {
    for (std::size_t round = 0, found = 1; found > 0; ++round) {
      found = 0;
      std::size_t base = 0;
      for (const Message& message : messages) {
        const std::size_t step = piece_bytes(message);
        const std::size_t start = round * step;
        if (start < message.bytes) {
          take(message, base, start, std::min(step, message.bytes - start));
          ++found;
        }
        base += message.bytes;
      }
    }
  }
  [[nodiscard]] HostProtocol protocol(std::size_t bytes) const;
  [[nodiscard]] std::vector<HostProtocol> open_protocols(std::size_t bytes) const;
  [[nodiscard]] bool is_measured() const { return chunk_bytes_ < 0; }
  /// Whether a message goes through shared memory; its sender and its receiver find the same.
  [[nodiscard]] bool is_shared(const Message& message) const;
  /// The transfer for messages of which none is shared, or all are.
  std::shared_ptr<Transfer> transfer_for(std::span<const Message> sends, std::span<const Message> receives,
                                         bool is_shared);
  std::shared_ptr<Transfer> mixed_transfer(std::span<const Message> sends, std::span<const Message> receives);
  /// The transfer for messages to other ranks, or such of this rank to itself as are not copied.
  std::shared_ptr<Transfer> transfer_of(std::span<const Message> sends, std::span<const Message> receives);
  /// What another rank's transfer has at this address. Throws Error (environment) where it is there no more.
  std::shared_ptr<SharedStaging> staging_of(int peer, std::uint64_t transfer, const SharedAddress& address,
                                            std::size_t lanes);

  const device::Device& device_;
  double timeout_;
  Waiting waiting_;
  bool is_timed_;
  device::MemoryKind memory_;
  std::int64_t chunk_bytes_;
  bool zero_copy_;
  StagingUse staging_;
  std::int64_t slots_;
  bool shares_memory_;   ///< the device's memory is the host's, and its copies run on the host's cores
  HostChoice choice_{};  ///< the same on all ranks
  std::vector<HostProtocol> measured_;  ///< [size class]; empty before it was measured; `protocol`, which the
                                        ///< next needs, looks at it
  std::vector<std::size_t> pieces_;     ///< bytes, agreed with each rank; 0: messages travel whole
  std::vector<bool> near_;              ///< [rank]; empty where no memory is to be shared
  device::Queue reads_;
  device::Queue writes_;
  std::map<std::pair<int, std::uint64_t>, std::shared_ptr<SharedStaging>>
      others_;  ///< staging memory by rank and its transfer
  std::uint64_t shared_transfers_ = 0;
  OwnMessages own_messages_{ranks().rank()};
  Transfers transfers_;
};

}  // namespace fabricmark::transport
