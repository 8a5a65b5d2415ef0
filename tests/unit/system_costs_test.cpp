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

Json table(const std::vector<double>& bytes, const std::vector<double>& seconds,
           const std::vector<double>& seconds_per_byte) {
  return {{"bytes", bytes}, {"seconds", seconds}, {"seconds_per_byte", seconds_per_byte}};
}

Json of_devices(int devices, Json times) {
  times["devices"] = devices;
  return times;
}

/// Two devices a node. A message is copied word by word below ten bytes, and waits longer from a page of
/// 1000.
Json simulated_system() {
  Json made{{"schema", "fabricmark-exported-system/1"}, {"name", "mine"}};
  made["devices"] = {
      {{"id", "star"},
       {"values",
        values(
            {{"banks", 4}, {"bank_bytes_per_second", 64}, {"launch_seconds", 0.5}, {"update_seconds", 7}})}}};
  const Json message = table({0, 10, 1000}, {0.25, 1, 14}, {0, 0.01, 0.02});
  const Json beside = table({0, 10, 1000}, {0.25, 2, 28}, {0, 0.02, 0.04});
  for (const auto& [direction, array] :
       {std::pair{"to_device", table({0}, {1}, {0.01})}, {"from_device", table({0}, {2}, {0.02})}}) {
    made["devices"][0]["copies"][direction] = {
        {"array", array}, {"message", message}, {"message_beside_others", beside}};
  }
  made["bitstreams"] = {
      {{"id", "a/k"}, {"values", values({{"kernel_hz", 8}, {"update_seconds", 9}, {"k_efficiency", 0.5}})}}};
  made["topology"] = {{{"device", "star"},
                       {"devices_per_node", 2},
                       {"most_devices", 8},
                       {"networks", {{"host", "mpi"}, {"channels", "ring"}}},
                       {"messages",
                        {{"host",
                          {of_devices(1, table({0}, {0}, {0.025})), of_devices(2, table({0}, {0.5}, {0.1})),
                           of_devices(4, table({0, 100}, {1, 3}, {0, 0.04}))}}}}}};
  return made;
}

class Costs : public testing::Test {
 protected:
  SystemCosts of(int devices = 1, const std::string& bitstream = "") {
    return SystemCosts({folder_.write("system.json", made_.dump()), "star", bitstream, devices});
  }
  double message(int devices, double bytes) { return of(devices).message_seconds("host", bytes); }

  test::TemporaryFolder folder_;
  Json made_ = simulated_system();
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
  EXPECT_TRUE(mentions(clock, "kernel_hz of star is missing in ")) << clock;
  EXPECT_TRUE(mentions(clock, "--bitstream-id")) << clock;
  const std::string network = message_of([&] { static_cast<void>(of().message_seconds("channels", 1)); });
  EXPECT_TRUE(mentions(network, "between hosts over the transport channels of star")) << network;
  made_["devices"][0]["copies"].erase("to_device");
  const std::string rate = message_of([&] { static_cast<void>(of().array_copy_seconds(true, 1)); });
  EXPECT_TRUE(mentions(rate, "the time of copies to star is missing") &&
              mentions(rate, "host.write_bandwidth"))
      << rate;
  made_["devices"][0].erase("copies");
  made_["topology"][0].erase("messages");
  const std::string copy = message_of([&] { static_cast<void>(of().message_copy_seconds(false, 1)); });
  EXPECT_TRUE(mentions(copy, "host.read_bandwidth")) << copy;
  EXPECT_TRUE(mentions(message_of([&] { message(2, 1); }), "link_bandwidth or curves"));
}

