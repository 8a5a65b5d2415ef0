#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_support.hpp"
#include "transport/host/host_transport.hpp"
#include "transport/registry.hpp"
#include "transport_support.hpp"

namespace fabricmark::transport::test_support {

using runtime::Communicator;
using runtime::run_in_process;
using runtime::RunConditions;

inline constexpr double kTimeout = 60;        // s
inline constexpr double kShortTimeout = 0.2;  // s

inline RunConditions waiting(double seconds, device::MemoryKind memory = device::MemoryKind::kBuffer) {
  return {.memory = memory, .fault = std::nullopt, .timeout_seconds = seconds};
}

/// A transport by name, with the defaults of its options.
inline runtime::Parameters options_of(const std::string& transport) {
  runtime::Parameters parameters;
  parameters.set("transport", transport);
  for (const runtime::TransportSpec& spec : runtime::transport_specs()) {
    for (const runtime::ParameterSpec& option : spec.parameters)
      parameters.set(option.name, option.defaults.at(""));
  }
  return parameters;
}

/// The path over the host that a benchmark on one rank would have with these options.
class OverHost : public HostTransport {
 public:
  explicit OverHost(const runtime::Context& context, std::int64_t chunk_bytes, bool zero_copy = true,
                    Waiting waiting = Waiting::kSpin, StagingUse staging = StagingUse::kMeasured,
                    std::int64_t slots = kMeasured)
      : HostTransport(context.ranks(), context.device(),
                      Use{.timeout_seconds = context.timeout_seconds(),
                          .is_timed = context.timeline().enabled(),
                          .memory = context.memory_kind(),
                          .chunk_bytes = chunk_bytes,
                          .zero_copy = zero_copy,
                          .waiting = waiting,
                          .staging = staging,
                          .slots = slots}) {}
};

/// What a benchmark on one rank works with, without a kernel.
class Setting {
 public:
  Setting(const device::FoundDevice& found, Communicator& ranks, const RunConditions& conditions,
          const runtime::Parameters& parameters)
      : device_(found, share(found, ranks)),
        parameters_(parameters),
        context_(device_, parameters_, ranks, timeline_, device::Program(), variant_, conditions) {}
  [[nodiscard]] const runtime::Context& context() const { return context_; }

 private:
  static device::Share share(const device::FoundDevice& found, const Communicator& ranks) {
    if (found.info.device_class != device::DeviceClass::kCpu) return {};
    return {ranks.rank(), ranks.size()};
  }

  device::Device device_;
  runtime::Parameters parameters_;
  device::Timeline timeline_{false};
  runtime::VariantSpec variant_;
  runtime::Context context_;
};

class OnRing : public device::test_support::OnDevice {
 protected:
  /// Runs `body` on some ranks with a context each.
  template <typename Body>
  void on_ranks(int count, const RunConditions& conditions, Body&& body) const {
    on_ranks(count, conditions, {}, body);
  }
  template <typename Body>
  void on_ranks(int count, const RunConditions& conditions, const runtime::Parameters& parameters,
                Body&& body) const {
    run_in_process(count, [&](Communicator& ranks) {
      try {
        const Setting setting(found_, ranks, conditions, parameters);
        body(setting.context(), ranks);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      return 0;
    });
  }
};

}  // namespace fabricmark::transport::test_support
