#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/parameters.hpp"

namespace fabricmark::host_transfer {

/// One way of moving data between host and device.
struct Case {
  std::string direction;  ///< to_device, from_device or both
  std::string method;     ///< queued, blocking, migrate or sub-buffer
  std::string memory;     ///< pageable, page-aligned or pinned
  std::size_t bytes = 0;  ///< all that is moved; of both directions half each
  std::size_t buffers = 1;

  [[nodiscard]] bool is_migration() const { return method == "migrate" || method == "sub-buffer"; }
  [[nodiscard]] bool writes() const { return direction != "from_device"; }
  [[nodiscard]] bool reads() const { return direction != "to_device"; }
  [[nodiscard]] std::size_t bytes_each_way() const { return direction == "both" ? bytes / 2 : bytes; }
  [[nodiscard]] std::size_t buffer_bytes() const { return bytes_each_way() / buffers; }
  [[nodiscard]] std::string name() const {
    return direction + "/" + method + "/" + memory + "/" + std::to_string(bytes) + "/" +
           std::to_string(buffers);
  }
};

/// The cases that the parameters ask for. Buffers hold at least a page, so small sizes leave out large
/// numbers of buffers; migrations, which move nothing on devices that share the host's memory, are left out
/// there. Throws Error (bad use) for words that the lists do not know or that come twice, and when no case
/// is left.
std::vector<Case> make_cases(const runtime::Parameters& parameters, bool shares_host_memory);

}  // namespace fabricmark::host_transfer
