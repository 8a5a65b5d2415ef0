#include "network/stack/stack.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "network/stack/packet_stack.hpp"

namespace fabricmark::network {

namespace {

void check_share(const char* what, double share) {
  // Written so that what is no number is refused, too.
  if (share >= 0 && share <= 1) return;
  throw bad_use(fmt::format("{} as the share of packets to {}", share, what), "choose from 0 to 1");
}

void check_settings(const StackSettings& settings) {
  check_share("drop", settings.faults.drop);
  check_share("duplicate", settings.faults.duplicate);
  check_share("reorder", settings.faults.reorder);
  if (settings.receive_latency < 0 || settings.retransmission_time < 0) {
    throw bad_use("a latency of the receiver or a retransmission time below 0",
                  "correct the protocol's values");
  }
  if (settings.most_retransmissions < 0) {
    throw bad_use(fmt::format("{} retransmissions", settings.most_retransmissions), "choose 0 or more");
  }
  if (settings.protocol == Protocol::kTcp && settings.window_bytes == 0) {
    throw bad_use("a window of 0 B", "choose 1 B or more");
  }
}

}  // namespace

std::unique_ptr<Stack> make_stack(const Topology& topology, const StackSettings& settings,
                                  Stack::Listener listener) {
  check_settings(settings);
  switch (settings.protocol) {
    case Protocol::kTcp:
      return make_tcp(topology, settings, std::move(listener));
    case Protocol::kRdma:
      return make_rdma(topology, settings, std::move(listener));
    default:
      return make_udp(topology, settings, std::move(listener));
  }
}

}  // namespace fabricmark::network
