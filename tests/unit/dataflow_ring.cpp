// For the tests of dataflow in processes and threads: a ring of four devices whose kernels send, ask without
// waiting and take their time; the root prints when each device ended, in femtoseconds. Usage: dataflow_ring
// FLOW [HOW [TIMELINE]]. Of mistakes "circle" has all send more than a link holds before they read, "silence"
// has one wait for a word that nobody sends, and "barrier" for one that is sent only after a barrier. In
// "meet" some hosts wait for others while their kernels are needed, in "late" each for a long message of the
// one before; neither changes the modelled times. TIMELINE is where a deadlock writes one.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "dataflow_support.hpp"
#include "runtime/run.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::dataflow;

constexpr int kDevices = 4;
constexpr int kWords = 200;

void keep(stream<int>& taken, int* sum) {
  for (int word = 0; word < kWords; ++word) {
    *sum += taken.read();
    spend_cycles(word % 5);
  }
}

void send_all_first(stream<int>& out, stream<int>& in) {
  for (int word = 0; word < kWords; ++word) out.write(word);
  for (int word = 0; word < kWords; ++word) in.read();
}

void listen(stream<int>& in) { in.read(); }

void say(stream<int>& out) { out.write(1); }

/// From each host to the next one, so long that it is in progress for a while. The last one's goes nowhere.
void pass_on(runtime::Communicator& ranks, bool is_arrival) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  std::vector<std::byte> bytes(kBytes);
  const int peer = ranks.rank() + (is_arrival ? -1 : 1);
  if (peer < 0 || peer == ranks.size()) return;
  auto request = is_arrival ? ranks.start_receive(peer, bytes, 1) : ranks.start_send(peer, bytes, 1);
  ranks.wait(request, peer);
}

int run(runtime::Communicator& ranks, const std::string& flow, const std::string& how,
        const std::string& timeline) {
  auto settings = ring_of(kDevices, network::flow_settings(flow));
  settings.deadlock_timeline = timeline;
  const auto fabric = Fabric::join(ranks, settings);
  const int own = ranks.rank();
  Host host(fabric, own, device_of_ring(own), &ranks);
  auto next = host.open<int>(0);
  auto before = host.open<int>(1);
  stream<int, 4> taken("taken");
  int sum = 0;
  if (how == "circle") {
    host.start("send_all_first", {}, send_all_first, next.out, before.in);
  } else if (how == "silence") {
    if (ranks.is_root()) host.start("listen", {}, listen, before.in);
  } else if (how == "barrier") {
    if (own == 1) host.start("listen", {}, listen, before.in).wait();
    ranks.barrier();
    if (own == 0) host.start("say", {}, say, next.out);
  } else {
    if (how == "late") pass_on(ranks, true);
    host.start("send", {}, send_now_and_then, next.out, own, kWords);
    host.start("receive", {}, ask_for_words, before.in, taken, kWords);
    const auto kept = host.start("keep", {}, keep, taken, &sum);
    if (how == "late") pass_on(ranks, false);
    if (how == "meet" && own % 2 == 1) kept.wait();
    if (how == "meet") ranks.barrier();
  }
  host.finish();
  const auto all = ranks.all_gather_texts(fmt::format("{} {}", host.now(), sum));
  if (ranks.is_root()) fmt::print("{}\n", fmt::join(all, "\n"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string flow = argc > 1 ? argv[1] : "credit";
  const std::string how = argc > 2 ? argv[2] : "";
  const std::string timeline = argc > 3 ? argv[3] : "";
  return runtime::run_ranks(argc, argv, kDevices,
                            [&](runtime::Communicator& ranks) { return run(ranks, flow, how, timeline); });
}
