// What operations cost in an exported system.
#include "runtime/system_costs.hpp"

#include <nlohmann/json.hpp>

#include "runtime/kernel_costs.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using Json = nlohmann::json;
using test::mentions;
using test::message_of;

Json values(const std::map<std::string, double>& numbers) {
  Json found = Json::object();
  for (const auto& [name, number] : numbers) found[name] = {{"value", number}, {"kind", "published"}};
  return found;
}

/// Two devices a node, of which each copies 100 B/s to and 50 B/s from its memory.
Json charged_system() {
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}};
  made["devices"] = {{{"id", "star"},
                      {"values", values({{"banks", 4},
                                         {"bank_bytes_per_second", 64},
                                         {"launch_seconds", 0.5},
                                         {"host_to_device_bytes_per_second", 100},
                                         {"device_to_host_bytes_per_second", 50},
                                         {"host_to_device_seconds", 1},
                                         {"device_to_host_seconds", 2},
                                         {"page_bytes", 1000},
                                         {"page_seconds", 3},
                                         {"programmed_bytes", 10},
                                         {"programmed_seconds", 0.25},
                                         {"programmed_bytes_per_second", 4},
                                         {"staging_bytes_per_second", 200},
                                         {"neighbour_factor", 1.5},
                                         {"update_seconds", 7}})}}};
  made["bitstreams"] = {
      {{"id", "a/k"}, {"values", values({{"kernel_hz", 8}, {"update_seconds", 9}, {"k_efficiency", 0.5}})}}};
  made["networks"] = {
      {{"id", "mpi"},
       {"kind", "host"},
       {"values",
        values({{"link_bytes_per_second", 10}, {"latency_seconds", 0.5}, {"self_bytes_per_second", 40}})},
       {"curves", Json::array()}},
      {{"id", "ring"}, {"kind", "direct"}, {"values", values({})}, {"curves", Json::array()}}};
  made["topology"] = {{{"device", "star"},
                       {"devices_per_node", 2},
                       {"most_devices", 8},
                       {"networks", {{"host", "mpi"}, {"channels", "ring"}}}}};
  return made;
}

Json curve(double devices, double nodes, const std::vector<double>& seconds) {
  return {{"devices", devices}, {"nodes", nodes}, {"message_bytes", {1, 100, 10000}}, {"seconds", seconds}};
}

class Costs : public testing::Test {
 protected:
  SystemCosts of(int devices = 1, const std::string& bitstream = "") {
    return SystemCosts({folder_.write("system.json", made_.dump()), "star", bitstream, devices});
  }
  double message(int devices, double bytes) { return of(devices).message_seconds("host", bytes); }

  test::TemporaryFolder folder_;
  Json made_ = charged_system();
};

TEST_F(Costs, ABitstreamsValuesStandBeforeTheDevices) {
  EXPECT_EQ(of().find("update_seconds"), 7);
  EXPECT_EQ(of(1, "a/k").find("update_seconds"), 9);
  EXPECT_EQ(of(1, "a/k").need("bank_bytes_per_second"), 64);
  EXPECT_EQ(of().find("kernel_hz"), std::nullopt);
  EXPECT_EQ(of().value_or("kernel_hz", 3), 3);
}

TEST_F(Costs, WhatNothingSaysIsAskedForInOneLine) {
  const std::string clock = message_of([&] { static_cast<void>(of().need("kernel_hz")); });
  EXPECT_TRUE(mentions(clock, "system.json' says no kernel_hz of star")) << clock;
  EXPECT_TRUE(mentions(clock, "--bitstream-id")) << clock;
  made_["devices"][0]["values"].erase("host_to_device_bytes_per_second");
  const std::string rate = message_of([&] { static_cast<void>(of().array_copy_seconds(true, 1)); });
  EXPECT_TRUE(mentions(rate, "host_to_device_bytes_per_second")) << rate;
  const std::string network = message_of([&] { static_cast<void>(of().message_seconds("channels", 1)); });
  EXPECT_TRUE(mentions(network, "no network of the kind host for the transport channels of star")) << network;
  made_["networks"][0]["values"].erase("link_bytes_per_second");
  const std::string link = message_of([&] { static_cast<void>(message(2, 1)); });
  EXPECT_TRUE(mentions(link, "neither link_bytes_per_second nor a curve")) << link;
}

