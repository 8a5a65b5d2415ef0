// For the tests of dataflow in processes and threads: a ring of four devices whose kernels send, ask without
// waiting and take their time; the root prints when each device ended, in femtoseconds. Usage: dataflow_ring
// FLOW [MISTAKE]: "circle" has all send more than a link holds before they read, "silence" has one wait for a
// word that nobody sends.
#include <fmt/format.h>

#include <string>

#include "fabric/dataflow/host.hpp"
#include "runtime/run.hpp"

namespace {

using namespace fabricmark;
using dataflow::spend_cycles;
using dataflow::stream;

constexpr int kDevices = 4;
constexpr int kWords = 200;

void send(stream<int>& out, int own) {
  for (int word = 0; word < kWords; ++word) {
    spend_cycles((word * (own + 3)) % 17);
    out.write(word);
  }
}

void receive(stream<int>& in, stream<int>& taken) {
  for (int word = 0; word < kWords; ++word) {
    int value = 0;
    int misses = 0;
    while (!in.read_nb(value)) ++misses;
    taken.write(value + misses);
  }
}

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

int run(runtime::Communicator& ranks, const std::string& flow, const std::string& mistake) {
  const auto fabric = dataflow::Fabric::join(
      ranks,
      {.topology = fabric::ring(kDevices), .link = {300e-9, 156.25e6, 32, fabric::flow_settings(flow)}});
  const int own = ranks.rank();
  dataflow::Host host(fabric, own, {200e6 + 10e6 * own, 1e-6 * own, 0}, &ranks);
  auto next = host.open<int>(0);
  auto before = host.open<int>(1);
  stream<int, 4> taken("taken");
  int sum = 0;
  if (mistake == "circle") {
    host.start("send_all_first", {}, send_all_first, next.out, before.in);
  } else if (mistake == "silence") {
    if (ranks.is_root()) host.start("listen", {}, listen, before.in);
  } else {
    host.start("send", {}, send, next.out, own);
    host.start("receive", {}, receive, before.in, taken);
    host.start("keep", {}, keep, taken, &sum);
  }
  host.finish();
  const auto all = ranks.all_gather_texts(fmt::format("{} {}", host.now(), sum));
  if (ranks.is_root()) fmt::print("{}\n", fmt::join(all, "\n"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string flow = argc > 1 ? argv[1] : "credit";
  const std::string mistake = argc > 2 ? argv[2] : "";
  return runtime::run_ranks(argc, argv, kDevices,
                            [&](runtime::Communicator& ranks) { return run(ranks, flow, mistake); });
}
