#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>

#include "device/device.hpp"
#include "fabricmark/messages.hpp"
#include "transport/host/host_transport.hpp"
#include "transport/transport_caller.hpp"

namespace fabricmark::messages {

/// An endpoint's own: what stays as long as one of its requests.
class Endpoint::State {
 public:
  /// Collective.
  State(Ranks ranks, cl_context context, cl_device_id device, const Options& options);

  [[nodiscard]] runtime::Communicator& ranks() const { return *ranks_.communicator_; }
  [[nodiscard]] transport::Transport& transport() { return transport_; }
  [[nodiscard]] const std::string& protocols() const { return protocols_; }

  /// The region, in a memory that is added to `memories`. Throws fabricmark::Error (bad use) for one outside
  /// of its buffer, and a buffer of another context.
  transport::Region region(const Region& asked, std::deque<transport::Memory>& memories) const;
  /// The same with its other side. Throws as well for a rank or a tag that is none.
  transport::Message message(const Region& asked, int peer, int tag,
                             std::deque<transport::Memory>& memories) const;
  /// As `message`, of the library's own.
  transport::Message own_message(const Region& asked, int peer,
                                 std::deque<transport::Memory>& memories) const;

  /// What a rank has in a collective operation; without memory where it has none.
  struct Operands {
    Region own{};
    Region result{};
  };
  /// One call of all ranks; of `call` operation, root, count and reduction are looked at.
  void run(collectives::Call call, const Operands& operands, collectives::Type type);

 private:
  Ranks ranks_;
  cl_context context_;  // retained by the device
  device::Device device_;
  transport::HostTransport transport_;
  device::Queue queue_;
  std::string protocols_;
  collectives::TransportCaller caller_;
};

/// What is in progress, and the memory that it needs.
struct Request::State {
  explicit State(std::shared_ptr<Endpoint::State> endpoint) : owner(std::move(endpoint)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<Endpoint::State> owner;
  std::deque<transport::Memory> memories;  // which stay where they are when more are added
  device::Event event;
};

}  // namespace fabricmark::messages
