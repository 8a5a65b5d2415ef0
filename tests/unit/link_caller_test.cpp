// Collective calls over direct links between devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "board/links/link_caller.hpp"
#include "collectives/costs.hpp"
#include "collectives/replay/choice.hpp"
#include "collectives_support.hpp"
#include "runtime/communicator.hpp"
#include "support.hpp"

namespace fabricmark::collectives {
namespace {

using runtime::Communicator;

constexpr double kClock = 250e6;     // Hz
constexpr double kLaunch = 10e-6;    // s
constexpr double kLatency = 500e-9;  // s
constexpr double kWidth = 32;        // bytes: a word of 64 bytes takes a link two cycles

/// The devices of one case after the other.
struct Devices {
  int devices = 2;
  std::string topology = "ring";
  int workers = 1;
  std::optional<std::uint64_t> seed{};
};

/// Runs all devices, each host in a thread; `body` gets what makes a call and gives its modelled seconds.
template <typename Body>
void on_devices(const Devices& of, Body&& body) {
  runtime::run_in_process(of.devices, [&](Communicator& ranks) {
    dataflow::FabricSettings settings;
    settings.topology = network::make_topology(of.topology, of.devices);
    settings.link = {kLatency, kClock, kWidth, {}};
    settings.workers = of.workers;
    settings.schedule_seed = of.seed;
    const auto fabric = dataflow::Fabric::join(ranks, settings);
    dataflow::Host host(fabric, ranks.rank(), {kClock, kLaunch, 0}, &ranks);
    LinkCaller caller(*fabric, host);
    ranks.barrier();
    const auto call = [&](const Algorithm& algorithm, const Call& what) {
      const network::Time begin = host.now();
      caller.run(algorithm, what);
      return network::seconds(host.now() - begin);
    };
    body(call, ranks);
    host.finish();
    return 0;
  });
}

/// Algorithms that fit the links; all counts, roots, in place and not.
std::vector<Case> cases_on(const Devices& of, const std::vector<std::size_t>& counts) {
  const Shape shape = shape_of_links(network::make_topology(of.topology, of.devices));
  std::vector<Case> cases;
  with_cases({of.devices}, counts, [&](Case one) {
    if (one.settings.sends != Sends::kEager) return;
    one.call.shape = shape;
    if (one.algorithm->fits(
            {one.call.operation, of.devices, one.call.count * bytes_of(one.type), one.call.shape}))
      cases.push_back(one);
  });
  return cases;
}

/// Returns the seconds of each case, on rank 0.
std::vector<double> run_cases(const Devices& of, const std::vector<Case>& cases) {
  std::vector<double> times;
  on_devices(of, [&](const auto& call_links, Communicator& ranks) {
    for (const Case& one : cases) {
      Local local(one, ranks.rank());
      const double seconds = call_links(*one.algorithm, local.call);
      const Comparison compared = compare(one.inputs, local.call, ranks.rank(), of.devices);
      EXPECT_EQ(compared.wrong, 0U) << one.text() << ", rank " << ranks.rank();
      EXPECT_TRUE(local.own.is_guarded() && local.result.is_guarded()) << one.text();
      EXPECT_TRUE(!local.is_own_kept ||
                  std::ranges::equal(local.before, std::span(local.call.own.data, local.call.own.bytes())))
          << one.text();
      if (ranks.is_root()) times.push_back(seconds);
    }
  });
  EXPECT_EQ(times.size(), cases.size());
  return times;
}

class LinkRing : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Devices, LinkRing, testing::Values(1, 2, 3, 5, 8));

TEST_P(LinkRing, DoesAllOperations) {
  const Devices ring{.devices = GetParam()};
  const std::vector<Case> cases = cases_on(ring, {0, 1, 7, 300});
  std::set<Operation> met;
  for (const Case& one : cases) met.insert(one.call.operation);
  EXPECT_EQ(met.size(), kOperations.size());
  run_cases(ring, cases);
}

TEST(LinkCalls, DoAllOperationsOnATorusAndAFullMesh) {
  for (const Devices& of : {Devices{6, "torus:2x3"}, Devices{9, "torus:3x3"}, Devices{4, "full-mesh:4"}}) {
    const std::vector<Case> cases = cases_on(of, {1, 300});
    const auto is_there = [&](Operation operation, std::string_view name) {
      return std::ranges::any_of(cases, [&](const Case& one) {
        return one.algorithm->operation == operation && one.algorithm->name == name;
      });
    };
    EXPECT_EQ(is_there(Operation::kAllReduce, "two_phase"), of.topology.starts_with("torus"));
    run_cases(of, cases);
  }
}

TEST(LinkCalls, TakeTheSameTimeByAnyNumberOfWorkersAndInAnyOrder) {
  const std::vector<Case> cases = cases_on({.devices = 5}, {7, 300});
  const std::vector<double> times = run_cases({.devices = 5}, cases);
  EXPECT_EQ(times, run_cases({.devices = 5, .workers = 2}, cases));
  EXPECT_EQ(times, run_cases({.devices = 5, .workers = 2, .seed = 3}, cases));
}

const Algorithm& algorithm_of(Operation operation, std::string_view name) {
  return *std::ranges::find_if(
      algorithms(), [&](const Algorithm& one) { return one.operation == operation && one.name == name; });
}

/// Modelled seconds of a call without data, until the last rank has its result.
double seconds_of(const Devices& of, const Call& call, std::string_view name) {
  double seconds = 0;
  on_devices(of, [&](const auto& call_links, Communicator& ranks) {
    const auto count = [&](auto counts) {
      return counts(call.operation, ranks.rank(), call.root, of.devices, call.count);
    };
    Call own = call;
    own.own = {nullptr, count(own_count), Type::kFloat32};
    own.result = {nullptr, count(result_count), Type::kFloat32};
    const double taken = call_links(algorithm_of(call.operation, name), own);
    const double latest = ranks.all_reduce_max_number(taken);
    if (ranks.is_root()) seconds = latest;
  });
  return seconds;
}

TEST(LinkCalls, RingAllReduceTakesTheTimeOfItsSteps) {
  for (const int devices : {2, 3, 5, 8}) {
    for (const std::size_t words : {16UL, 1000UL}) {  // of each share
      const std::size_t count = words * 16 * static_cast<std::size_t>(devices);
      const double measured =
          seconds_of({.devices = devices}, {.operation = Operation::kAllReduce, .count = count}, "ring");
      // 2 (p - 1) steps, in each a share over a link: Thakur et al. (2005), section 4.5.
      const double step = static_cast<double>(words) * 2 / kClock + kLatency;
      const double expected = kLaunch + 2 * (devices - 1) * step;
      // Beside that a message is a few words of streams between the kernels of a device.
      EXPECT_GT(measured, expected) << devices << " devices, " << words << " words";
      EXPECT_LT(measured, expected + 2 * (devices - 1) * 3 / kClock) << devices << " devices";
      EXPECT_NEAR(measured / expected, 1, 0.01) << devices << " devices, " << words << " words";
    }
  }
}

TEST(LinkCalls, TakeAboutAsLongAsIsExpectedOfThem) {
  std::size_t compared = 0;
  const Devices of{.devices = 5};
  const Shape shape = shape_of_links(network::make_topology(of.topology, of.devices));
  const Costs costs = costs_of_links({kLatency, kClock, kWidth, {}}, {kClock, kLaunch, 0});
  for (const Algorithm& algorithm : algorithms()) {
    const Call call{.operation = algorithm.operation, .count = 16000, .shape = shape, .segment_bytes = 0};
    const Problem problem{algorithm.operation, of.devices, call.count * 4, shape};
    if (!algorithm.fits(problem) || algorithm.operation == Operation::kBarrier) continue;
    const double expected = choose(problem, costs, std::string(algorithm.name)).seconds;
    const double measured = seconds_of(of, call, algorithm.name) - kLaunch;
    EXPECT_NEAR(measured / expected, 1, 0.01) << name_of(algorithm.operation) << ' ' << algorithm.name;
    ++compared;
  }
  EXPECT_GE(compared, 8U);
}

TEST(LinkCalls, UseBothDirectionsOfALinkAtTheSameTime) {
  // Two devices exchange their parts: one after the other it would take twice as long.
  constexpr std::size_t kWords = 1000;
  const double measured =
      seconds_of({.devices = 2}, {.operation = Operation::kAllToAll, .count = kWords * 16}, "pairwise");
  const double copy = kWords / kClock;  // of the part that stays
  const double expected = kLaunch + kWords * 2 / kClock + kLatency;
  EXPECT_GT(measured, expected);
  EXPECT_LT(measured, 1.01 * (expected + copy));
}

TEST(LinkCalls, RefuseAWayWithoutALink) {
  std::vector<std::string> messages(5);
  runtime::run_in_process(5, [&](Communicator& ranks) {
    dataflow::FabricSettings settings;
    settings.topology = network::ring(5);
    settings.link = {kLatency, kClock, kWidth, {}};
    const auto fabric = dataflow::Fabric::join(ranks, settings);
    dataflow::Host host(fabric, ranks.rank(), {kClock, kLaunch, 0}, &ranks);
    LinkCaller caller(*fabric, host);
    try {
      caller.run(algorithm_of(Operation::kBarrier, "dissemination"), {});
      host.finish();
    } catch (const std::exception& error) {
      messages[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
    return 0;
  });
  EXPECT_TRUE(std::ranges::any_of(
      messages, [](const std::string& one) { return test::mentions(one, "no link to device"); }));
}

TEST(LinkCalls, KnowTheShapesOfTopologies) {
  const auto wiring_of = [](const std::string& topology) {
    return shape_of_links(network::make_topology(topology)).wiring;
  };
  EXPECT_EQ(wiring_of("pair"), Wiring::kAnyToAny);
  EXPECT_EQ(wiring_of("ring:3"), Wiring::kAnyToAny);
  EXPECT_EQ(wiring_of("ring:4"), Wiring::kRing);
  EXPECT_EQ(wiring_of("full-mesh:5"), Wiring::kAnyToAny);
  const Shape torus = shape_of_links(network::make_topology("torus:3x4"));
  EXPECT_EQ(torus.wiring, Wiring::kTorus);
  EXPECT_EQ(torus.rows, 3);
  EXPECT_EQ(torus.columns, 4);
  EXPECT_TRUE(torus.only_neighbours_talk);
  const std::string message = test::message_of([] { shape_of_links(network::make_topology("switch:4")); });
  EXPECT_TRUE(test::mentions(message, "ring, torus")) << message;
}

}  // namespace
}  // namespace fabricmark::collectives
