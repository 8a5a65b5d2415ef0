#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/context.hpp"
#include "transport/messages.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

class SimulatedTransfer;

/// Another transport over the hosts, whose messages are simulated to the clock of their rank as a system has
/// them. In logical time (clock.hpp):
///
/// - Between devices a transfer has three steps: all that it sends is copied to the host, one message after
/// the
///   other; the messages leave, one after the other; what has arrived is copied to the device. In chunks
///   these steps overlap. Between hosts there is the second step alone.
/// - A rank's messages leave it one after the other, those of earlier transfers first. Each carries the time
/// of its
///   arrival, and a receiver waits for the latest.
/// - Waiting for a transfer moves the clock to its end.
///
/// With a dry-run device only these times travel.
class SimulatedTransport : public Transport {
 public:
  /// Collective.
  SimulatedTransport(std::unique_ptr<Transport> transport, const runtime::Context& context, Waiting waiting);
  [[nodiscard]] bool is_over_hosts() const override { return true; }
  [[nodiscard]] std::string name() const override { return transport_->name(); }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation operation) const override {
    return transport_->supports(from, to, operation);
  }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return transport_->allocate(bytes);
  }
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  [[nodiscard]] std::unique_ptr<Steps> steps() override;

 private:
  friend class SimulatedTransfer;
  friend class SimulatedSteps;
  /// Seconds of the steps of a message, or of a piece of one.
  struct StepTimes {
    double read = 0;
    double message = 0;
    double write = 0;
  };
  [[nodiscard]] const StepTimes& times(double bytes) const;
  [[nodiscard]] double message_seconds(int peer, double bytes) const;
  /// Bytes of the pieces that a message travels in: the fastest of those that its sender and receiver would
  /// try, where the options leave that open.
  [[nodiscard]] double piece_bytes(double bytes) const;
  // One copy or message from a time on, which the clock's witness is told; they return when it ends.
  double tell_copy(bool is_to_device, double from, double seconds) const;
  double tell_message(int peer, double from, double bytes) const;
  [[nodiscard]] double seconds_in(double bytes, double pieces) const;
  /// Moves on all transfers but this one.
  void look(const SimulatedTransfer* except);

  std::unique_ptr<Transport> transport_;
  const runtime::SystemCosts& costs_;
  SimulatedClock& clock_;
  std::unique_ptr<runtime::Communicator> stamps_;  ///< for times of arrival, apart from all other messages
  double timeout_;
  Waiting waiting_;
  bool moves_data_;
  bool is_of_devices_;
  std::int64_t chunk_bytes_;       ///< 0: whole; negative: the fastest
  SimulatedClock::Moment free_{};  ///< when the last message has left
  std::vector<std::weak_ptr<SimulatedTransfer>> in_flight_;
  mutable std::map<double, StepTimes> times_;  ///< by bytes, of those that were asked for
  mutable std::map<double, double> pieces_;    ///< the same
};

}  // namespace fabricmark::transport
