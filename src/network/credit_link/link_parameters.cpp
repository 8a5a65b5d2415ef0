#include "network/credit_link/link_parameters.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::credit_link {

namespace {

constexpr unsigned kDeepest = (1U << 15U) - 1;  // credits are a signed number of 16 bits

void require(bool holds, const std::string& cause, const std::string& remedy) {
  if (!holds) throw bad_use(cause, remedy);
}

void check_buffers(const LinkParameters& p) {
  require(p.packet_flits >= 1 && p.packet_flits <= kDeepest / 2,
          fmt::format("a packet of {} data flits cannot be", p.packet_flits),
          fmt::format("choose 1 to {}", kDeepest / 2));
  require(
      p.transmit_flits >= 2 * p.packet_flits && p.transmit_flits <= kDeepest,
      fmt::format("a transmit buffer of {} flits cannot fill a packet while another leaves",
                  p.transmit_flits),
      fmt::format("give it {} to {}, twice the packet's data flits or more", 2 * p.packet_flits, kDeepest));
  require(p.credit_flits >= 1 && p.credit_flits <= p.packet_flits,
          fmt::format("credits cannot come back every {} flits", p.credit_flits),
          fmt::format("choose 1 to {}, a packet's data flits", p.packet_flits));
  require(p.latency == 0 || p.credit_flits <= p.latency,
          fmt::format("credits that come back every {} flits are later than the link's latency of {} cycles",
                      p.credit_flits, p.latency),
          "let them come back at least once in that time");
  const unsigned least = p.packet_flits + p.credit_flits - 1;
  require(p.receive_flits >= least,
          fmt::format("with a receive buffer of {} flits both ends can wait for ever", p.receive_flits),
          fmt::format("give it {} or more, D + D_CU - 1", least));
  require(
      p.receive_flits <= kDeepest,
      fmt::format("a receive buffer of {} flits is more than totals of 16 bits can tell", p.receive_flits),
      fmt::format("give it {} at most", kDeepest));
}

}  // namespace

LinkParameters checked(LinkParameters p) {
  if (p.transmit_flits == 0) p.transmit_flits = 2 * p.packet_flits;
  if (p.credit_flits == 0) p.credit_flits = p.packet_flits;
  require(p.width_bits >= 128 && p.width_bits <= 1024 && p.width_bits % 128 == 0,
          fmt::format("flits of {} bits cannot be", p.width_bits),
          "choose a multiple of 128 from 128 to 1024");
  check_buffers(p);
  require(p.timeout >= 1, "an open packet cannot close before its word is in",
          "choose a time-out of 1 or more");
  require(p.sync_interval >= 1, "SYNC flits cannot leave all at once", "choose an interval of 1 or more");
  require(p.resync_errors >= 1 && p.resync_window >= 1, "a new epoch needs a reason",
          "choose 1 or more bad headers, in 1 or more cycles");
  return p;
}

}  // namespace fabricmark::credit_link
