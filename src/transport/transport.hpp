#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "device/event.hpp"
#include "runtime/communicator.hpp"
#include "transport/memory.hpp"

namespace fabricmark::transport {

/// What a transport may do with regions of memory.
enum class Operation {
  kMessage,     ///< send and receive
  kCollective,  ///< of all ranks
};

/// The steps of an exchange one by one, to be timed by themselves, of a transport that has such. They take
/// messages as a whole, and make no faults.
class Steps : public Interface {
 public:
  /// Where a step leaves the bytes.
  enum class Place {
    kSent,      ///< in the staging memory of what is sent
    kReceived,  ///< in the staging memory of what is received
    kArrived,   ///< in the regions of the messages
  };
  struct Step {
    std::string name;
    Place place = Place::kArrived;
  };

  /// In the order in which they make an exchange.
  [[nodiscard]] virtual std::vector<Step> steps() const = 0;
  /// Takes step number `step`; `staged` is where the messages lie in the staging memories, one behind the
  /// other, in bytes.
  virtual void take(std::size_t step, std::span<const Message> sends, std::span<const Message> receives,
                    std::size_t staged) = 0;
  /// The first `bytes` of a staging memory.
  [[nodiscard]] virtual std::span<std::byte> staged(Place place, std::size_t bytes) = 0;
};

/// Moves regions of memory between ranks. Benchmarks see nothing else of a network.
class Transport : public Interface {
 public:
  explicit Transport(runtime::Communicator& ranks) : ranks_(ranks) {}

  [[nodiscard]] virtual std::string name() const = 0;
  /// Whether it does that from memory of one space to memory of another.
  [[nodiscard]] virtual bool supports(device::MemorySpace from, device::MemorySpace to,
                                      Operation operation) const = 0;
  /// Whether its messages go from host to host, so that they can be simulated as those of a described system.
  [[nodiscard]] virtual bool is_over_hosts() const { return false; }
  /// Memory of the space that it serves best.
  [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;

  /// Sends and receives at the same time, once `after` have ended; returns at once. Its event ends when all
  /// have left and arrived; its errors are those of Transfer.
  virtual device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                              const device::Events& after = {}) = 0;
  device::Event send(const Message& message, const device::Events& after = {}) {
    return start({&message, 1}, {}, after);
  }
  device::Event receive(const Message& message, const device::Events& after = {}) {
    return start({}, {&message, 1}, after);
  }
  /// Returns when all have left and arrived.
  void exchange(std::span<const Message> sends, std::span<const Message> receives) {
    start(sends, receives).wait();
  }

  /// `own` of every rank, [rank], as kernels of this one read and write it, without any message; it stays as
  /// long as the rank's own does, and nothing tells when another rank has written it. Empty, on all ranks,
  /// where one of them does not reach another one's. Collective.
  [[nodiscard]] virtual std::vector<device::Buffer> reach(Memory& /*own*/) { return {}; }

  /// Whether each rank has a device of its own, so that a kernel may wait for another rank's. Collective.
  [[nodiscard]] virtual bool has_own_devices() const { return false; }

  // Collectives: all ranks start them in the same order; none returns before its part is in progress.

  /// Part number r of `outgoing` goes to rank r, where it becomes part number (sender) of `incoming`. Both
  /// have as many parts of the same size as there are ranks.
  virtual device::Event all_to_all(const Region& outgoing, const Region& incoming,
                                   const device::Events& after = {});
  /// The region of every rank becomes part number (its rank) of everybody's `all`.
  virtual device::Event all_gather(const Region& own, const Region& all, const device::Events& after = {});
  /// The root's region goes to all others'.
  virtual device::Event broadcast(const Region& region, int root, const device::Events& after = {});

  /// Names of the protocols in which messages of `bytes` may go, where its options leave that open; none
  /// where there is nothing to choose. On all ranks the same. The first of them counts where two are as fast.
  [[nodiscard]] virtual std::vector<std::string> protocols(std::size_t /*bytes*/) const { return {}; }
  /// From now on messages of a size class (tuning.hpp), and longer ones until such a class has a protocol of
  /// its own, go by the protocol with this name, one of `protocols` for the smallest size of the class;
  /// classes in their order.
  virtual void take(std::size_t /*size_class*/, const std::string& /*protocol*/) {}
  /// Null for a transport without steps that can be taken one by one.
  [[nodiscard]] virtual std::unique_ptr<Steps> steps() { return nullptr; }

  [[nodiscard]] runtime::Communicator& ranks() const { return ranks_; }

 private:
  /// `sent(r)` goes to rank r; what comes from there becomes part number r of `incoming`.
  template <typename Sent>
  device::Event with_all(const Sent& sent, const Region& incoming, std::size_t bytes, int tag,
                         const device::Events& after);

  runtime::Communicator& ranks_;
};

}  // namespace fabricmark::transport
