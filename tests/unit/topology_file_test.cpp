#include <random>

#include "network/topology.hpp"
#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::mentions;
using test::message_of;

const std::string kGood = R"({
  "schema": "fabricmark-topology/1",
  "name": "two and a switch",
  "devices": [
    "a",
    "b"
  ],
  "switches": ["s"],
  "cables": [
    ["a:0", "s:0"],
    ["b:1", "s:2"]
  ]
})";

std::string changed(const std::string& old, const std::string& with) {
  std::string text = kGood;
  const auto place = text.find(old);
  EXPECT_NE(place, std::string::npos) << old;
  return text.replace(place, old.size(), with);
}

TEST(TopologyFile, HasNodesAndCablesByName) {
  const Topology made = read_topology(kGood, "f.json");
  EXPECT_EQ(made.name(), "two and a switch");
  EXPECT_EQ(made.devices(), 2);
  EXPECT_EQ(made.switches(), 1);
  EXPECT_EQ(made.neighbour({1, 1}), (Port{2, 2}));
  EXPECT_EQ(made.neighbour({1, 0}), std::nullopt);
  EXPECT_EQ(made.node_name(2), "'s'");
  EXPECT_EQ(made.hops(0, 1), (Hops{.cables = 2, .switches = 1, .devices = 0}));
}

TEST(TopologyFile, IsFoundByItsPath) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("t.json", kGood);
  EXPECT_EQ(make_topology("file:" + file.string(), 2).name(), "two and a switch");
  EXPECT_TRUE(
      mentions(message_of([&] { make_topology("file:" + file.string(), 3); }), "has 2 devices, not 3"));
  EXPECT_TRUE(mentions(message_of([&] { load_topology(folder.path()); }), "cannot read the topology file"));
}

TEST(TopologyFile, EveryFaultHasItsLine) {
  struct Fault {
    std::string old;
    std::string with;
    std::string says;
  };
  const std::vector<Fault> faults{
      {"\"s:0\"", "\"t:0\"", "line 10: unknown node 't'"},
      {"\"s:2\"", "\"s:0\"", "line 11: 's:0' has a cable already, in line 10"},
      {"\"b:1\"", "\"a:0\"", "line 11: 'a:0' has a cable already, in line 10"},
      {"\"b:1\"", "\"s:1\"", "line 6: 'b' has no cable"},
      {"\"b:1\"", "\"b\"", "line 11: 'b' names no port"},
      {"\"b:1\"", "\"b:-1\"", "line 11: 'b:-1' names no port"},
      {"\"b:1\"", "\"b:1x\"", "line 11: 'b:1x' names no port"},
      {"\"b:1\"", "\"b:4096\"", "line 11: 'b:4096' names no port"},
      {"\"b:1\", ", "", "line 11: a cable has two ends"},
      {"\"b:1\"", "7", "line 11: a number stands where none belongs"},
      {"\"b:1\"", "null", "line 11: null"},
      {"\"b:1\"", "{}", "line 11: a table stands"},
      {"\"b:1\"", "[]", "line 11: a list stands"},
      {"\"b\"", "\"a\"", "line 6: 'a' stands twice"},
      {"\"b\"", "\"b:c\"", "line 6: 'b:c' is no name"},
      {"\"b\"", "[\"b\"]", "line 6: a list stands"},
      {"\"b\"", "true", "line 6: true and false"},
      {"\"b\"", "\"b\\n\"", "line 6: a control character"},
      {"\"switches\"", "\"swiches\"", "line 8: unknown key swiches"},
      {"\"switches\"", "\"devices\"", "line 8: devices stands twice"},
      {"[\"s\"]", "\"s\"", "line 8: \"s\" stands where a list belongs"},
      {"\"two and a switch\"", "[]", "line 3: a list stands"},
      {"topology/1", "topology/2", "line 2: no fabricmark-topology/1"},
      {"\"schema\": \"fabricmark-topology/1\",", "", "line 1: no fabricmark-topology/1"},
      {"],\n  \"cables\"", "]\n  \"cables\"", "line 9: not JSON"},
  };
  for (const auto& [old, with, says] : faults) {
    const std::string text = changed(old, with);
    const std::string message = message_of([&] { read_topology(text, "f.json"); });
    EXPECT_TRUE(mentions(message, "'f.json' " + says)) << message << " instead of " << says;
  }
  for (const char* text : {"", "[]", "\"a\"", "3", "{", "{}", "\xff", "[[[["}) {
    EXPECT_TRUE(mentions(message_of([&] { read_topology(text, "f.json"); }), "'f.json' line 1")) << text;
  }
  EXPECT_TRUE(mentions(message_of([] { read_topology(R"({"schema": "fabricmark-topology/1"})", "f.json"); }),
                       "f.json has 0 devices"));
}

TEST(TopologyFile, NoTextBreaksIt) {
  std::mt19937 random(3);
  int made = 0;
  for (int i = 0; i < test::kMutations; ++i) {
    const std::string text = test::mutated(kGood, random);
    try {
      made += read_topology(text, "f.json").devices() > 0 ? 1 : 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadUse);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(made, 0);
}

}  // namespace

}  // namespace fabricmark::network
