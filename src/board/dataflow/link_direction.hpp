#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/interface.hpp"
#include "board/dataflow/peers.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

class Kernel;
class Worker;

/// Where an event of a link happens: on a device and a port, and who decides there; null in another process.
struct Place {
  int device = 0;
  int port = 0;
  Worker* worker = nullptr;
};

/// A direction of a link in which what becomes of a word depends on times, so that it is decided when all
/// before it is known (conservative simulation). Slower than credits, whose times follow from each other.
class LinkDirection : public Interface {
 public:
  // By the kernel that runs, which is the writer or the reader; push and pop return how long it had to wait.

  struct Stall {
    network::Time for_link = 0;
    network::Time for_space = 0;
  };
  virtual Stall push(Kernel& writer, std::span<const std::byte> word) = 0;
  virtual network::Time pop(Kernel& reader, std::span<std::byte> word) = 0;
  virtual bool is_empty(Kernel& reader) = 0;
  virtual bool is_full(Kernel& writer) = 0;

  /// While neither end runs: what one has sent to the other becomes due there. False where that is nothing.
  virtual bool meet() = 0;
  // What goes to another process, and comes from there.
  [[nodiscard]] virtual bool has_untold(bool is_writer) const = 0;
  virtual void pack(Packet& packet, bool is_writer) = 0;
  virtual void unpack(Packet& packet, bool is_writer, std::size_t word_bytes) = 0;

  /// Words that found no place.
  [[nodiscard]] virtual std::uint64_t overruns() const = 0;
  /// Words in buffers and in flight.
  [[nodiscard]] virtual std::uint64_t fill() const = 0;
  [[nodiscard]] virtual std::size_t places() const = 0;
};

}  // namespace fabricmark::dataflow
