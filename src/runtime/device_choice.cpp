#include "runtime/device_choice.hpp"

#include <sched.h>

#include <algorithm>

#include "base/host.hpp"
#include "runtime/asked_for.hpp"

namespace fabricmark::runtime {

namespace {

/// The cores that this process may use, as a text to compare between ranks.
std::string affinity_text() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  std::string text = describe_host().name + ":";
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) text += std::to_string(core) + ",";
  }
  return text;
}

}  // namespace

int share_cores(Communicator& ranks) {
  if (ranks.kind() != "mpi") return device::cap_runtime_threads(1);
  const std::string own = affinity_text();
  const std::vector<std::string> all = ranks.all_gather_texts(own);
  return device::cap_runtime_threads(static_cast<int>(std::count(all.begin(), all.end(), own)));
}

device::FoundDevice choose_device(const Options& options, Communicator& ranks,
                                  const std::vector<device::FoundDevice>& found, device::Share& share) {
  std::vector<std::size_t> places;
  for (int local = 0; local < ranks.local_size(); ++local) {
    places.push_back(device::mapped_device(options.selection, found.size(), local));
  }
  const auto own = places.begin() + ranks.local_rank();
  check_device(found[*own].info);
  // Processes are kept apart by a cap on their threads; ranks of one process by parts of the device.
  if (ranks.kind() == "in-process" && found[*own].info.device_class == device::DeviceClass::kCpu) {
    share.index = static_cast<int>(std::count(places.begin(), own, *own));
    share.count = static_cast<int>(std::count(places.begin(), places.end(), *own));
  }
  return found[*own];
}

bool asks_for_device(const Options& options) {
  return options.selection.platform || options.selection.device || !options.selection.mapping.empty() ||
         options.kernel_file || options.bitstream || options.save_bitstream;
}

}  // namespace fabricmark::runtime
