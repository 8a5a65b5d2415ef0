#pragma once

#include <vector>

#include "transport/host/host_transport.hpp"

namespace fabricmark::transport {

/// Part of a message, with its place in the staging memory; bytes.
struct Chunk {
  const Message* message = nullptr;
  std::size_t start = 0;  ///< in the message
  std::size_t bytes = 0;
  std::size_t staged = 0;
};

/// Through staging memory: what has left the device is sent while the next leaves it, and what has arrived is
/// written while the next arrives. One piece may be the whole message.
class StagedTransfer : public Transfer {
 public:
  explicit StagedTransfer(HostTransport& transport);
  /// Of the next start: whole messages with the least commands and events, for short ones. The host waits for
  /// all copies of a direction at once.
  void set_eager(bool is_eager) { is_eager_ = is_eager; }

 private:
  void begin() override;
  [[nodiscard]] bool advance() override;
  void idle() override;
  void give_up() noexcept override;
  /// Waits for all that leaves the device, and sends it.
  void send_at_once();
  void cut(std::span<const Message> messages, std::vector<Chunk>& chunks) const;

  HostTransport& transport_;
  Messages messages_;
  device::PinnedMemory outgoing_, incoming_;  // staging memory
  std::vector<Chunk> out_, in_;
  device::Events copied_;  // from the device, [position in out_]
  device::Event written_all_;
  std::size_t sent_ = 0;     // of out_
  std::size_t written_ = 0;  // of in_, whose messages are the first
  std::size_t open_ = 0;     // the first message that is not known to be done
  std::size_t looked_at_ = 0;
  bool is_eager_ = false;
};

}  // namespace fabricmark::transport
