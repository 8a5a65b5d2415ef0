// How fast dataflow kernels run on one core: words of 64 B a second through one link between two devices, by
// credits and by a credit link that is stepped by cycle, changes from one kernel to another, and the memory
// of a process with 64 devices. Usage: bench_dataflow [REPETITIONS]; prints JSON.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "best_rate.hpp"
#include "board/dataflow/host.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::dataflow;

constexpr DeviceCost kDevice{300e6, 0, 0};
constexpr double kBytesPerKilobyte = 1024;  // of getrusage

struct Word {
  char bytes[64];
};

/// With one credit one word each way in turn: every word changes the kernel twice.
void send_words(long words, const network::FlowSettings& flow, double width_bytes = 32) {
  const auto fabric = std::make_shared<Fabric>(FabricSettings{
      .devices = 2, .topology = network::pair(), .link = {520e-9, 156.25e6, width_bytes, flow}});
  Host sender(fabric, 0, kDevice);
  auto receiver = std::make_unique<Host>(fabric, 1, kDevice);
  auto out = sender.open<Word>(0);
  auto in = receiver->open<Word>(0);
  sender.start("send", {}, [&] {
    for (long i = 0; i < words; ++i) out.out.write(Word{});
  });
  receiver->start("receive", {}, [&] {
    for (long i = 0; i < words; ++i) in.in.read();
  });
  receiver.reset();  // the one thread is the sender's
  sender.finish();
}

/// A ring of devices, each with three kernels, that all pass words on.
void run_ring(int devices, int words) {
  const auto fabric = std::make_shared<Fabric>(FabricSettings{
      .devices = devices, .topology = network::ring(devices), .link = {520e-9, 156.25e6, 32, {}}});
  std::vector<std::jthread> hosts;
  for (int device = 0; device < devices; ++device) {
    hosts.emplace_back([&fabric, device, words] {
      Host host(fabric, device, kDevice);
      auto next = host.open<Word>(0);
      auto before = host.open<Word>(1);
      stream<Word, 64> taken("taken");
      host.start("send", {}, [&] {
        for (int i = 0; i < words; ++i) next.out.write(Word{});
      });
      host.start("receive", {}, [&] {
        for (int i = 0; i < words; ++i) taken.write(before.in.read());
      });
      host.start("keep", {}, [&] {
        for (int i = 0; i < words; ++i) taken.read();
      });
      host.finish();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = std::max(1, argc > 1 ? std::atoi(argv[1]) : 5);
  constexpr long kWords = 2'000'000;
  const auto rate = [&](std::size_t credits) {
    return best_rate(repetitions, static_cast<double>(kWords),
                     [&] { send_words(kWords, {.credits = credits}); });
  };
  // A flit is a word.
  const network::FlowSettings link{.kind = network::FlowSettings::Kind::kCreditLink};
  const double by_link =
      best_rate(repetitions, static_cast<double>(kWords), [&] { send_words(kWords, link, sizeof(Word)); });
  const double words = rate(0);
  const double alternating = rate(1);
  // A word against one credit: what a word costs by itself, and two changes.
  const double change = (1 / alternating - 1 / words) / 2;
  run_ring(64, 10000);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"words\": %.6g, \"words_by_cycle\": %.6g, \"change_seconds\": %.6g, \"bytes_of_64_devices\": "
      "%.6g}\n",
      words, by_link, change, static_cast<double>(usage.ru_maxrss) * kBytesPerKilobyte);
}
