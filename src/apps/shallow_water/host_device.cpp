// Halos over the hosts: kernels that store and load them are started in each step, and the host copies what
// is between them over PCI Express and sends it by MPI (the baseline of Meyer 2024, section 5.2.1); or, over
// the transport mpi, gives MPI the memory of the device itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "apps/shallow_water/emulated_device.hpp"
#include "base/error.hpp"
#include "network/message_fault.hpp"
#include "network/network_costs.hpp"
#include "transport/mpi/passing.hpp"
#include "transport/registry.hpp"

namespace fabricmark::shallow_water {

namespace {

using network::Time;

/// What the way between two devices takes, from a kernel's end to a kernel's start.
class HostProtocol {
 public:
  explicit HostProtocol(const runtime::Context& context) : costs_(context.costs()) {
    if (costs_ == nullptr) return;
    transport_ = context.parameters().text("transport");
    ping_seconds_ = network::load_network_costs(context.system()->file, transport_).ping_seconds;
  }
  [[nodiscard]] dataflow::DeviceCost device() const {
    constexpr double kAnyClock = 1e9;
    if (costs_ == nullptr) return {.clock_hz = kAnyClock};
    // Where the whole way was measured, the start of the kernel that it ends with is in it.
    return {.clock_hz = costs_->need("kernel_hz"),
            .launch_seconds = ping_seconds_ > 0 ? 0 : costs_->value_or("invocation_seconds", 0)};
  }
  [[nodiscard]] Time read(std::size_t bytes) const { return copy(bytes, /*is_to_device=*/false); }
  [[nodiscard]] Time write(std::size_t bytes) const { return copy(bytes, /*is_to_device=*/true); }
  [[nodiscard]] Time message(std::size_t bytes) const {
    if (costs_ == nullptr) return 0;
    if (ping_seconds_ > 0) return network::from_seconds(ping_seconds_);
    return network::from_seconds(costs_->message_seconds(transport_, static_cast<double>(bytes)));
  }

 private:
  [[nodiscard]] Time copy(std::size_t bytes, bool is_to_device) const {
    if (costs_ == nullptr || ping_seconds_ > 0) return 0;
    return network::from_seconds(costs_->message_copy_seconds(is_to_device, static_cast<double>(bytes)));
  }

  const runtime::SystemCosts* costs_;
  std::string transport_;
  double ping_seconds_ = 0;
};

class HostDevice final : public EmulatedDevice {
 public:
  HostDevice(const runtime::Context& context, const DevicePart& part)
      : context_(context),
        is_direct_(is_over_mpi(context)),
        path_(context),
        fabric_(std::make_shared<dataflow::Fabric>(dataflow::FabricSettings{})),
        host_(fabric_, 0, path_.device()) {
    for (const DevicePart::Neighbour& other : part.neighbours) {
      halos_.push_back({.peer = other.rank,
                        .to = {sent_bytes_, halo_bytes(other.sent)},
                        .from = {received_bytes_, halo_bytes(other.received)}});
      sent_bytes_ += halo_bytes(other.sent);
      received_bytes_ += halo_bytes(other.received);
      if (is_direct_) continue;
      halos_.back().out.resize(sizeof(Time) + halo_bytes(other.sent));
      halos_.back().in.resize(sizeof(Time) + halo_bytes(other.received));
    }
  }

  double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                 const std::vector<Forcing>& forcing) override {
    host_.pass_until(context_.ranks().all_reduce_max(host_.now()));
    fault_.set(network::message_fault(context_.due_fault()));
    is_dead_ = false;
    kernels.start(host_, steps, physics, forcing);
    for (std::int64_t step = steps.first; step < steps.first + steps.count && !halos_.empty(); ++step) {
      const device::Event stored = kernels.start_storing(host_, step);
      stored.wait();
      exchange(kernels);
      kernels.start_receiving(host_, step);
    }
    host_.finish();
    const dataflow::Span span = host_.finished().value_or(dataflow::Span{});
    if (context_.costs() == nullptr) return 0;
    const double seconds = network::seconds(span.last_end - span.first_start);
    context_.simulated_clock().advance(seconds);
    return seconds;
  }

 private:
  static constexpr int kTag = 0;

