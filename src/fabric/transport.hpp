#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "fabric/messages.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::fabric {

/// Memory of this rank that messages leave from and arrive in: on the host or on the device, as the transport
/// needs.
class MessageBuffer {
 public:
  virtual ~MessageBuffer() = default;
  MessageBuffer() = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;

  /// Copies from and to the host's memory, outside of any message. Offsets and sizes in bytes.
  virtual void write(std::size_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read(std::size_t offset, std::span<std::byte> bytes) = 0;
  /// The host's memory behind it; empty where messages leave from the device's.
  virtual std::span<std::byte> host_memory() { return {}; }
  /// The device's memory behind it, for kernels to work on; null where messages leave from the host's memory.
  [[nodiscard]] virtual device::Buffer* device_memory() { return nullptr; }
};

/// One message: part of a buffer, the other rank, and a tag that tells messages of the same two ranks apart.
struct Message {
  MessageBuffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  int peer = 0;
  int tag = 0;
};

/// Moves messages between ranks. Benchmarks see nothing else of a network.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::unique_ptr<MessageBuffer> allocate(std::size_t bytes) = 0;
  /// Sends and receives at the same time; returns when all have left and arrived. Throws Error (environment)
  /// that names the rank and the message when one does not arrive in time.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
};

/// The transport of this name: "cpu" or "host" (device, host, MPI, host, device). A message longer than
/// `chunk_bytes` goes over the host in chunks whose copies and transfers overlap, or where the device's
/// memory is the host's and `zero_copy` is set, without copies; 0: always whole. `waiting`: kSleep where
/// messages are under way while the device computes. Wrapped to make the fault of the context's conditions,
/// where that is one of messages. Throws Error (bad use) for another name.
std::unique_ptr<Transport> make_transport(const std::string& name, std::size_t chunk_bytes,
                                          const runtime::Context& context, bool zero_copy = true,
                                          Waiting waiting = Waiting::kSpin);

/// True for faults that a transport makes, not the benchmark: a lost, late, blank or half message, or swapped
/// ones where the fault names no target.
bool is_message_fault(const runtime::Fault& fault);

}  // namespace fabricmark::fabric
