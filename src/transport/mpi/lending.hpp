#pragma once

#include <optional>
#include <span>
#include <vector>

#include "transport/mpi/mpi_transport.hpp"

namespace fabricmark::transport {

/// What MPI has of the devices' memory while messages of one direction are in flight. Shared virtual memory
/// is mapped for the host, run by run: messages that lie one behind the other at once. A memory object goes
/// as its handle; a handle has no offset, so that a message further behind goes as the handle of a view,
/// which begins at a multiple of the device's alignment. Messages at other places go over memory of their
/// own on the device.
class Lending {
 public:
  Lending(MpiTransport& transport, const device::Queue& queue, bool for_writing)
      : transport_(transport), queue_(queue), for_writing_(for_writing) {}
  /// Waits until the device has given the memory.
  void lend(std::span<const Message> messages);
  /// Addresses or handles as bytes that nobody but MPI may look at; in pieces that it takes as a whole.
  [[nodiscard]] std::span<const HostMessage> messages() const { return messages_; }
  /// Waits until the device has it again, with what has arrived.
  void take_back();
  /// The same, where messages have been given up.
  void give_up();

 private:
  /// Of shared virtual memory, mapped or to be mapped.
  struct Run : Region {
    std::byte* data = nullptr;
  };
  /// A message at a place where no view can begin, and where its bytes lie instead.
  struct Moved {
    Message message;
    std::size_t place = 0;
  };

  void map(std::span<const Message> messages);
  void unmap();
  void give_handles(std::span<const Message> messages);
  /// `of(start, bytes)` is a view of so many bytes of the message.
  template <typename View>
  void give_views(const Message& message, const View& of);
  [[nodiscard]] bool can_begin_at(std::size_t offset) const;

  MpiTransport& transport_;
  const device::Queue& queue_;
  bool for_writing_;
  std::vector<HostMessage> messages_;
  std::vector<Run> runs_;
  std::vector<device::Buffer> views_;
  std::vector<Moved> moved_;
  std::optional<Memory> aside_;  // where moved messages lie
};

}  // namespace fabricmark::transport
