#include "network/topology.hpp"

#include <queue>
#include <random>
#include <set>

#include "network/circuits.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::mentions;
using test::message_of;

/// Cables between two nodes by a search of its own, over the cables as a list.
int searched_distance(const Topology& topology, int from, int to) {
  std::vector<int> distance(topology.nodes(), -1);
  std::queue<int> reached({from});
  distance[from] = 0;
  while (!reached.empty()) {
    const int node = reached.front();
    reached.pop();
    for (const auto& [a, b] : topology.cables()) {
      for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
        if (here.node != node || distance[there.node] >= 0) continue;
        distance[there.node] = distance[node] + 1;
        reached.push(there.node);
      }
    }
  }
  return distance[to];
}

/// Every pair of devices is connected by a way without loops that is as short as the search finds.
void check_protocols(const Topology& topology) {
  for (int from = 0; from < topology.devices(); ++from) {
    for (int to = 0; to < topology.devices(); ++to) {
      if (from == to) continue;
      const auto way = topology.route(from, to);
      const int shortest = searched_distance(topology, from, to);
      ASSERT_EQ(static_cast<int>(way.size()), shortest) << topology.name() << ' ' << from << ' ' << to;
      EXPECT_EQ(topology.distance(from, to), shortest);
      const Hops hops = topology.hops(from, to);
      EXPECT_EQ(hops.cables, shortest);
      EXPECT_EQ(hops.switches + hops.devices, shortest - 1);
      std::set<int> passed{from};
      int node = from;
      for (const Hop& hop : way) {
        EXPECT_EQ(hop.out.node, node);
        EXPECT_EQ(topology.neighbour(hop.out), hop.in);
        EXPECT_EQ(topology.neighbour(hop.in), hop.out);
        EXPECT_EQ(topology.cable(hop.out), hop.cable);
        node = hop.in.node;
        EXPECT_TRUE(passed.insert(node).second);
      }
      EXPECT_EQ(node, to);
    }
  }
}

TEST(Topology, GeneratorsConnectAllDevicesByShortestWays) {
  for (const char* text :
       {"pair",      "pair*2",      "ring:1",           "ring:2",           "ring:3",
        "ring:8*2",  "torus:1x1",   "torus:1x5",        "torus:2x2",        "torus:3x4",
        "torus:4x4", "full-mesh:2", "full-mesh:7",      "full-mesh:3*2",    "switch:1",
        "switch:9",  "switch:4*2",  "leaf-spine:2x1x3", "leaf-spine:4x2x8", "leaf-spine:3x4x2*2"}) {
    const Topology made = make_topology(text);
    EXPECT_EQ(made.name(), text);
    check_protocols(made);
  }
}

TEST(Topology, SizesMayComeFromTheNumberOfDevices) {
  EXPECT_EQ(make_topology("pair", 2).devices(), 2);
  EXPECT_EQ(make_topology("ring", 6).name(), "ring:6");
  EXPECT_EQ(make_topology("ring*2", 6).name(), "ring:6*2");
  EXPECT_EQ(make_topology("torus", 12).name(), "torus:3x4");
  EXPECT_EQ(make_topology("torus", 7).name(), "torus:1x7");
  EXPECT_EQ(make_topology("full-mesh", 5).name(), "full-mesh:5");
  EXPECT_EQ(make_topology("switch", 5).name(), "switch:5");
  EXPECT_EQ(make_topology("torus:4x4", 16).devices(), 16);
  EXPECT_TRUE(mentions(message_of([] { make_topology("torus:4x4", 8); }), "has 16 devices, not 8"));
  EXPECT_TRUE(mentions(message_of([] { make_topology("ring"); }), "sizes are missing"));
  EXPECT_TRUE(mentions(message_of([] { make_topology("leaf-spine", 8); }), "leaves and spines"));
}

