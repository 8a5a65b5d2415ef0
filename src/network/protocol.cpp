#include "network/protocol.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::network {

Protocol protocol_of(const std::string& transport) {
  constexpr std::array<std::pair<std::string_view, Protocol>, 3> kWords{
      {{"udp", Protocol::kUdp}, {"tcp", Protocol::kTcp}, {"rdma", Protocol::kRdma}}};
  const runtime::TransportSpec* const spec = runtime::find_transport(transport);
  for (const auto& [word, protocol] : kWords) {
    if (spec != nullptr && spec->protocol == word) return protocol;
  }
  throw bad_use(
      fmt::format("'{}' is no transport of the engine", transport),
      fmt::format("use {}", fmt::join(runtime::transports_between({runtime::Between::kEngines}), " or ")));
}

}  // namespace fabricmark::network
