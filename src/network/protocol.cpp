#include "network/protocol.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::network {

namespace {

using Word = std::pair<std::string_view, Protocol>;
constexpr std::array kTransports{Word{"accl-udp", Protocol::kUdp}, Word{"accl-tcp", Protocol::kTcp},
                                 Word{"accl-rdma", Protocol::kRdma}};

}  // namespace

Protocol protocol_of(const std::string& transport) {
  const auto* const found = std::ranges::find(kTransports, transport, &Word::first);
  if (found == kTransports.end()) {
    throw bad_use("'" + transport + "' is no transport of the engine", "use accl-udp, accl-tcp or accl-rdma");
  }
  return found->second;
}

}  // namespace fabricmark::network
