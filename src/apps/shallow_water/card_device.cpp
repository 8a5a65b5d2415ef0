// Shallow water between cards whose bitstream has ACCL's engine beside the kernels of
// kernels/shallow_water/dataflow.cpp, as `fabricmark build shallow_water --variant dataflow --transport
// accl-udp` links them (build/rules/accl.toml). The host copies the states to the card before steps and back
// behind them. Never run on a card.
#include <vector>

#include "apps/shallow_water/emulated_device.hpp"
#include "board/accl_driver/card_engine.hpp"
#include "board/accl_driver/card_unit.hpp"

namespace fabricmark::shallow_water {

namespace {

using accl::CardUnit;

/// Memory of the card for what the host has in its own.
struct CardArray {
  CardArray(const CardUnit& unit, unsigned argument, std::span<const std::byte> host)
      : buffer(unit.buffer(argument, host.size())) {
    write(unit, host);
    unit.set(argument, buffer);
  }
  void write(const CardUnit& unit, std::span<const std::byte> host) {
    unit.write(buffer, host.data(), host.size());
  }
  void read(const CardUnit& unit, std::span<std::byte> host) const {
    unit.read(buffer, host.data(), host.size());
  }
  device::Buffer buffer;
};

class CardDevice final : public EmulatedDevice {
 public:
  CardDevice(const runtime::Context& context, const DevicePart& part)
      : engine_(context),
        use_(engine_.use(collectives::Type::kFloat32)),
        neighbours_(static_cast<std::uint32_t>(part.neighbours.size())),
        elements_(context, "element_kernel", "elements"),
        edges_(context, "edge_kernel", "edges"),
        send_(context, "send_by_engine", "send"),
        receive_(context, "receive_from_memory", "receive"),
        control_(context, "call_for_halos", "control", /*failed=*/13) {}

  double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                 const std::vector<Forcing>& forcing) override {
    const DeviceKernels::OnCard now = kernels.on_card(steps, physics, forcing);
    set_edges(now);
    CardArray states(elements_, 1, now.states), outflow(elements_, 2, now.outflow);
    CardArray trouble(elements_, 17, now.trouble);
    const CardArray of_elements(elements_, 0, now.elements);
    set_numbers(elements_, 3, {now.core, now.own, now.outer});
    for (unsigned i = 0; i < now.stage.size(); ++i) elements_.set(6 + i, now.stage.at(i));
    set_numbers(elements_, 12, {now.first, now.steps});
    if (neighbours_ == 0) {
      accl::run({&elements_, &edges_});
    } else {
      exchange(now);
    }
    states.read(elements_, now.states);
    outflow.read(elements_, now.outflow);
    trouble.read(elements_, now.trouble);
    return 0;
  }

 private:
  static void set_numbers(const CardUnit& unit, unsigned first, const std::vector<std::uint32_t>& numbers) {
    for (const std::uint32_t number : numbers) unit.set(first++, number);
  }

  void set_edges(const DeviceKernels::OnCard& now) {
    of_edges_.clear();
    of_edges_.emplace_back(edges_, 0, now.edge_states);
    of_edges_.emplace_back(edges_, 1, now.edges);
    of_edges_.emplace_back(edges_, 2, now.slots);
    of_edges_.emplace_back(edges_, 3, now.forcing);
    set_numbers(edges_, 4, {now.outer, now.known, now.leaving, now.steps});
  }

  /// All kernels, with halos of every step.
  void exchange(const DeviceKernels::OnCard& now) {
    CardArray to(send_, 0, now.neighbours), of_calls(control_, 0, now.neighbours);
    CardArray from(receive_, 0, now.neighbours), places(receive_, 1, now.places);
    CardArray arrived(receive_, 2, now.arrived), halo(receive_, 3, now.halo);
    CardArray sent(send_, 8, now.sent), received(receive_, 11, now.received);
    set_numbers(send_, 1, {neighbours_, now.first, now.steps, /*tells=*/1});
    set_numbers(receive_, 4, {neighbours_, now.own - now.core, now.first, now.steps, /*waits=*/1});
    set_numbers(control_, 1, {neighbours_, now.steps});
    control_.set(3, accl::address_of(arrived.buffer));
    control_.set(4, use_);
    accl::run({&receive_, &elements_, &edges_, &send_, &control_});
    sent.read(send_, now.sent);
    received.read(receive_, now.received);
    control_.require_no_failure();
  }

  accl::CardEngine engine_;
  fm::accl_use use_;
  std::uint32_t neighbours_;
  CardUnit elements_, edges_, send_, receive_;
  accl::CardCaller control_;
  std::vector<CardArray> of_edges_;
};

}  // namespace

std::unique_ptr<EmulatedDevice> make_device_on_card(const runtime::Context& context, const DevicePart& part,
                                                    DeviceKernels& /*kernels*/) {
  require_halos_in_memory(context);
  return std::make_unique<CardDevice>(context, part);
}

}  // namespace fabricmark::shallow_water
