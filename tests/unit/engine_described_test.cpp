// What an engine takes from an exported system.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "board/accl/settings.hpp"
#include "exported_system.hpp"
#include "support.hpp"

namespace fabricmark::accl {

namespace {

using Json = nlohmann::json;
using network::Protocol;
using test::mentions;
using test::message_of;
using test::packet_network;
using test::published;

class EngineDescribed : public testing::Test {
 protected:
  Described of(const std::string& transport, const Choices& choices = {}) {
    return described(folder_.write("system.json", made_.dump()), transport, choices);
  }
  std::string refused(const std::string& transport = "accl-tcp", const Choices& choices = {}) {
    return message_of([&] { of(transport, choices); });
  }
  Json& values(int place) { return made_["networks"][place]["values"]; }

  test::TemporaryFolder folder_;
  /// The engine is on the second kind of devices.
  Json made_{
      {"schema", "fabricmark-exported-system/1"},
      {"devices",
       {{{"id", "first"}, {"values", Json::object()}}, {{"id", "second"}, {"values", Json::object()}}}},
      {"networks", {packet_network("udp", 66), packet_network("tcp", 78), packet_network("rdma", 82)}},
      {"topology",
       {{{"device", "first"}, {"networks", Json::object()}},
        {{"device", "second"},
         {"networks", {{"accl-udp", "udp"}, {"accl-tcp", "tcp"}, {"accl-rdma", "rdma"}}}}}}};
};

TEST_F(EngineDescribed, HasAllThatCallsCost) {
  for (const auto& [transport, protocol] : {std::pair{"accl-udp", Protocol::kUdp},
                                            {"accl-tcp", Protocol::kTcp},
                                            {"accl-rdma", Protocol::kRdma}}) {
    const Described found = of(transport);
    EXPECT_EQ(found.stack.protocol, protocol);
    EXPECT_DOUBLE_EQ(found.device.launch_seconds, 30e-6);
    EXPECT_DOUBLE_EQ(found.engine.logic_issue_seconds, 0.24e-6);
    EXPECT_DOUBLE_EQ(found.engine.copy_latency_seconds, 1.7e-6);
    EXPECT_DOUBLE_EQ(found.engine.copy_rate, 14e9);
    EXPECT_EQ(found.stack.costs.node_latency, network::from_seconds(1.26e-6));
    EXPECT_EQ(found.stack.costs.switch_latency, network::from_seconds(1e-6));
    EXPECT_EQ(found.stack.costs.mtu_bytes, 8960U);
    EXPECT_EQ(found.topology, "switch");
    // Only TCP has a receive buffer that closes its window.
    EXPECT_EQ(found.stack.receive_latency, protocol == Protocol::kTcp ? network::from_seconds(1.7e-6) : 0);
    EXPECT_EQ(receive_buffers_of(found.engine, protocol).longest <= found.engine.rx_bytes,
              protocol == Protocol::kRdma);
  }
}

TEST_F(EngineDescribed, TheSystemsOwnDeviceSaysWhatAStartTakes) {
  Json& own = made_["devices"][1]["values"];
  own = {{"invocation_seconds", published(12e-6)},
         {"copy_seconds", published(5e-6)},
         {"copy_bytes_per_second", published(9e9)}};
  EXPECT_DOUBLE_EQ(of("accl-udp").device.launch_seconds, 12e-6) << "l_k of a call from the host";
  EXPECT_DOUBLE_EQ(of("accl-udp").engine.copy_latency_seconds, 1.7e-6) << "the engine's own l_m";
  for (const char* name : {"host_start_seconds", "copy_seconds", "copy_bytes_per_second"})
    values(0).erase(name);
  EXPECT_DOUBLE_EQ(of("accl-udp").device.launch_seconds, 12e-6);
  EXPECT_DOUBLE_EQ(of("accl-udp").engine.copy_latency_seconds, 5e-6) << "no network says it";
  EXPECT_DOUBLE_EQ(of("accl-udp").engine.copy_rate, 9e9);
  made_["devices"][0]["values"] = own;
  own = Json::object();
  EXPECT_TRUE(mentions(refused("accl-udp"), "network udp has no host_start_seconds")) << "another device's";
}

TEST_F(EngineDescribed, TheWireHasTheRateOfTheLineWhateverLongMessagesHad) {
  for (const double measured : {1e9, 12.3e9}) {
    values(0)["link_bytes_per_second"] = published(measured);
    EXPECT_DOUBLE_EQ(of("accl-udp").stack.costs.bytes_per_second, 12.5e9);
  }
}

TEST_F(EngineDescribed, HeadersLeavePayloadOfAPacket) {
  const auto payload = [&](const char* transport, std::size_t mtu) {
    return of(transport, {.mtu_bytes = mtu}).stack.costs.mtu_bytes;
  };
  EXPECT_EQ(payload("accl-tcp", 1500), 1460U);
  EXPECT_EQ(payload("accl-udp", 1500), 1472U);
  EXPECT_EQ(payload("accl-rdma", 1500), 1024U);
  EXPECT_EQ(payload("accl-tcp", 9000), 8960U);
  EXPECT_EQ(payload("accl-udp", 9000), 8972U);
  EXPECT_EQ(payload("accl-rdma", 9000), 4096U);
  EXPECT_EQ(payload("accl-rdma", 576), 512U);
  EXPECT_TRUE(mentions(refused("accl-tcp", {.mtu_bytes = 100}), "an MTU of 100 B"));
  EXPECT_TRUE(mentions(refused("accl-tcp", {.mtu_bytes = 9001}), "an MTU of 9001 B"));
}

TEST_F(EngineDescribed, TheWindowStopsNobodyUnlessAskedTo) {
  EXPECT_GT(of("accl-tcp").stack.window_bytes, std::uint64_t{1} << 29U);
  EXPECT_EQ(of("accl-tcp", {.window_bytes = 65535}).stack.window_bytes, 65535U);
  EXPECT_TRUE(mentions(refused("accl-tcp", {.window_bytes = std::size_t{1} << 31U}), "a window of"));
}

TEST_F(EngineDescribed, SaysWhatIsMissing) {
  EXPECT_TRUE(mentions(refused("tcp"), "'tcp' is no transport of the engine"));
  for (const char* name : {"line_bytes_per_second", "host_start_seconds", "start_seconds", "copy_seconds",
                           "copy_bytes_per_second", "frame_bytes"}) {
    const Json kept = values(1);
    values(1).erase(name);
    EXPECT_TRUE(mentions(refused(), fmt::format("network tcp has no {}", name)));
    values(1)[name] = published(0);
    EXPECT_TRUE(mentions(refused(), fmt::format("network tcp has no {}", name)));
    values(1)[name] = {{"value", "much"}};
    EXPECT_TRUE(mentions(refused(), fmt::format("{}.value is missing or wrong", name)));
    values(1) = kept;
    EXPECT_EQ(of("accl-tcp").stack.costs.header_bytes, 78U);
  }
  values(1)["frame_overhead_bytes"] = published(37);
  EXPECT_TRUE(mentions(refused(), "network tcp has no frame_overhead_bytes"));
  made_["networks"][1]["kind"] = "host";
  EXPECT_TRUE(mentions(refused(), "network tcp is of the kind host, not packet"));
  made_["topology"][1]["networks"].erase("accl-tcp");
  EXPECT_TRUE(mentions(refused(), "no network 'accl-tcp'; use one of udp, tcp, rdma"));
  made_["topology"][0].erase("networks");
  EXPECT_TRUE(mentions(refused(), "topology[0].networks"));
  EXPECT_TRUE(mentions(message_of([&] { described(folder_.path() / "none", "accl-udp"); }), "cannot read"));
  EXPECT_TRUE(mentions(message_of([&] { described(folder_.write("x", "{}"), "accl-udp"); }), "is no "));
}

}  // namespace

}  // namespace fabricmark::accl
