// The hosts: two ranks, each with a device. Run by itself, or with mpirun -n 2.
#include <fmt/core.h>

#include "board/dataflow/described.hpp"
#include "dataflow.cpp"
#include "runtime/run.hpp"

int main(int argc, char** argv) {
  using namespace fabricmark;
  constexpr int length = 1000;  // words
  return runtime::run_ranks(argc, argv, 2, [&](runtime::Communicator& ranks) {
    const auto costs = dataflow::described(argc > 1 ? argv[1] : "noctua1.json", "channels");
    const auto fabric = dataflow::Fabric::join(ranks, {.topology = network::pair(), .link = costs.link});
    dataflow::Host host(fabric, ranks.rank(), costs.device);
    auto link = host.open<word>(0);
    fm::stream<word, 4> loaded("loaded");
    std::vector<word> array(length, word{{1, 2, 3}}), sums(length);
    if (ranks.is_root()) {
      host.start("load_array", {.memory_bytes = 64.0 * length}, load_array, array.data(), loaded, length);
      host.start("scale_and_send", {.depth = 20}, scale_and_send, loaded, link.out, 10.0F, length);
    } else {
      host.start("receive_and_add", {.depth = 20}, receive_and_add, link.in, array.data(), sums.data(),
                 length);
    }
    host.finish();
    if (!ranks.is_root())
      fmt::print("{} in {:.3f} us\n", sums.back().value[2], 1e6 * network::seconds(host.now()));
    return 0;
  });
}