TEST(Topology, PortsAreNumberedByNeighbourAndLane) {
  const Topology two = ring(4, 2);
  EXPECT_EQ(two.neighbour({0, 0}), (Port{1, 2}));
  EXPECT_EQ(two.neighbour({0, 1}), (Port{1, 3}));
  EXPECT_EQ(two.neighbour({0, 2}), (Port{3, 0}));
  EXPECT_EQ(two.neighbour({0, 4}), std::nullopt);
  EXPECT_EQ(two.neighbour({9, 0}), std::nullopt);
  const Topology grid = torus(3, 4);
  EXPECT_EQ(grid.neighbour({0, 0}), (Port{1, 1}));
  EXPECT_EQ(grid.neighbour({0, 1}), (Port{3, 0}));
  EXPECT_EQ(grid.neighbour({0, 2}), (Port{4, 3}));
  EXPECT_EQ(grid.neighbour({0, 3}), (Port{8, 2}));
  const Topology mesh = full_mesh(4);
  EXPECT_EQ(mesh.neighbour({0, 2}), (Port{3, 0}));
  EXPECT_EQ(mesh.neighbour({2, 1}), (Port{1, 1}));
  const Topology tree = leaf_spine(2, 3, 4);
  EXPECT_EQ(tree.ports(0), 1);
  EXPECT_EQ(tree.neighbour({5, 0}), (Port{9, 1}));   // device 5: the second one of leaf 1
  EXPECT_EQ(tree.neighbour({9, 6}), (Port{12, 1}));  // leaf 1 to spine 2
  EXPECT_EQ(ring(1).neighbour({0, 0}), (Port{0, 1}));
}

TEST(Topology, HopsAreThoseOfTheFormulas) {
  EXPECT_EQ(torus(4, 4).hops(0, 10), (Hops{.cables = 4, .switches = 0, .devices = 3}));
  EXPECT_EQ(ring(8).hops(0, 3), (Hops{.cables = 3, .switches = 0, .devices = 2}));
  const Topology tree = leaf_spine(4, 2, 8);
  EXPECT_EQ(tree.hops(0, 7), (Hops{.cables = 2, .switches = 1, .devices = 0}));   // Mondigo 2020, eq. 4.3
  EXPECT_EQ(tree.hops(0, 31), (Hops{.cables = 4, .switches = 3, .devices = 0}));  // eq. 4.5
  EXPECT_EQ(ring(1).hops(0, 0), (Hops{.cables = 1, .switches = 0, .devices = 0}));
  EXPECT_EQ(tree.hops(0, 0), Hops{});
}

TEST(Topology, ATorusGoesAlongColumnsFirstAndByTheLowestPort) {
  const Topology grid = torus(4, 4);
  std::vector<int> ports;
  for (const Hop& hop : grid.route(0, 10))
    ports.push_back(hop.out.port);  // two on in both: either side is as far
  EXPECT_EQ(ports, (std::vector{0, 0, 2, 2}));
  EXPECT_EQ(grid.next_port(0, 3), 1);
  EXPECT_EQ(grid.next_port(0, 12), 3);
  EXPECT_EQ(grid.next_port(0, 15), 1);
  EXPECT_EQ(grid.next_port(0, 0), -1);
}

TEST(Topology, SwitchesSpreadDestinationsOverTheirCables) {
  const Topology tree = leaf_spine(2, 4, 8);
  std::vector<int> used(4);
  for (int device = 8; device < 16; ++device) ++used[tree.route(0, device)[1].out.port - 8];
  EXPECT_EQ(used, (std::vector{2, 2, 2, 2}));
  const Topology lanes = ring(4, 2);
  EXPECT_EQ(lanes.next_port(0, 1), 1);
  EXPECT_EQ(lanes.next_port(1, 2), 0);
}

TEST(Topology, RandomNetworksHaveShortestWays) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    const int devices = 1 + static_cast<int>(random() % 12);
    const int switches = static_cast<int>(random() % 5);
    std::vector<Cable> cables;
    std::vector<int> ports(devices + switches);
    const auto connect = [&](int a, int b) {
      const Port first{a, ports[a]++};
      cables.push_back({first, {b, ports[b]++}});
    };
    for (int node = 1; node < devices + switches; ++node) connect(node, static_cast<int>(random() % node));
    for (std::size_t more = random() % 12; more > 0; --more) {
      connect(static_cast<int>(random() % ports.size()), static_cast<int>(random() % ports.size()));
    }
    if (ports[0] == 0) connect(0, 0);
    check_protocols(Topology("random", devices, switches, cables));
  }
}