TEST_F(Costs, CopiesAreReadFromTheTablesOfTheirWay) {
  EXPECT_EQ(of().array_copy_seconds(true, 200), 1 + 2);
  EXPECT_EQ(of().array_copy_seconds(false, 200), 2 + 4);
  const SystemCosts alone = of(1);
  for (const bool is_to_device : {true, false}) {
    EXPECT_EQ(alone.message_copy_seconds(is_to_device, 0), 0.25);
    EXPECT_EQ(alone.message_copy_seconds(is_to_device, 9.5), 0.25);
    EXPECT_EQ(alone.message_copy_seconds(is_to_device, 10), 1) << "a table's size is of what begins there";
    EXPECT_EQ(alone.message_copy_seconds(is_to_device, 510), 1 + 500 * 0.01);
    EXPECT_EQ(alone.message_copy_seconds(is_to_device, 2000), 14 + 1000 * 0.02) << "above the last";
    EXPECT_EQ(of(2).message_copy_seconds(is_to_device, 510), 2 + 500 * 0.02)
        << "its node's other copies, too";
  }
  made_["topology"][0]["devices_per_node"] = 1;
  EXPECT_EQ(of(2).message_copy_seconds(true, 510), 1 + 500 * 0.01) << "none is in its node";
}

TEST_F(Costs, MessagesAreThoseOfARunOnSoManyDevices) {
  EXPECT_EQ(message(1, 20), 0.5) << "to itself";
  EXPECT_EQ(message(2, 20), 0.5 + 2);
  EXPECT_EQ(message(3, 20), 0.5 + 2);
  EXPECT_EQ(message(4, 20), 1);
  EXPECT_EQ(message(64, 200), 3 + 4);
}

TEST_F(Costs, AreRefusedWithFileAndPlace) {
  struct Fault {
    const char* pointer;
    Json value;
    const char* message;
  };
  const Json whole = made_;
  for (const auto& [pointer, value, message] : std::vector<Fault>{
           {"/devices/0/id", "other", "devices: star"},
           {"/devices/0/values/banks/value", -4, "devices[0].values.banks.value"},
           {"/devices/0/values/banks/value", "4", "devices[0].values.banks.value"},
           {"/devices/0/values/banks", 4, "devices[0].values.banks."},
           {"/bitstreams/0/id", "b", "bitstreams: a/k"},
           {"/bitstreams/0/values", 1, "bitstreams[0].values"},
           {"/devices/0/copies/to_device/array", 1, "devices[0].copies.to_device.array"},
           {"/devices/0/copies/to_device/message_beside_others/bytes/0", 1,
            "devices[0].copies.to_device.message_beside_others.bytes"},
           {"/devices/0/copies/to_device/message_beside_others/bytes/1", 1e9,
            "devices[0].copies.to_device.message_beside_others.bytes"},
           {"/devices/0/copies/from_device/array/seconds", Json::array(),
            "devices[0].copies.from_device.array.bytes"},
           {"/devices/0/copies/from_device/array/seconds/0", -1,
            "devices[0].copies.from_device.array.seconds"},
           {"/topology/0/messages/host/0/seconds_per_byte/0", "a",
            "topology[0].messages.host[0].seconds_per_byte"},
           {"/topology/0/messages/host/1/devices", "2", "topology[0].messages.host[1].devices"},
           {"/topology/0/devices_per_node", 0, "topology[0].devices_per_node"},
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
            "[parameters.form]\ntype = \"string\"\nstage = \"run\"\nvalues = [\"one\", \"four-step\"]\n"
            "default = \"four-step\"\nmeaning = \"m\"\n"
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
  EXPECT_EQ(seconds(loop("depth = \"4 + 8 * form_is_four_step + 16 * form_is_one\"")), 12.0 / 8);
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
  EXPECT_TRUE(mentions(clock, "kernel_hz of ")) << clock;
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
           {loop("trips = \"1\"") +
                "[parameters.cycles]\ntype = \"int\"\nstage = \"run\"\ndefault = 1\nmeaning = \"m\"\n",
            "variants.base.costs.k: 'cycles' is a parameter or argument"},
           {loop("waits.p_seconds = \"1\"") +
                "[parameters.p_seconds]\ntype = \"int\"\nstage = \"run\"\ndefault = 1\nmeaning = \"m\"\n",
            "variants.base.costs.k: 'p_seconds' is a parameter or argument"},
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
