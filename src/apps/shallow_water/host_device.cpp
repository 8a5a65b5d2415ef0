// Halos over the hosts: kernels that store and load them are started in each step, and the host copies what
// is between them over PCI Express and sends it by MPI (the baseline of Meyer 2024, section 5.2.1).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "apps/shallow_water/emulated_device.hpp"
#include "base/error.hpp"
#include "fabric/message_fault.hpp"
#include "fabric/network_costs.hpp"

namespace fabricmark::shallow_water {

namespace {

using fabric::Time;

/// What the way between two devices takes, from a kernel's end to a kernel's start.
class HostWay {
 public:
  explicit HostWay(const runtime::Context& context) : costs_(context.costs()) {
    if (costs_ == nullptr) return;
    transport_ = context.parameters().text("transport");
    ping_seconds_ = fabric::load_network_costs(context.conditions().system->file, transport_).ping_seconds;
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
    if (ping_seconds_ > 0) return fabric::from_seconds(ping_seconds_);
    return fabric::from_seconds(costs_->message_seconds(transport_, static_cast<double>(bytes)));
  }

 private:
  [[nodiscard]] Time copy(std::size_t bytes, bool is_to_device) const {
    if (costs_ == nullptr || ping_seconds_ > 0) return 0;
    return fabric::from_seconds(costs_->message_copy_seconds(is_to_device, static_cast<double>(bytes)));
  }

  const runtime::SystemCosts* costs_;
  std::string transport_;
  double ping_seconds_ = 0;
};

class HostDevice final : public EmulatedDevice {
 public:
  HostDevice(const runtime::Context& context, const DevicePart& part)
      : context_(context),
        part_(part),
        way_(context),
        fabric_(std::make_shared<dataflow::Fabric>(dataflow::FabricSettings{})),
        host_(fabric_, 0, way_.device()) {}

  double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                 const std::vector<Forcing>& forcing) override {
    host_.pass_until(context_.ranks().all_reduce_max(host_.now()));
    fault_.set(is_faulty() ? fabric::message_fault(*context_.conditions().fault) : std::nullopt);
    is_dead_ = false;
    kernels.start(host_, steps, physics, forcing);
    for (std::int64_t step = steps.first; step < steps.first + steps.count && !part_.neighbours.empty();
         ++step) {
      const device::Event stored = kernels.start_storing(host_, step);
      stored.wait();
      exchange(kernels);
      kernels.start_receiving(host_, step);
    }
    host_.finish();
    const dataflow::Span span = host_.finished().value_or(dataflow::Span{});
    if (context_.costs() == nullptr) return 0;
    const double seconds = fabric::seconds(span.last_end - span.first_start);
    context_.charged_clock().charge(seconds);
    return seconds;
  }

 private:
  static constexpr int kTag = 0;

  /// A message carries the time when its sender had it, in front.
  void exchange(DeviceKernels& kernels) {
    runtime::Communicator& ranks = context_.ranks();
    const Time left = fabric::later(host_.now(), way_.read(kernels.stored().size()));
    std::vector<std::vector<std::byte>> out;
    std::vector<std::vector<std::byte>> in;
    std::vector<runtime::Request> sends;
    std::vector<runtime::Request> receives;
    std::size_t first = 0;
    for (const DevicePart::Neighbour& other : part_.neighbours) {
      in.emplace_back(sizeof(Time) + halo_bytes(other.received));
      out.emplace_back(sizeof(Time) + halo_bytes(other.sent));
    }
    for (std::size_t n = 0; n < part_.neighbours.size(); ++n) {
      const DevicePart::Neighbour& other = part_.neighbours[n];
      receives.push_back(ranks.start_receive(other.rank, in[n], kTag));
      std::vector<std::byte> elements(halo_bytes(other.sent));
      std::copy_n(kernels.stored().begin() + static_cast<std::ptrdiff_t>(first), elements.size(),
                  elements.begin());
      first += elements.size();
      const std::optional<fabric::MessageFault> fault = fault_.strike(elements);
      is_dead_ = is_dead_ || fault == fabric::MessageFault::kDead;
      std::memcpy(out[n].data(), &left, sizeof left);
      std::ranges::copy(elements, out[n].begin() + sizeof left);
      if (is_dead_ || fault == fabric::MessageFault::kLost) continue;
      sends.push_back(ranks.start_send(other.rank, out[n], kTag));
    }
    first = 0;
    Time arrived = left;
    for (std::size_t n = 0; n < part_.neighbours.size(); ++n) {
      const DevicePart::Neighbour& other = part_.neighbours[n];
      ranks.wait(receives[n], other.rank, runtime::Waiting::kYield);
      Time there = 0;
      std::memcpy(&there, in[n].data(), sizeof there);
      arrived = std::max(arrived, fabric::later(there, way_.message(in[n].size() - sizeof there)));
      std::copy(in[n].begin() + sizeof there, in[n].end(),
                kernels.arrived().begin() + static_cast<std::ptrdiff_t>(first));
      first += in[n].size() - sizeof there;
    }
    for (runtime::Request& send : sends) ranks.wait(send, 0, runtime::Waiting::kYield);
    host_.pass_until(fabric::later(arrived, way_.write(kernels.arrived().size())));
  }

  [[nodiscard]] bool is_faulty() const {
    const runtime::RunConditions& conditions = context_.conditions();
    if (!conditions.fault || !fabric::message_fault(*conditions.fault)) return false;
    if (conditions.fault->rank && *conditions.fault->rank != context_.ranks().rank()) return false;
    return !conditions.fault->repetition || conditions.repetition == nullptr ||
           *conditions.repetition == *conditions.fault->repetition;
  }

  const runtime::Context& context_;
  const DevicePart& part_;
  HostWay way_;
  std::shared_ptr<dataflow::Fabric> fabric_;
  dataflow::Host host_;
  fabric::DueFault fault_{fabric::DueFault::Swapping::kHalves};
  bool is_dead_ = false;
};

}  // namespace

std::unique_ptr<EmulatedDevice> make_device_on_host(const runtime::Context& context, const DevicePart& part) {
  return std::make_unique<HostDevice>(context, part);
}

}  // namespace fabricmark::shallow_water