  /// Where a message lies in the device's memory.
  struct Place {
    std::size_t first = 0;
    std::size_t bytes = 0;
    [[nodiscard]] std::span<std::byte> of(std::vector<std::byte>& memory) const {
      return std::span(memory).subspan(first, bytes);
    }
  };
  /// The messages to and from a neighbour. Where the host copies them, they carry the time when their sender
  /// had them, in front.
  struct Messages {
    int peer = 0;
    Place to, from;
    std::vector<std::byte> out{}, in{};  ///< on the host
    runtime::Request send{}, receive{};
    bool is_sent = false;
  };

  /// Throws Error (bad use) where it is to be, and cannot.
  static bool is_over_mpi(const runtime::Context& context) {
    const runtime::TransportSpec& spec = runtime::transport_spec(context.parameters().text("transport"));
    if (!spec.memory.empty()) {
      throw bad_use(fmt::format("the transport {} does not reach the memory of emulated devices, the host's",
                                spec.name),
                    "use --variant throughput, or --transport host");
    }
    if (spec.name != transport::kMpiTransport) return false;
    const runtime::Communicator& ranks = context.ranks();
    if (ranks.kind() != "mpi") throw transport::no_mpi_between(ranks);
    if (context.costs() != nullptr) throw transport::no_costs_over(transport::kMpiTransport);
    return true;
  }

  void exchange(DeviceKernels& kernels) {
    const Time left = network::later(host_.now(), path_.read(sent_bytes_));
    for (Messages& halo : halos_) start(halo, kernels, left);
    Time arrived = left;
    for (Messages& halo : halos_) arrived = std::max(arrived, finish(halo, kernels));
    for (Messages& halo : halos_) {
      if (halo.is_sent) context_.ranks().wait(halo.send, 0, runtime::Waiting::kYield);
    }
    host_.pass_until(network::later(arrived, path_.write(received_bytes_)));
  }

  void start(Messages& halo, DeviceKernels& kernels, Time left) {
    runtime::Communicator& ranks = context_.ranks();
    halo.receive = ranks.start_receive(
        halo.peer, is_direct_ ? halo.from.of(kernels.arrived()) : std::span(halo.in), kTag);
    const std::span<std::byte> elements = halo.to.of(kernels.stored());
    // Who waits for a fault keeps a copy of each message.
    const bool may_fail = context_.fault().has_value();
    const std::optional<network::MessageFault> fault = may_fail ? fault_.strike(elements) : std::nullopt;
    is_dead_ = is_dead_ || fault == network::MessageFault::kDead;
    halo.is_sent = !is_dead_ && fault != network::MessageFault::kLost;
    if (!halo.is_sent) return;
    if (!is_direct_) {
      std::memcpy(halo.out.data(), &left, sizeof left);
      std::ranges::copy(elements, halo.out.begin() + sizeof left);
    }
    halo.send = ranks.start_send(halo.peer, is_direct_ ? elements : std::span(halo.out), kTag);
  }

  /// Waits for what comes, and returns when it has arrived by the modelled clock.
  Time finish(Messages& halo, DeviceKernels& kernels) {
    context_.ranks().wait(halo.receive, halo.peer, runtime::Waiting::kYield);
    if (is_direct_) return 0;
    Time left = 0;
    std::memcpy(&left, halo.in.data(), sizeof left);
    std::copy(halo.in.begin() + sizeof left, halo.in.end(), halo.from.of(kernels.arrived()).begin());
    return network::later(left, path_.message(halo.from.bytes));
  }

  const runtime::Context& context_;
  bool is_direct_;  ///< MPI gets the device's memory itself
  HostProtocol path_;
  std::shared_ptr<dataflow::Fabric> fabric_;
  dataflow::Host host_;
  network::DueFault fault_{network::DueFault::Swapping::kHalves};
  bool is_dead_ = false;
  std::vector<Messages> halos_;
  std::size_t sent_bytes_ = 0;
  std::size_t received_bytes_ = 0;
};

}  // namespace

std::unique_ptr<EmulatedDevice> make_device_on_host(const runtime::Context& context, const DevicePart& part,
                                                    DeviceKernels& /*kernels*/) {
  return std::make_unique<HostDevice>(context, part);
}

}  // namespace fabricmark::shallow_water
