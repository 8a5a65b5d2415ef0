#pragma once

#include <vector>

#include "device/memory.hpp"
#include "fabric/messages.hpp"
#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Messages between the device memories of ranks over their hosts: device, host, MPI, host, device
/// (Meyer 2024, section 4.1.1.1). A long message goes in chunks, so that the copy of one overlaps the
/// transfer of another; where the device's memory is the host's there is nothing to overlap, and it leaves
/// from mapped memory without any copy. How a device is reached is each rank's own matter; in which pieces
/// their messages travel, two ranks agree when the transport is made.
class HostTransport : public Transport {
 public:
  /// Chunks of `chunk_bytes`; 0: messages go whole. `zero_copy` false: in chunks on every device. Collective:
  /// the ranks tell each other the pieces that they need.
  HostTransport(const runtime::Context& context, std::size_t chunk_bytes, bool zero_copy = true,
                Waiting waiting = Waiting::kSpin);
  [[nodiscard]] std::string name() const override { return "host"; }
  [[nodiscard]] std::unique_ptr<MessageBuffer> allocate(std::size_t bytes) override;
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override;

  /// The steps of an exchange one by one, for messages as a whole: from the devices to staging memory,
  /// between the staging memories, and from there to the devices. `staged` is where in the staging memory the
  /// messages lie, one behind the other, in bytes.
  void read_step(std::span<const Message> sends, std::size_t staged = 0);
  void message_step(std::span<const Message> sends, std::span<const Message> receives,
                    std::size_t staged = 0);
  void write_step(std::span<const Message> receives, std::size_t staged = 0);
  /// The first `bytes` of the staging memory of what is sent and of what is received.
  [[nodiscard]] std::span<std::byte> staged_sends(std::size_t bytes);
  [[nodiscard]] std::span<std::byte> staged_receives(std::size_t bytes);

 private:
  /// Part of a message, with its place in the staging memory.
  struct Chunk {
    const Message* message = nullptr;
    std::size_t start = 0;  ///< in the message
    std::size_t bytes = 0;
    std::size_t staged = 0;  ///< in the staging memory
  };
  /// In pieces of what is agreed with each peer, or with `whole` one for each message.
  [[nodiscard]] std::vector<Chunk> chunks(std::span<const Message> messages, bool whole) const;
  [[nodiscard]] bool is_mapped() const { return chunk_bytes_ > 0 && zero_copy_ && shares_memory_; }
  /// True for a message that travels in more than one piece.
  [[nodiscard]] bool is_cut(const Message& message) const;
  void exchange_in_chunks(std::span<const Message> sends, std::span<const Message> receives);
  void exchange_mapped(std::span<const Message> sends, std::span<const Message> receives);
  void reserve(std::size_t outgoing_bytes, std::size_t incoming_bytes);

  runtime::Communicator& ranks_;
  const device::Device& device_;
  double timeout_;
  Waiting waiting_;
  device::MemoryKind memory_;
  std::size_t chunk_bytes_;
  bool zero_copy_;
  bool shares_memory_;  ///< the device's memory is the host's, and its copies run on the host's cores
  std::vector<std::size_t> pieces_;  ///< bytes, agreed with each rank; 0: messages travel whole
  device::Queue reads_;
  device::Queue writes_;
  device::PinnedMemory outgoing_;
  device::PinnedMemory incoming_;
};

}  // namespace fabricmark::fabric
