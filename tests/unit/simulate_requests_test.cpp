// Requests of simulations whose text is damaged anyhow: each is played, or refused in one line.
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "describe/simulate.hpp"
#include "describe/simulation.hpp"
#include "simulate/program.hpp"
#include "support.hpp"

namespace fabricmark::describe {

namespace {

/// Longer simulations may be asked for as well, and say no more here.
constexpr double kMostSteps = 1e4;

std::vector<std::string> good() {
  const std::string values = R"("values": {"link_bytes_per_second": 1e9, "latency_seconds": 1e-6})";
  return {
      R"({"simulate": "leaf-spine:2x2x2", "ranks": 4, "placement": "spread", "failed": ["leaf 0:spine 1"],
          "network": {"kind": "packet", )" +
          values + R"(}, "calls": [{"collective": "all_to_all", "algorithm": "pairwise", "bytes": 99}]})",
      R"({"simulate": "torus", "ranks": 4, "network": {"kind": "direct", )" + values +
          R"(}, "activities": 9, "calls": [{"repeat": 2, "calls": [{"exchange": "grid", "rows": 2, "bytes": 8},
          {"work": 1e-6}, {"collective": "broadcast", "algorithm": "chain", "over": "rows", "rows": 2,
          "bytes": 7}]}]})",
      R"({"simulate": "switch:5", "ranks": 4, "ranks_per_device": 2, "seed": 3, "background": 0.3, "links": 4,
          "network": {"kind": "host", )" +
          values + R"(}, "calls": [{"collective": "barrier", "algorithm": "dissemination"}]})",
      R"({"simulate": "dragonfly:3x2x2", "ranks": 6, "placement": "random", "network": {"kind": "packet", )" +
          values + R"(}, "call": {"collective": "all_reduce", "bytes": 64}})",
  };
}

double steps_of(const Json& request) {
  const Simulation asked(request);
  double steps = 0;
  for (const simulate::Program& program : asked.programs) steps += simulate::sent_by(program).steps;
  return steps;
}

/// The request with another value, or without one, somewhere in it.
Json changed(Json request, std::mt19937& random) {
  static const Json odd = Json::parse(
      R"([null, true, -1, 0, 1, 2, 3, 7, 1e-300, 1e300, 4294967297, 18446744073709551615, "", "x", "ring:2x2",
          "grid", "rows", "pair", [], [[]], {}, {"work": 1}, "\u0000", 0.5])");
  Json* node = &request;
  while (node->is_structured() && !node->empty() && random() % 6 != 0) {
    auto child = node->begin();
    std::advance(child, random() % node->size());
    if (random() % 12 == 0) {
      node->erase(child);
      return request;
    }
    node = &*child;
  }
  *node = odd[random() % odd.size()];
  return request;
}

TEST(SimulateRequests, AreGood) {
  for (const std::string& text : good()) {
    const Json answer = simulate_json(Json::parse(text));
    EXPECT_GT(answer.value("seconds", answer.value("latency_seconds", 0.0)), 0) << text;
  }
}

TEST(SimulateRequests, NoTextBreaksThem) {
  std::mt19937 random(26);
  const std::vector<std::string> texts = good();
  int played = 0;
  int refused = 0;
  for (int i = 0; i < test::kMutations / 4; ++i) {
    const std::string& text = texts[random() % texts.size()];
    const Json request = i % 2 == 0 ? Json::parse(test::mutated(text, random), nullptr, false)
                                    : changed(Json::parse(text), random);
    if (!request.is_object()) continue;
    try {
      if (steps_of(request) > kMostSteps) continue;
      simulate_json(request);
      ++played;
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.code(), ExitCode::kBadUse);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(played, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace

}  // namespace fabricmark::describe
