// For the test that links take the times that were measured: two devices exchange messages over two channels
// of a system as it is exported. Prints bytes and modelled seconds of each message. Usage: link_times SYSTEM
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>

#include "board/dataflow/described.hpp"
#include "dataflow_support.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::dataflow;

constexpr int kChannels = 2;
constexpr int kLargest = 1 << 20;

struct Word {
  std::array<char, 32> bytes{};
};
using Links = std::array<Link<Word>, kChannels>;

void send(stream<Word>& first, stream<Word>& second, int words) {
  for (int word = 0; word < words; ++word) {
    first.write({});
    second.write({});
  }
}

void receive(stream<Word>& first, stream<Word>& second, int words) {
  for (int word = 0; word < words; ++word) {
    first.read();
    second.read();
  }
}

/// From the start of the senders to the end of the receivers, which are alike [s].
double exchange(Host& first, Host& second, std::array<Links, 2>& links, int bytes) {
  const int at_once = kChannels * static_cast<int>(sizeof(Word));
  const int words = (bytes + at_once - 1) / at_once;
  device::Event sent;
  device::Event received;
  for (Host* const host : {&first, &second}) {
    Links& own = links.at(static_cast<std::size_t>(host->device()));
    sent = host->start("send", {}, send, own[0].out, own[1].out, words);
    received = host->start("receive", {}, receive, own[0].in, own[1].in, words);
  }
  finish(first, second);
  return received.times().ended - sent.times().started;
}

int run(const char* system) {
  const Described costs = described(system, "channels");
  const auto fabric = std::make_shared<Fabric>(
      FabricSettings{.devices = 2, .topology = network::pair(kChannels), .link = costs.link});
  Host first(fabric, 0, costs.device);
  Host second(fabric, 1, costs.device);
  std::array<Links, 2> links{Links{first.open<Word>(0), first.open<Word>(1)},
                             Links{second.open<Word>(0), second.open<Word>(1)}};
  for (int bytes = 1; bytes <= kLargest; bytes *= 2) {
    fmt::print("{} {:.17g}\n", bytes, exchange(first, second, links, bytes));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