TEST_F(Costs, ArraysAreCopiedAtTheRateAfterALatency) {
  EXPECT_EQ(of().array_copy_seconds(true, 200), 1 + 2);
  EXPECT_EQ(of().array_copy_seconds(false, 200), 2 + 4);
}

TEST_F(Costs, MessagesAreCopiedByOneOfTheDriversWays) {
  const SystemCosts alone = of(1);
  EXPECT_EQ(alone.message_copy_seconds(true, 0.5), 0.25) << "no shorter than that";
  EXPECT_EQ(alone.message_copy_seconds(true, 8), 2) << "word by word";
  EXPECT_EQ(alone.message_copy_seconds(true, 100), 1 + 100 * (1.0 / 100 + 1.0 / 200));
  EXPECT_EQ(alone.message_copy_seconds(false, 1000), 2 + 3 + 1000 * (1.0 / 50 + 1.0 / 200))
      << "from a page on";
  EXPECT_EQ(of(2).message_copy_seconds(true, 100), 1.5 * alone.message_copy_seconds(true, 100))
      << "its node's other device copies, too";
  EXPECT_EQ(of(2).message_copy_seconds(true, 8), 2);
}

TEST_F(Costs, AMessageTakesTheLinkAndItsLatency) {
  EXPECT_EQ(message(2, 20), 0.5 + 2);
  EXPECT_EQ(message(1, 20), 0.5) << "to itself";
}

TEST_F(Costs, ACurveStandsBeforeTheLinkAndIsThatOfTheMostSimilarRun) {
  made_["networks"][0]["curves"] = {curve(1, 1, {2, 2, 2}), curve(2, 1, {4, 4, 4}), curve(2, 2, {6, 6, 6}),
                                    curve(4, 2, {8, 8, 8}), curve(16, 8, {10, 10, 10})};
  EXPECT_EQ(message(1, 1), 1);
  EXPECT_EQ(message(2, 1), 2) << "one node";
  EXPECT_EQ(message(4, 1), 4) << "half of an exchange with both neighbours";
  EXPECT_EQ(message(8, 1), 4);
  EXPECT_EQ(message(32, 1), 5);
}

TEST_F(Costs, ACurveIsReadBetweenItsSizes) {
  made_["networks"][0]["curves"] = {curve(4, 2, {2, 20, 400})};
  EXPECT_EQ(message(4, 0), 1) << "below the smallest as that one";
  EXPECT_NEAR(message(4, 100), 10, 1e-12);
  EXPECT_NEAR(message(4, 10), std::sqrt(2.0 * 20) / 2, 1e-12) << "along a line of both logarithms";
  EXPECT_EQ(message(4, 20000), 400) << "above the largest at its rate";
}

TEST_F(Costs, AreRefusedWithFileAndPlace) {
  struct Fault {
    const char* pointer;
    Json value;
    const char* message;
  };
  made_["networks"][0]["curves"] = {curve(2, 1, {1, 2, 3})};
  const Json whole = made_;
  for (const auto& [pointer, value, message] :
       std::vector<Fault>{{"/devices/0/id", "other", "devices: star"},
                          {"/devices/0/values/banks/value", -4, "devices[0].values.banks.value"},
                          {"/devices/0/values/banks/value", "4", "devices[0].values.banks.value"},
                          {"/devices/0/values/banks", 4, "devices[0].values.banks."},
                          {"/bitstreams/0/id", "b", "bitstreams: a/k"},
                          {"/bitstreams/0/values", 1, "bitstreams[0].values"},
                          {"/networks/0/id", "other", "networks: mpi"},
                          {"/networks/0/kind", 1, "networks[0].kind"},
                          {"/networks/0/curves/0/seconds/1", 0, "networks[0].curves[0].seconds"},
                          {"/networks/0/curves/0/seconds/1", "a", "networks[0].curves[0].seconds"},
                          {"/networks/0/curves/0/seconds", Json::array(), "networks[0].curves[0].seconds"},
                          {"/networks/0/curves/0/message_bytes/0", 1e9, "networks[0].curves[0].seconds"},
                          {"/networks/0/curves/0/nodes", 0, "networks[0].curves[0].seconds"},
                          {"/topology/0/devices_per_node", 0, "topology[0].devices_per_node"},
                          {"/topology/0/networks/host", 1, "topology[0].networks.host"},
                          {"/topology", 1, "topology"}}) {
    made_ = whole;
    made_[Json::json_pointer(pointer)] = value;
    const std::string said = message_of([&] { of(2, "a/k"); });
    EXPECT_TRUE(mentions(said, "system.json") && mentions(said, message)) << said;
  }
}

