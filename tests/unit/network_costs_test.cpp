#include "network/network_costs.hpp"

#include <nlohmann/json.hpp>
#include <random>

#include "support.hpp"

namespace fabricmark::network {

namespace {

using Json = nlohmann::json;
using test::mentions;
using test::message_of;

Json value(double number) { return {{"value", number}, {"kind", "published"}}; }

/// As `fabricmark systems export` writes it, with what is not read left out.
Json exported() {
  return {{"schema", "fabricmark-exported-system/1"},
          {"devices", {{{"id", "board"}, {"values", {{"serial_ports", value(4)}}}}}},
          {"networks",
           {{{"id", "switched"},
             {"kind", "packet"},
             {"topology", "leaf-spine:4x2x8"},
             {"values",
              {{"latency_seconds", value(1.328e-6)},
               {"switch_seconds", value(0.318e-6)},
               {"node_seconds", value(0.336e-6)},
               {"cable_seconds", value(0.496e-6)},
               {"link_bytes_per_second", value(4.41e9)},
               {"links", value(2)},
               {"frame_bytes", value(1056)},
               {"frame_overhead_bytes", value(38)}}}},
            {{"id", "serial"},
             {"kind", "direct"},
             {"values",
              {{"latency_seconds", value(520e-9)},
               {"start_seconds", value(1e-6)},
               {"link_bytes_per_second", value(4e9)},
               {"width_bytes", value(32)},
               {"clock_hz", value(156.25e6)}}}}}},
          {"topology", {{{"device", "board"}, {"networks", {{"channels", "serial"}}}}}}};
}

class NetworkCostsFile : public testing::Test {
 protected:
  NetworkCosts load(const std::string& name) { return load_text(made_.dump(), name); }
  static NetworkCosts load_text(const std::string& text, const std::string& name) {
    return read_network_costs(text, "system.json", name);
  }
  std::string refused(const std::string& name = "switched") {
    return message_of([&] { load(name); });
  }
  Json& switched(const std::string& key) { return made_["networks"][0]["values"][key]; }

  Json made_ = exported();
};

TEST_F(NetworkCostsFile, HasANetworkByItsId) {
  const NetworkCosts found = load("switched");
  EXPECT_EQ(found.id, "switched");
  EXPECT_EQ(found.kind, "packet");
  EXPECT_EQ(found.topology, "leaf-spine:4x2x8");
  EXPECT_EQ(found.links, 2);
  EXPECT_EQ(found.board_ports, 4);
  EXPECT_DOUBLE_EQ(found.device_seconds(), 0.336e-6);
  EXPECT_DOUBLE_EQ(found.one_cable_seconds(), 0.496e-6);
  EXPECT_DOUBLE_EQ(found.link_bytes_per_second, 4.41e9);
  EXPECT_DOUBLE_EQ(found.wire_bytes_per_second(), 4.41e9 * 1094 / 1056);
  const PacketCosts costs = packet_costs(found);
  EXPECT_EQ(costs.node_latency, 336'000'000);
  EXPECT_EQ(costs.cable_latency, 496'000'000);
  EXPECT_EQ(costs.switch_latency, 318'000'000);
  EXPECT_EQ(costs.mtu_bytes, 1056U);
  EXPECT_EQ(costs.header_bytes, 38U);
}

TEST_F(NetworkCostsFile, HasANetworkByTransport) {
  const NetworkCosts found = load("channels");
  EXPECT_EQ(found.id, "serial");
  EXPECT_EQ(found.topology, "");
  EXPECT_EQ(found.links, 1);
  // Nothing splits the latency: all of it is the device's.
  EXPECT_DOUBLE_EQ(found.device_seconds(), 520e-9);
  EXPECT_DOUBLE_EQ(found.one_cable_seconds(), 0);
  EXPECT_DOUBLE_EQ(found.start_seconds, 1e-6);
  EXPECT_DOUBLE_EQ(found.link_bytes_per_second, 4e9);
  EXPECT_DOUBLE_EQ(found.wire_bytes_per_second(), 4e9);
  EXPECT_DOUBLE_EQ(found.width_of_links() * found.clock_of_links(), 5e9);
  EXPECT_EQ(found.frame_bytes, 0U);
}

TEST_F(NetworkCostsFile, TheOnlyNetworkNeedsNoName) {
  EXPECT_TRUE(mentions(refused(""), "several networks; choose one of switched, serial"));
  made_["networks"].erase(1);
  EXPECT_EQ(load("").id, "switched");
  made_["networks"] = Json::array();
  EXPECT_TRUE(mentions(refused(""), "has no network"));
}

TEST_F(NetworkCostsFile, EveryFaultHasItsPlace) {
  EXPECT_TRUE(mentions(refused("other"), "no network 'other'; use one of switched, serial"));
  for (const auto& wrong : {Json(-1.0), Json("1 us"), Json(nullptr)}) {
    switched("latency_seconds")["value"] = wrong;
    EXPECT_TRUE(mentions(refused(), "networks[0].values.latency_seconds.value"));
  }
  switched("latency_seconds") = value(0);
  switched("frame_bytes") = value(0.5);
  EXPECT_TRUE(mentions(refused(), "networks[0].values.frame_bytes.value"));
  switched("frame_bytes") = value(1e30);
  EXPECT_TRUE(mentions(refused(), "networks[0].values.frame_bytes.value"));
  switched("frame_bytes") = value(0);
  switched("link_bytes_per_second") = value(0);
  EXPECT_TRUE(mentions(refused(), "networks[0].values.link_bytes_per_second"));
  switched("link_bytes_per_second") = value(1e9);
  load("switched");
  made_["devices"] = Json::array();
  EXPECT_TRUE(mentions(refused(), "devices is missing or wrong"));
  made_.erase("topology");
  EXPECT_TRUE(mentions(refused(), "topology is missing or wrong"));
  EXPECT_TRUE(mentions(message_of([&] { load_text("{\n\n]", "x"); }), "line 3 is not JSON"));
  for (const char* text : {"", "[]", "{}", "1e999"}) message_of([&] { load_text(text, "x"); });
}

TEST_F(NetworkCostsFile, IsFoundByItsPath) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(load_network_costs(folder.write("system.json", made_.dump()), "switched").links, 2);
  EXPECT_TRUE(mentions(message_of([&] { load_network_costs(folder.path() / "none", "x"); }), "cannot read"));
}

TEST_F(NetworkCostsFile, NoTextBreaksIt) {
  std::mt19937 random(1);
  const std::string text = made_.dump(1);
  int loaded = 0;
  for (int i = 0; i < test::kMutations / 4; ++i) {
    try {
      const NetworkCosts found = load_text(test::mutated(text, random), "switched");
      loaded += found.link_bytes_per_second > 0 ? 1 : 0;
      packet_costs(found);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadUse);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace

}  // namespace fabricmark::network
