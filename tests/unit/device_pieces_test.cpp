// Messages between the memory of a device and that of a host.
#include <cstddef>
#include <numeric>
#include <vector>

#include "ring_support.hpp"
#include "transport/cpu/cpu_transport.hpp"

namespace fabricmark::transport {

namespace {

using runtime::Communicator;
using test_support::kTimeout;
using test_support::OnRing;
using test_support::OverHost;
using test_support::waiting;

// As where one rank has its messages on a device and the other one in the host's memory.
TEST_F(OnRing, AHostReceivesAndSendsTheMessagesOfADeviceInItsPieces) {
  constexpr std::size_t kChunk = 1000;
  const std::vector<std::size_t> lengths{2500, 800, 3001, 2500};  // begun together, with one tag
  on_ranks(2, waiting(kTimeout), [&](const auto& context, Communicator& ranks) {
    OverHost over_device(context, kChunk, false, Waiting::kSpin, StagingUse::kPrivate);
    CpuTransport over_host(ranks, kTimeout);
    const bool is_host = ranks.rank() == 0;
    Transport& transport = is_host ? static_cast<Transport&>(over_host) : over_device;
    const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const auto sent = transport.allocate(total);
    const auto received = transport.allocate(total);
    const auto content = [&](int rank) {
      std::vector<std::byte> bytes(total);
      for (std::size_t i = 0; i < total; ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(rank) * 101);
      return bytes;
    };
    sent->write(0, content(ranks.rank()));
    std::vector<Message> sends;
    std::vector<Message> receives;
    std::size_t place = 0;
    for (const std::size_t bytes : lengths) {
      sends.push_back({{sent.get(), place, bytes}, 1 - ranks.rank(), 5});
      receives.push_back({{received.get(), place, bytes}, 1 - ranks.rank(), 5});
      place += bytes;
    }
    if (is_host) {
      transport.exchange(over_device.in_pieces(sends), over_device.in_pieces(receives));
    } else {
      transport.exchange(sends, receives);
    }
    std::vector<std::byte> found(total);
    received->read(0, found);
    EXPECT_EQ(found, content(1 - ranks.rank())) << "rank " << ranks.rank();
  });
}

}  // namespace

}  // namespace fabricmark::transport
