// Messages that are simulated to the clocks of their ranks, and the collectives between them.
#include "transport/simulated_transport.hpp"

#include <nlohmann/json.hpp>

#include "device/dry_run.hpp"
#include "runtime/simulated_ranks.hpp"
#include "runtime/system_costs.hpp"
#include "support.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/host/host_transport.hpp"
#include "transport_support.hpp"

namespace fabricmark::transport {

namespace {

using Json = nlohmann::json;
using runtime::Communicator;
using runtime::run_in_process;
using test_support::Ring;

constexpr double kTimeout = 60;  // s

/// One device a node: a message takes 1 s and a tenth for each byte, a copy from the device 2 s and to it 3
/// s.
std::string system_text() {
  const auto value = [](double number) { return Json{{"value", number}, {"kind", "published"}}; };
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}};
  const auto times = [](double seconds, double seconds_per_byte) {
    return Json{{"bytes", {0}}, {"seconds", {seconds}}, {"seconds_per_byte", {seconds_per_byte}}};
  };
  made["devices"] = {{{"id", "star"}, {"values", {{"banks", value(1)}}}}};
  for (const auto& [direction, seconds] : {std::pair{"from_device", 2}, {"to_device", 3}}) {
    made["devices"][0]["copies"][direction] = {{"array", times(seconds, 0)},
                                               {"message", times(seconds, 0)},
                                               {"message_beside_others", times(seconds, 0)}};
  }
  made["bitstreams"] = Json::array();
  Json message = times(1, 0.1);
  message["devices"] = 1;
  made["topology"] = {{{"device", "star"},
                       {"devices_per_node", 1},
                       {"most_devices", 8},
                       {"networks", {{"host", "mpi"}, {"cpu", "mpi"}}},
                       {"messages", {{"host", {message}}, {"cpu", {message}}}}}};
  return made.dump();
}

/// What a rank of these tests needs.
struct Rank {
  Rank(Communicator& ranks, const std::filesystem::path& file, device::Device own,
       std::int64_t chunk_bytes = 0)
      : device(std::move(own)) {
    parameters.set("chunk_bytes", chunk_bytes);
    conditions.costs = std::make_shared<runtime::SystemCosts>(
        runtime::SystemPlace{.file = file, .device = "star", .bitstream = "", .devices = ranks.size()});
    simulated = runtime::simulated_ranks(ranks, *conditions.clock);
    context.emplace(device, parameters, *simulated, timeline, nullptr, variant, conditions);
  }
  SimulatedClock& clock() { return *conditions.clock; }
  std::unique_ptr<Transport> between_hosts() {
    return std::make_unique<SimulatedTransport>(std::make_unique<CpuTransport>(*simulated, kTimeout),
                                                *context, Waiting::kYield);
  }
  std::unique_ptr<Transport> between_devices() {
    const std::int64_t chunk = parameters.integer("chunk_bytes");
    return std::make_unique<SimulatedTransport>(
        std::make_unique<HostTransport>(context->ranks(), context->device(),
                                        HostTransport::Use{.chunk_bytes = chunk}),
        *context, Waiting::kYield);
  }

  device::Device device;
  runtime::Parameters parameters;
  device::Timeline timeline{false};
  runtime::VariantSpec variant;
  runtime::RunConditions conditions;
  std::unique_ptr<Communicator> simulated;
  std::optional<runtime::Context> context;
};

device::Device dry_run() { return device::Device(device::dry_run_platform().devices.front()); }

class SimulatedMessages : public testing::Test {
 protected:
  /// Calls `body(rank, number)` on each of so many.
  template <typename Body>
  void each(int count, bool is_dry_run, Body&& body, std::int64_t chunk_bytes = 0) {
    run_in_process(count, [&](Communicator& ranks) {
      Rank rank(ranks, file_, is_dry_run ? dry_run() : device::Device::none(), chunk_bytes);
      body(rank, ranks.rank());
      return 0;
    });
  }
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("system.json", system_text());
};

TEST_F(SimulatedMessages, LeaveOneAfterTheOtherAndArriveWithTheirData) {
  each(3, /*is_dry_run=*/false, [](Rank& rank, int) {
    const auto transport = rank.between_hosts();
    Ring ring(*transport, *rank.simulated, {20});
    ring.prepare(1);
    ring.exchange();
    EXPECT_EQ(ring.count_wrong(), 0U);
    EXPECT_EQ(rank.clock().seconds(), 2 * (1 + 2)) << "one to each neighbour";
  });
}

TEST_F(SimulatedMessages, AReceiverWaitsForALateSender) {
  each(2, /*is_dry_run=*/false, [](Rank& rank, int number) {
    const auto transport = rank.between_hosts();
    const std::unique_ptr<Memory> memory = transport->allocate(10);
    const Message message{{memory.get(), 0, 10}, 1 - number, 0};
    if (number == 0) rank.clock().advance(100);
    if (number == 1) rank.clock().advance(7);
    (number == 0 ? transport->send(message) : transport->receive(message)).wait();
    EXPECT_EQ(rank.clock().seconds(), 102) << "rank " << number;
  });
}

TEST_F(SimulatedMessages, EarlierTransfersLeaveFirstAndWaitingForOneMovesNoFurther) {
  each(2, /*is_dry_run=*/false, [](Rank& rank, int number) {
    const auto transport = rank.between_hosts();
    const std::unique_ptr<Memory> memory = transport->allocate(20);
    device::Events events;
    for (const int tag : {0, 1}) {
      const Message message{{memory.get(), 10 * static_cast<std::size_t>(tag), 10}, 1 - number, tag};
      events.push_back(number == 0 ? transport->send(message) : transport->receive(message));
    }
    EXPECT_EQ(rank.clock().seconds(), 0);
    events[0].wait();
    EXPECT_EQ(rank.clock().seconds(), 2);
    events[1].wait();
    EXPECT_EQ(rank.clock().seconds(), 4);
    EXPECT_EQ(events[1].modelled_end(), 4);
  });
}

