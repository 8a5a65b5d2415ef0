#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/program.hpp"
#include "runtime/context.hpp"
#include "runtime/kernel_spec.hpp"
#include "transport/pattern.hpp"
#include "transport/transport.hpp"

namespace fabricmark::microbench {

/// A transport between the ranks, with its options as they are by themselves, for a program that measures
/// transports and nothing else.
class MeasuredTransport {
 public:
  struct Wanted {
    std::string transport;
    /// Of a device, where the transport needs one. Its bitstream is loaded before anything is allocated:
    /// boards under XRT have no memory before that.
    device::Selection selection{};
    double timeout_seconds = 60;
    std::size_t largest_bytes = 0;  ///< messages that its ways are chosen for; 0: these are left open
    std::string memory{};           ///< kind that it allocates; empty: what it moves
    transport::Pattern pattern = transport::Pattern::kExchange;
    std::map<std::string, std::string> texts{};  ///< its options that are not as they are by themselves
    bool needs_device = false;                   ///< one is opened whatever the transport is
    /// Called with the opened device before anything else is done with it; throws where it is refused.
    std::function<void(const device::DeviceInfo&)> check{};
  };
  /// The transports that may be wanted.
  static std::vector<std::string> names();
  /// Whether one of them has this option.
  static bool takes(const std::string& transport, const std::string& option);
  /// Collective. Throws Error (bad use) for a transport that is none of these, for a dry-run device, and for
  /// a board under XRT without a bitstream; (environment) where there is no device.
  MeasuredTransport(runtime::Communicator& ranks, const Wanted& wanted);

  [[nodiscard]] transport::Transport& transport() const { return *transport_; }
  [[nodiscard]] const runtime::Context& context() const { return context_; }
  /// The bitstream's; empty where none was named, or no device was opened.
  [[nodiscard]] const device::Program& program() const { return program_; }
  [[nodiscard]] const device::DeviceInfo& device() const { return device_.info(); }

 private:
  device::Device device_;
  device::Program program_;
  runtime::Parameters parameters_;
  device::Timeline timeline_{false};
  runtime::VariantSpec variant_;
  runtime::Context context_;
  std::unique_ptr<transport::Transport> transport_;
};

}  // namespace fabricmark::microbench