TEST_F(Costs, SurviveRandomChangesOfTheFile) {
  const std::string original = made_.dump(1);
  std::mt19937 random(20261124);
  int refused = 0;
  constexpr int kTexts = test::kMutations / 10;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = test::mutated(original, random);
    const auto file = folder_.write("system.json", text);
    try {
      const SystemCosts found({file, "star", "a/k", 4});
      static_cast<void>(found.message_seconds("host", 100));
      static_cast<void>(found.message_copy_seconds(true, 100));
    } catch (const Error& error) {
      ++refused;
      ASSERT_TRUE(mentions(error.what(), "system.json") && mentions(error.what(), "; ")) << error.what();
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(refused, kTexts / 4) << "the changes change too little";
  EXPECT_LT(refused, kTexts) << "the changes change too much";
}

class KernelCosts : public Costs {
 protected:
  /// Of the kernel k with `loops`, called with n = 6 where the parameter p is 3.
  std::optional<double> seconds(const std::string& loops, const std::string& kernel = "k",
                                const std::string& bitstream = "a/k") {
    const KernelSpec spec = parse_kernel_spec(
        "benchmark = \"b\"\nsummary = \"s\"\n[variants.base]\nfile = \"f.cl\"\nentry_points = [\"k\", "
        "\"l\"]\n"
        "[variants.base.arguments]\nk = [{ name = \"a\", kind = \"buffer\" }, { name = \"n\", kind = "
        "\"uint\" }]\n" +
            loops +
            "[parameters.p]\ntype = \"int\"\nstage = \"run\"\ndefault = 3\nmeaning = \"m\"\n"
            "[parameters.data_type]\ntype = \"string\"\nstage = \"run\"\ndefault = \"double\"\nmeaning = "
            "\"m\"\n",
        "kernel.toml");
    const Parameters parameters = resolve(spec, "base", {}, {}, {}, {});
    const auto costs = command_costs(std::make_shared<SystemCosts>(of(1, bitstream)), spec,
                                     spec.variant("base"), parameters, device::Replicas::kOneEntry);
    const std::unique_ptr<device::KernelCost> cost = costs->kernel(kernel);
    const std::uint32_t n = 6;
    cost->set_number(1, &n, sizeof(n));
    return cost->seconds();
  }
  static std::string loop(const std::string& keys) { return "[[variants.base.costs.k]]\n" + keys + "\n"; }
};

TEST_F(KernelCosts, AreTheLongerOfCyclesAndMemoryOfEachLoop) {
  EXPECT_EQ(seconds(loop("trips = \"n * p\"")), 18.0 / 8);
  EXPECT_EQ(seconds(loop("trips = \"n\"\ninterval = \"2\"\ndepth = \"p\"")), 15.0 / 8);
  EXPECT_EQ(seconds(loop("depth = \"4\"")), 0.5);
  EXPECT_EQ(seconds(loop("memory_bytes = \"n * element_bytes\"")), 48.0 / 64);
  EXPECT_EQ(seconds(loop("trips = \"8\"\nmemory_bytes = \"32\"")), 1);
  EXPECT_EQ(seconds(loop("trips = \"8\"\nmemory_bytes = \"128\"")), 2);
  EXPECT_EQ(seconds(loop("trips = \"8\"") + loop("memory_bytes = \"128\"")), 3) << "one after the other";
  EXPECT_EQ(seconds(loop("memory_cycles = \"n\"")), 6.0 / 8)
      << "at the kernel's clock where there is no other";
  EXPECT_EQ(seconds(loop("waits.update_seconds = \"n\"\ntrips = \"8\"")), 54);
  EXPECT_EQ(seconds(loop("waits.unknown_seconds = \"n\"")), 0);
  EXPECT_EQ(seconds(loop("trips = \"8\"\nefficiency = \"k_efficiency\"")), 2);
  EXPECT_EQ(seconds(loop("trips = \"8\"\nefficiency = \"other_efficiency\"")), 1);
  EXPECT_EQ(seconds(loop("trips = \"8 * ceil(n / banks)\"")), 2);
  EXPECT_EQ(seconds(loop("trips = \"8\"\ndepth = \"n * drain_cycles\"")), 1) << "no drain is known";
  EXPECT_EQ(seconds(loop("trips = \"0\""), "k", ""), 0) << "which needs no clock";
}

TEST_F(KernelCosts, AreUnknownWhereNothingDeclaresThem) {
  EXPECT_EQ(seconds(loop("trips = \"1\""), "l"), std::nullopt);
  EXPECT_EQ(seconds("", "k"), std::nullopt);
}

TEST_F(KernelCosts, WithoutAClockOrWithoutAValueAreRefused) {
  const std::string clock = message_of([&] { seconds(loop("trips = \"n\""), "k", ""); });
  EXPECT_TRUE(mentions(clock, "says no kernel_hz")) << clock;
  const std::string value = message_of([&] { seconds(loop("trips = \"1 / (n - 6)\"")); });
  EXPECT_TRUE(mentions(value, "the cost of the kernel k has no value")) << value;
}

TEST_F(KernelCosts, ThatAreWronglyDeclaredAreRefusedWithTheirKey) {
  for (const auto& [loops, message] : std::vector<std::pair<std::string, std::string>>{
           {loop("trips = \"m\""), "variants.base.costs.k.trips \"m\" is no formula"},
           {loop("trips = \"a\""), "variants.base.costs.k.trips \"a\" is no formula"},
           {loop("trips = \"data_type\""), "is no formula"},
           {loop("trips = \"ceil(n, p)\""), "is no formula"},
           {loop("trips = \"n +\""), "is no formula"},
           {loop("waits.x_seconds = \"-\""), "variants.base.costs.k.waits.x_seconds \"-\" is no formula"},
           {loop("trips = 1"), "variants.base.costs.k.trips is missing or wrong"},
           {loop("waits.x = \"1\""), "variants.base.costs.k.waits.x is missing or wrong"},
           {loop("waits = 1"), "variants.base.costs.k.waits is missing or wrong"},
           {loop("trips = \"1\"\nefficiency = \"k\""),
            "variants.base.costs.k.efficiency is missing or wrong"},
           {loop("interval = \"1\"\nmemory_bytes = \"1\""),
            "variants.base.costs.k.trips is missing or wrong"},
           {loop("meaning = \"m\""), "variants.base.costs.k.trips is missing or wrong"},
           {loop("cycles = \"1\""), "unknown key variants.base.costs.k.cycles"},
           {"[[variants.base.costs.m]]\ntrips = \"1\"\n", "variants.base.costs.m is missing or wrong"},
           {"[variants.base.costs]\nk = \"1\"\n", "variants.base.costs.k is missing or wrong"},
           {"[variants.base.costs]\nk = []\n", "variants.base.costs.k is missing or wrong"},
           {"[variants.base.costs]\nk = [1]\n", "variants.base.costs.k is missing or wrong"}}) {
    const std::string said = message_of([&, &written = loops] { seconds(written); });
    EXPECT_TRUE(mentions(said, "kernel.toml") && mentions(said, message)) << said;
  }
}

}  // namespace

}  // namespace fabricmark::runtime
