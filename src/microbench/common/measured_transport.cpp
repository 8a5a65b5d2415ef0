#include "microbench/common/measured_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/options.hpp"
#include "transport/registry.hpp"

namespace fabricmark::microbench {

namespace {

const runtime::TransportSpec& spec_of(const std::string& name) {
  const runtime::TransportSpec* const found = runtime::find_transport(name);
  if (found != nullptr && found->is_between_memories()) return *found;
  throw bad_use(fmt::format("'{}' is no transport between ranks of this machine", name),
                fmt::format("use one of {}", fmt::join(MeasuredTransport::names(), ", ")));
}

runtime::Parameters parameters_of(const MeasuredTransport::Wanted& wanted) {
  runtime::Parameters parameters;
  parameters.set("transport", wanted.transport);
  for (const runtime::ParameterSpec& option : spec_of(wanted.transport).parameters) {
    parameters.set(option.name, option.defaults.at(""));
  }
  for (const auto& [name, value] : wanted.texts) parameters.set(name, value);
  return parameters;
}

/// Runtimes crash now and then where a thread closes a device while another one opens it (PoCL ends its
/// threads with the last context): what ranks have opened stays open to the end of the process. But not XRT's
/// boards, which its library closes again where nobody has: it crashes then.
device::Device kept(device::Device device) {
  if (device.info().is_native_xrt()) return device;
  static std::mutex mutex;
  static auto* const all = new std::vector<device::Device>;
  const std::scoped_lock lock(mutex);
  return all->emplace_back(std::move(device));
}

/// This rank's device, or none where the transport is one of hosts.
device::Device opened(runtime::Communicator& ranks, const MeasuredTransport::Wanted& wanted) {
  if (spec_of(wanted.transport).between == runtime::Between::kHosts && !wanted.needs_device)
    return device::Device::none();
  runtime::Options choice;
  choice.selection = wanted.selection;
  runtime::share_cores(ranks);
  const auto found = device::require_devices(wanted.selection);
  device::Share share;
  const device::FoundDevice chosen = runtime::choose_device(choice, ranks, found, share);
  if (chosen.info.is_dry_run) {
    throw bad_use("a dry-run device keeps no elements that could be checked", "choose another --platform");
  }
  if (wanted.check) wanted.check(chosen.info);
  if (chosen.info.is_of_xrt() && wanted.selection.bitstream.empty()) {
    throw bad_use(
        fmt::format("{} has memory for messages when a bitstream was loaded, and none is", chosen.info.name),
        "use a program that takes --bitstream, or another device");
  }
  return kept(device::Device(chosen, share));
}

device::Program loaded(const device::Device& device, const std::filesystem::path& bitstream) {
  if (bitstream.empty() || !device.exists()) return {};
  return device::load_bitstream(device, bitstream, device::bitstream_content(bitstream));
}

}  // namespace

std::vector<std::string> MeasuredTransport::names() {
  return runtime::transports_between({runtime::Between::kDevices, runtime::Between::kHosts});
}

bool MeasuredTransport::takes(const std::string& transport, const std::string& option) {
  const std::vector<runtime::ParameterSpec>& options = spec_of(transport).parameters;
  return std::ranges::find(options, option, &runtime::ParameterSpec::name) != options.end();
}

MeasuredTransport::MeasuredTransport(runtime::Communicator& ranks, const Wanted& wanted)
    : device_(opened(ranks, wanted)),
      program_(loaded(device_, wanted.selection.bitstream)),
      parameters_(parameters_of(wanted)),
      context_(device_, parameters_, ranks, timeline_, device::Program(), variant_,
               {.memory = device::memory_kind(runtime::memory_over(wanted.transport, wanted.memory)),
                .fault = std::nullopt,
                .timeout_seconds = wanted.timeout_seconds}),
      transport_(transport::make_transport(context_, {.largest_bytes = wanted.largest_bytes,
                                                      .leaves_protocols_open = wanted.largest_bytes == 0,
                                                      .pattern = wanted.pattern})) {
  if (const std::string& note = device_.info().interface_note; !note.empty()) context_.remark(note);
}

}  // namespace fabricmark::microbench
