#include "describe/rank_programs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/error.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/operation.hpp"
#include "describe/simulate.hpp"
#include "describe/simulation.hpp"

namespace {

using fabricmark::Error;
namespace collectives = fabricmark::collectives;
using fabricmark::describe::Json;
using fabricmark::describe::simulate_json;

/// Two ranks over a switch: a byte takes a nanosecond, a message a microsecond more.
Json request(const Json& programs, const Json& collectives = Json::array()) {
  return {{"simulate", "switch"},
          {"ranks", 2},
          {"network",
           {{"kind", "host"}, {"values", {{"latency_seconds", 1e-6}, {"link_bytes_per_second", 1e9}}}}},
          {"programs", programs},
          {"collectives", collectives}};
}

Json parsed(const std::string& text) { return Json::parse(text); }

std::string refusal(const Json& asked) {
  try {
    simulate_json(asked);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RankPrograms, ChannelsTellMessagesApart) {
  // The receiver asks for the second message first: by order alone both would be mixed up.
  const Json found = simulate_json(request(parsed(R"([
      [["send", 0, 1, 100000, 1], ["send", 1, 1, 8, 2], ["wait", 0], ["wait", 1]],
      [["receive", 0, 0, 2], ["wait", 0], ["work", 1], ["receive", 0, 0, 1], ["wait", 0]]])")));
  EXPECT_GT(found["seconds"].get<double>(), 1.0);
  EXPECT_LT(found["ends"][0].get<double>(), 1e-3);
  EXPECT_NE(refusal(request(parsed(R"([[["send", 0, 1, 8, 1]], [["receive", 0, 0, 2], ["wait", 0]]])")))
                .find("rank 1 waits"),
            std::string::npos);
}

TEST(RankPrograms, LongMessagesWaitForTheirReceiver) {
  // A long one and a short one over one channel, and a receiver that comes a second later.
  Json asked = request(parsed(R"([
      [["send", 0, 1, 1001, 1], ["send", 1, 1, 1000, 1], ["wait", 1], ["work", 0.25], ["wait", 0]],
      [["work", 1], ["receive", 0, 0, 1], ["receive", 1, 0, 1], ["wait", 1], ["wait", 0]]])"));
  EXPECT_NEAR(simulate_json(asked)["ends"][0].get<double>(), 0.25, 1e-4);
  asked["eager_bytes"] = 1001;
  EXPECT_NEAR(simulate_json(asked)["ends"][0].get<double>(), 0.25, 1e-4);
  asked["eager_bytes"] = 1000;
  const Json late = simulate_json(asked);
  EXPECT_NEAR(late["ends"][0].get<double>(), 1 + 1e-6 + 1001e-9, 1e-9);  // latency and bytes
  EXPECT_EQ(late["ends"][0], late["ends"][1]);
  // A receiver that is there already: no more than its latency and bytes from when it is sent.
  Json early = request(parsed(R"([[["work", 1], ["send", 0, 1, 5000, 1], ["wait", 0]],
                                  [["receive", 0, 0, 1], ["wait", 0]]])"));
  early["eager_bytes"] = 0;
  EXPECT_NEAR(simulate_json(early)["seconds"].get<double>(), 1 + 1e-6 + 5000e-9, 1e-9);
  early["programs"][1] = Json::array();
  EXPECT_NE(refusal(early).find("rank 0 waits in step 2 until rank 1 asks for a message above 0 B"),
            std::string::npos);
  early["eager_bytes"] = -1;
  EXPECT_NE(refusal(early).find("eager_bytes is -1"), std::string::npos);
}

TEST(RankPrograms, CollectivesEndWhereAllTheirMessagesWait) {
  for (const collectives::Algorithm& one : collectives::algorithms()) {
    for (const int ranks : {2, 3, 4, 7, 8}) {
      const collectives::Problem problem{.operation = one.operation, .ranks = ranks, .bytes = 4096};
      if (!one.fits(problem)) continue;
      Json asked = request(Json::array());
      asked.erase("programs");
      asked.erase("collectives");
      asked["ranks"] = ranks;
      asked["calls"] = {{{"collective", collectives::name_of(one.operation)},
                         {"algorithm", one.name},
                         {"bytes", problem.bytes}}};
      asked["eager_bytes"] = 0;
      EXPECT_EQ(refusal(asked), "") << one.name << ' ' << ranks;
    }
  }
}

TEST(RankPrograms, TimeIsToldByPart) {
  Json asked = request(parsed(R"([
      [["part", 1], ["work", 0.5], ["part", 2], ["send", 0, 1, 1000, 1], ["wait", 0], ["repeat", 5, 2]],
      [["part", 2], ["receive", 0, 0, 1], ["wait", 0], ["repeat", 2, 2]]])"));
  EXPECT_NE(refusal(asked), "");
  asked["parts"] = 3;
  const Json found = simulate_json(asked);
  const auto spent = found["spent"].get<std::vector<std::vector<double>>>();
  EXPECT_NEAR(spent[0][1], 1, 1e-12);
  EXPECT_NEAR(spent[0][1] + spent[0][2], found["ends"][0].get<double>(), 1e-12);
  EXPECT_GT(spent[0][2], 0);
  EXPECT_EQ(spent[0][0] + spent[1][0] + spent[1][1], 0);
  EXPECT_NEAR(spent[1][2], found["ends"][1].get<double>(), 1e-12);
  asked["parts"] = 2;
  EXPECT_NE(refusal(asked), "");
}

TEST(RankPrograms, LoopsTurnWithCollectivesInThem) {
  const Json calls = parsed(
      R"([{"collective": "all_reduce", "algorithm": "recursive_doubling", "bytes": 1000, "ranks": [0, 1], "channel": 1}])");
  const Json one = simulate_json(request(parsed(R"([[["collective", 0]], [["collective", 0]]])"), calls));
  const Json many = simulate_json(request(
      parsed(
          R"([[["work", 0], ["collective", 0], ["repeat", 2, 10]], [["collective", 0], ["repeat", 1, 5], ["repeat", 2, 2]]])"),
      calls));
  EXPECT_EQ(one["messages"], 2);
  EXPECT_EQ(many["messages"], 20);
  EXPECT_NEAR(many["seconds"].get<double>(), 10 * one["seconds"].get<double>(), 1e-9);
}

TEST(RankPrograms, WhatCannotBeIsRefused) {
  for (const char* steps : {R"(["send", 0, 2, 8, 1])", R"(["send", 0, 1, -8, 1])", R"(["send", 0, 1])",
                            R"(["send", 70000, 1, 8, 1])", R"(["wait", 0])", R"(["work", -1])", R"(["work"])",
                            R"(["repeat", 1, 2])", R"(["repeat", 0, 2])", R"(["collective", 0])",
                            R"(["fly", 1])", R"([])", R"([1])", R"("send")", R"(["work", "1"])"}) {
    const std::string text = std::string("[[") + steps + "], []]";
    EXPECT_NE(refusal(request(parsed(text))), "") << text;
  }
  EXPECT_NE(refusal(request(parsed("[[]]"))), "");
  EXPECT_NE(refusal(request(parsed("{}"))), "");
  for (const char* call :
       {R"({"collective": "all_reduce", "algorithm": "ring", "bytes": 8, "ranks": [0, 2]})",
        R"({"collective": "all_reduce", "algorithm": "ring", "bytes": 8, "ranks": [0, 0]})",
        R"({"collective": "all_reduce", "algorithm": "none", "bytes": 8, "ranks": [0, 1]})",
        R"({"collective": "all_reduce", "algorithm": "ring", "bytes": -8, "ranks": [0, 1]})",
        R"({"collective": "fly", "algorithm": "ring", "bytes": 8, "ranks": [0, 1]})",
        R"({"collective": "broadcast", "algorithm": "binomial", "bytes": 8, "ranks": [0, 1], "root": 2})",
        R"({"collective": "all_reduce", "algorithm": "ring", "bytes": 8, "ranks": []})"}) {
    EXPECT_NE(refusal(request(parsed("[[], []]"), Json::array({parsed(call)}))), "") << call;
  }
}

TEST(RankPrograms, AnyPiecesOfARequestAreAnsweredOrRefused) {
  Json good = request(parsed(R"([
      [["send", 0, 1, 100, 1], ["work", 0.5], ["wait", 0], ["repeat", 3, 4], ["collective", 0]],
      [["receive", 0, 0, 1], ["wait", 0], ["repeat", 2, 4], ["collective", 0]]])"),
                      parsed(R"([{"collective": "broadcast", "algorithm": "binomial",
      "bytes": 64, "ranks": [0, 1], "channel": 2, "root": 1}])"));
  good["eager_bytes"] = 64;
  const std::string whole = good.dump();
  ASSERT_EQ(refusal(Json::parse(whole)), "");
  std::mt19937 draw(3);
  int answered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text = whole;
    for (unsigned i = 0; i < 1 + draw() % 2; ++i)
      text[draw() % text.size()] = "0123456789-[]\",.e"[draw() % 17];
    const Json asked = Json::parse(text, nullptr, false);
    if (!asked.is_object()) continue;
    ++answered;
    refusal(asked);
  }
  EXPECT_GT(answered, 100);
}

}  // namespace