TEST(Topology, RefusesWhatIsNone) {
  EXPECT_TRUE(mentions(message_of([] { Topology("t", 3, 0, {{{0, 0}, {1, 0}}}); }), "device 2 has no cable"));
  EXPECT_TRUE(mentions(message_of([] {
                         Topology("t", 2, 0, {{{0, 0}, {1, 0}}, {{0, 0}, {1, 1}}});
                       }),
                       "port 0 of device 0 has two cables"));
  EXPECT_TRUE(mentions(message_of([] {
                         Topology("t", 4, 0, {{{0, 0}, {1, 0}}, {{2, 0}, {3, 0}}});
                       }),
                       "no cables lead from device 2 to device 0"));
  message_of([] { Topology("t", 0, 0, {}); });
  EXPECT_TRUE(mentions(message_of([] { full_mesh(8).check_ports(4); }),
                       "device 0 needs 7 ports and its board has 4"));
  torus(3, 3).check_ports(4);
  EXPECT_TRUE(mentions(message_of([] { (void)ring(3).hops(0, 3); }), "no device 3; use 0 to 2"));
  for (const char* text : {"",
                           ":",
                           "*",
                           "ring:",
                           "ring:0",
                           "ring:-1",
                           "ring:4x4",
                           "ring:4*0",
                           "ring:4*",
                           "ring:4*65",
                           "torus:4",
                           "torus:4x",
                           "torus:65x64",
                           "torus:4x4x4",
                           "pair:2",
                           "full-mesh:1",
                           "full-mesh:4000",
                           "leaf-spine:4x2",
                           "leaf-spine:2x0x4",
                           "switch:0",
                           "ring:99999999999",
                           "Ring:4",
                           "ring:4 ",
                           "hypercube:4",
                           "file:",
                           "file:/nowhere"}) {
    EXPECT_FALSE(message_of([&] { make_topology(text); }).empty()) << text;
  }
}

TEST(Topology, NoTextBreaksIt) {
  std::mt19937 random(2);
  const std::vector<std::string> texts{"ring:8*2",    "torus:4x4", "leaf-spine:2x2x3",
                                       "full-mesh:5", "pair",      "switch:3"};
  int made = 0;
  for (int i = 0; i < test::kMutations; ++i) {
    try {
      const Topology topology = make_topology(test::mutated(texts[random() % texts.size()], random));
      ++made;
      EXPECT_GE(topology.devices(), 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadUse);
    }
  }
  EXPECT_GT(made, 0);
}

TEST(Circuits, OwnTheirCables) {
  const Topology topology = ring(4, 2);
  Circuits circuits(topology);
  const Circuit first = circuits.circuit(circuits.connect(0, 1));
  EXPECT_EQ(first.hops.size(), 1U);
  const Circuit second = circuits.circuit(circuits.connect(1, 0));  // the other cable
  EXPECT_NE(first.hops[0].cable, second.hops[0].cable);
  EXPECT_TRUE(mentions(message_of([&] { circuits.connect(0, 1); }), "belongs to the circuit from device"));
  EXPECT_TRUE(mentions(message_of([&] { circuits.connect(0, 1, 0); }), "port 0 of device 0"));
  EXPECT_TRUE(mentions(message_of([&] { circuits.connect(0, 2, 1); }), "from its port 1"));
  const std::size_t long_one = circuits.connect(0, 2);  // over device 3
  EXPECT_EQ(circuits.circuit(long_one).hops.front().in.node, 3);
  EXPECT_EQ(circuits.owner({0, 2}), &circuits.circuit(long_one));
  EXPECT_EQ(circuits.owner({2, 0}), &circuits.circuit(long_one));
  circuits.release(long_one);
  EXPECT_EQ(circuits.owner({2, 0}), nullptr);
  circuits.connect(0, 2);
}

TEST(Circuits, UseThePortsThatAreAskedFor) {
  const Topology star = leaf_spine(1, 0, 3, 2);
  Circuits circuits(star);
  const Circuit made = circuits.circuit(circuits.connect(0, 2, 1, 0));
  EXPECT_EQ(made.first(), (Port{0, 1}));
  EXPECT_EQ(made.last(), (Port{2, 0}));
  EXPECT_TRUE(
      mentions(message_of([&] { circuits.connect(1, 2, 0, 0); }), "the circuit from device 0 to device 2"));
  EXPECT_TRUE(mentions(message_of([&] { circuits.connect(1, 2, 0, 5); }), "port 5 of device 2 has no cable"));
  EXPECT_EQ(circuits.circuit(circuits.connect(1, 2, 0)).last(), (Port{2, 1}));
  const Topology loop = ring(1);
  Circuits own(loop);
  EXPECT_EQ(own.circuit(own.connect(0, 0)).last(), (Port{0, 1}));
  message_of([&] { own.connect(0, 0); });
  const Topology line = ring(4);
  Circuits of_line(line);
  EXPECT_TRUE(mentions(message_of([&] { of_line.connect(0, 1, 1); }), "no shortest way has these ports"));
}

}  // namespace

}  // namespace fabricmark::network
