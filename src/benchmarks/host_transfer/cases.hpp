#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/parameters.hpp"

namespace fabricmark::host_transfer {

/// One way of moving data between host and device.
struct Case {
  std::string direction;  ///< to_device, from_device or both
  std::string method;     ///< as the parameter `methods`
  std::string memory;     ///< pageable, page-aligned or pinned
  std::size_t bytes = 0;  ///< all that is moved; of both directions half each
  std::size_t buffers = 1;

  [[nodiscard]] bool is_part() const { return method == "sub-buffer"; }
  [[nodiscard]] bool is_migration() const { return method == "migrate" || is_part(); }
  [[nodiscard]] bool is_map() const { return method == "map"; }
  /// Whether its buffers lie over memory of the host, in place of a copy between the two.
  [[nodiscard]] bool is_in_place() const { return is_migration() || is_map(); }
  [[nodiscard]] bool is_ordered() const { return method != "out-of-order"; }
  /// In-order queues each way.
  [[nodiscard]] std::size_t queues() const {
    if (method == "2-queues") return 2;
    return method == "4-queues" ? 4 : 1;
  }
  [[nodiscard]] bool writes() const { return direction != "from_device"; }
  [[nodiscard]] bool reads() const { return direction != "to_device"; }
  [[nodiscard]] std::size_t ways() const { return direction == "both" ? 2 : 1; }
  [[nodiscard]] std::size_t bytes_each_way() const { return bytes / ways(); }
  [[nodiscard]] std::size_t buffer_bytes() const { return bytes_each_way() / buffers; }
  /// Transfers of which a sample is the mean: a short one takes now a few microseconds and now a hundred, as
  /// the device's threads wake.
  [[nodiscard]] std::size_t in_a_row() const {
    constexpr std::size_t kShort = std::size_t{1} << 16;  // bytes
    constexpr std::size_t kTimes = 8;
    return bytes <= kShort ? kTimes : 1;
  }
  [[nodiscard]] std::string name() const {
    return direction + "/" + method + "/" + memory + "/" + std::to_string(bytes) + "/" +
           std::to_string(buffers);
  }
};

/// The cases that the parameters ask for. Where there are several buffers each holds at least a page, so
/// small sizes leave out large numbers of buffers; what is in place, which moves nothing on devices that
/// share the host's memory, is left out there. Throws Error (bad use) for words that the lists do not know or
/// that come twice, and when no case is left.
std::vector<Case> make_cases(const runtime::Parameters& parameters, bool shares_host_memory);

/// The sizes of the cases, each once, in their order.
std::vector<std::size_t> sizes_of(const std::vector<Case>& cases);

}  // namespace fabricmark::host_transfer
