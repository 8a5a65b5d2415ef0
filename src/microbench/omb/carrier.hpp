#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "collectives/operation.hpp"
#include "device/device.hpp"
#include "microbench/omb/options.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"

namespace fabricmark::microbench::omb {

/// A collective operation by its numbers; the operands lie in a carrier's memories.
struct Shape {
  collectives::Operation operation = collectives::Operation::kBarrier;
  collectives::Type type = collectives::Type::kInt8;
  std::size_t count = 0;  ///< elements of a rank
  int root = 0;
  bool has_counts = false;
};

/// One rank's memory and calls over one way: two memories, of what is sent and of what is received, and what
/// moves bytes from the one to the others' other. Places are in bytes. Calls throw what the way throws.
class Carrier : public Interface {
 public:
  /// Takes other memory. Throws Error (bad use or environment) where there is not so much.
  virtual void allocate(std::size_t sent_bytes, std::size_t received_bytes) = 0;
  /// Most bytes of a memory.
  [[nodiscard]] virtual std::size_t room() const = 0;

  // What the host writes and sees, outside of any measured call.
  virtual void write_sent(std::size_t place, std::span<const std::byte> bytes) = 0;
  virtual void write_received(std::size_t place, std::span<const std::byte> bytes) = 0;
  virtual void read_received(std::size_t place, std::span<std::byte> bytes) = 0;
  /// Makes the runtime believe that the memories have changed: some skip copies of those that have not
  /// (Contini et al. 2024, section 3.1.2). Outside of any measured call.
  virtual void touch() {}
  /// Whether that is needed.
  [[nodiscard]] virtual bool is_touched() const { return false; }

  /// What messages consist of from now on.
  virtual void set_type(collectives::Type /*type*/) {}
  virtual void send(int to, std::size_t place, std::size_t bytes, int tag) = 0;
  virtual void receive(int from, std::size_t place, std::size_t bytes, int tag) = 0;
  virtual void start_send(int to, std::size_t place, std::size_t bytes, int tag) = 0;
  virtual void start_receive(int from, std::size_t place, std::size_t bytes, int tag) = 0;
  virtual void wait_all() = 0;

  /// The collective operation that the calls below do, between operands at these places.
  virtual void prepare(const Shape& shape, std::span<const std::size_t> sent_places,
                       std::span<const std::size_t> received_places) = 0;
  /// With the operands at the place number `slot`.
  virtual void call(std::size_t slot) = 0;
  virtual void start(std::size_t slot) = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
  /// What does the operation that was prepared, such as "ring".
  [[nodiscard]] virtual std::string algorithm() const = 0;

  /// What touches the memories; without a file where nothing has to.
  [[nodiscard]] virtual runtime::Result::Kernel kernel() const { return {}; }
  /// Of the placement.
  [[nodiscard]] virtual device::DeviceInfo device() const { return device::Device::none().info(); }
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Collective. Throws Error (bad use) where the ranks or their memory cannot be those of the way.
std::unique_ptr<Carrier> make_carrier(runtime::Communicator& ranks, const Options& options);

/// MPI's own calls between host memories.
std::unique_ptr<Carrier> over_library(runtime::Communicator& ranks, const Options& options);
/// A transport of src/transport, between the memories of hosts, of devices, or of one and the other.
std::unique_ptr<Carrier> over_transport(runtime::Communicator& ranks, const Options& options);

}  // namespace fabricmark::microbench::omb