TEST_F(SimulatedMessages, BeginWhenWhatTheyWaitForHasEnded) {
  each(2, /*is_dry_run=*/false, [](Rank& rank, int number) {
    const auto transport = rank.between_hosts();
    const std::unique_ptr<Memory> memory = transport->allocate(20);
    const Message first{{memory.get(), 0, 10}, 1 - number, 0};
    const Message second{{memory.get(), 10, 10}, 1 - number, 1};
    // There and back: the second leaves when the first has arrived.
    const device::Event there = number == 0 ? transport->send(first) : transport->receive(first);
    const device::Event back = number == 0 ? transport->receive(second) : transport->send(second, {there});
    back.wait();
    EXPECT_EQ(rank.clock().seconds(), 4) << "rank " << number;
    there.wait();
    EXPECT_EQ(rank.clock().seconds(), 4);
  });
}

TEST_F(SimulatedMessages, BetweenDevicesAreReadSentAndWritten) {
  for (const auto& [chunk, seconds] : std::vector<std::pair<std::int64_t, double>>{
           {0, 2 * 2 + 2 * 3 + 2 * 3},
           {20, 2 * 2 + 2 * 3 + 2 * 3},
           // Two rounds of read 4 s, message 4 s, write 6 s, of which the slowest step is waited for twice.
           {10, 4 + 4 + 6 + 6}}) {
    each(
        4, /*is_dry_run=*/true,
        [&, &expected = seconds, &bytes = chunk](Rank& rank, int) {
          const auto transport = rank.between_devices();
          Ring ring(*transport, *rank.simulated, {20});
          ring.exchange();
          EXPECT_EQ(rank.clock().seconds(), expected) << "chunks of " << bytes;
        },
        chunk);
  }
}

TEST_F(SimulatedMessages, TheStepsOneByOneTakeWhatTheyTakeTogether) {
  each(2, /*is_dry_run=*/true, [](Rank& rank, int) {
    const auto transport = rank.between_devices();
    Ring ring(*transport, *rank.simulated, {20});
    const std::unique_ptr<Steps> steps = transport->steps();
    std::vector<double> ends;
    for (std::size_t step = 0; step < steps->steps().size(); ++step) {
      steps->take(step, ring.sends(), ring.receives(), 0);
      ends.push_back(rank.clock().seconds());
    }
    EXPECT_EQ(ends, (std::vector<double>{4, 10, 16}));
  });
}

TEST_F(SimulatedMessages, ToOneselfTakeTheNetworkOfARankAloneOnly) {
  for (const int count : {1, 2}) {
    each(count, /*is_dry_run=*/false, [&](Rank& rank, int number) {
      const auto transport = rank.between_hosts();
      const std::unique_ptr<Memory> from = transport->allocate(10);
      const std::unique_ptr<Memory> to = transport->allocate(10);
      const std::vector<Message> sends{{{from.get(), 0, 10}, number, 0}};
      const std::vector<Message> receives{{{to.get(), 0, 10}, number, 0}};
      transport->exchange(sends, receives);
      EXPECT_EQ(rank.clock().seconds(), count == 1 ? 2 : 0);
    });
  }
}

TEST_F(SimulatedMessages, OfNoBytesTakeNoTime) {
  each(2, /*is_dry_run=*/false, [](Rank& rank, int) {
    const auto transport = rank.between_hosts();
    Ring ring(*transport, *rank.simulated, {0});
    ring.exchange();
    EXPECT_EQ(rank.clock().seconds(), 0);
  });
}

TEST_F(SimulatedMessages, AllToAllTakesTheSameInEveryRun) {
  std::vector<double> ends;
  for (int run = 0; run < 5; ++run) {
    std::vector<double> of_ranks(4);
    each(4, /*is_dry_run=*/false, [&](Rank& rank, int number) {
      const auto transport = rank.between_hosts();
      const std::unique_ptr<Memory> from = transport->allocate(40);
      const std::unique_ptr<Memory> to = transport->allocate(40);
      transport->all_to_all({from.get(), 0, 40}, {to.get(), 0, 40}).wait();
      of_ranks[static_cast<std::size_t>(number)] = rank.clock().seconds();
    });
    for (const double end : of_ranks) EXPECT_EQ(end, 6) << "three others";
  }
}

TEST_F(SimulatedMessages, ACollectiveMovesAllClocksToTheLatest) {
  each(3, /*is_dry_run=*/false, [](Rank& rank, int number) {
    rank.clock().advance(10.0 * number);
    EXPECT_EQ(rank.simulated->all_reduce_max(number), 2);
    EXPECT_EQ(rank.clock().seconds(), 20);
    rank.clock().advance(number);
    rank.simulated->barrier();
    EXPECT_EQ(rank.clock().seconds(), 22);
    rank.clock().advance(number == 0 ? 5 : 0);
    EXPECT_EQ(rank.simulated->all_gather_texts(std::to_string(number)),
              (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_EQ(rank.clock().seconds(), 27);
    const std::unique_ptr<Communicator> part = rank.simulated->split(number == 0 ? 0 : 1, number);
    rank.clock().advance(number);
    part->barrier();
    EXPECT_EQ(rank.clock().seconds(), number == 0 ? 27 : 29) << "those of a part alone";
  });
}

}  // namespace

}  // namespace fabricmark::transport
