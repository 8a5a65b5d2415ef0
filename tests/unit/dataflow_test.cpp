#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "dataflow_support.hpp"

namespace fabricmark::dataflow {
namespace {

/// A device, its host and, with a seed, kernels in a drawn order.
class Single {
 public:
  explicit Single(std::optional<std::uint64_t> seed = {})
      : host_(std::make_shared<Fabric>(FabricSettings{.schedule_seed = seed}), 0, kDevice) {}
  Host* operator->() { return &host_; }

 private:
  Host host_;
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Dataflow, WordsPassInOrderOneACycle) {
  Single host;
  stream<int> words("words");
  std::vector<int> got;
  host->start("produce", {}, [&] { produce(words, 1000); });
  const auto end = host->start("consume", {}, [&] {
    for (int i = 0; i < 1000; ++i) got.push_back(words.read());
  });
  host->finish();
  ASSERT_EQ(got.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
  EXPECT_DOUBLE_EQ(end.times().ended, 1000e-9);  // the last is written in cycle 999 and seen in the next
}

TEST(Dataflow, IntervalAndDepthOfTheLoopCount) {
  Single host;
  stream<int> words("words");
  host->start("produce", {.interval = 3, .depth = 50}, [&] { produce(words, 100); });
  const auto end = host->start("consume", {}, [&] { sum(words, 100); });
  host->finish();
  EXPECT_DOUBLE_EQ(end.times().ended, (50 + 99 * 3 + 1) * 1e-9);
}

/// Words through a kernel with a pipeline of four cycles, three cycles from one to the next: when the first
/// comes out, and the last [cycles].
std::pair<double, double> through_pipeline(bool stands_still) {
  Single host;
  stream<int> words("words");
  stream<int> passed("passed");
  host->start("produce", {.interval = 3}, [&] { produce(words, 10); });
  host->start("pass_on", {.depth = 4, .stands_still = stands_still}, [&] {
    for (int i = 0; i < 10; ++i) passed.write(words.read());
    end_loop();
    spend_cycles(1000);
  });
  const auto first = host->start("first", {}, [&] { passed.read(); });
  const auto all = host->start("all", {.after = {first}}, [&] { sum(passed, 9); });
  host->finish();
  return {first.times().ended * 1e9, all.times().ended * 1e9};
}

TEST(Dataflow, APipelineMovesOnWhileItWaitsUnlessItStandsStill) {
  // Words come in at 1, 4, .. 28. That of cycle 1 leaves as the one of cycle 13 comes in, or four cycles on;
  // behind the loop's end nothing is waited for.
  const auto [first_of_running, last_of_running] = through_pipeline(false);
  EXPECT_DOUBLE_EQ(first_of_running, 1 + 4 + 1);
  EXPECT_DOUBLE_EQ(last_of_running, 28 + 4 + 1);
  const auto [first_of_still, last_of_still] = through_pipeline(true);
  EXPECT_DOUBLE_EQ(first_of_still, 13 + 1);
  EXPECT_DOUBLE_EQ(last_of_still, 28 + 4 + 1);
}

TEST(Dataflow, AStreamHoldsTheWordsOfAPipelineThatStandsStill) {
  Single host;
  stream<int> words("words");
  const auto writes = [&](int from) {
    return [&, from] {
      for (int i = from; i < from + 12; ++i) words.write(i);
    };
  };
  // Ten words are in the pipeline and two in the stream; those of the second kernel go on behind them.
  const auto first = host->start("first", {.depth = 10, .stands_still = true}, writes(0));
  const auto second =
      host->start("second", {.depth = 20, .stands_still = true, .after = {first}}, writes(12));
  std::vector<int> got;
  host->start("late", {.after = {first}}, [&] {
    spend_cycles(1000);
    for (int i = 0; i < 24; ++i) got.push_back(words.read());
  });
  host->finish();
  EXPECT_DOUBLE_EQ(first.times().ended, (11 + 10) * 1e-9);
  EXPECT_DOUBLE_EQ(second.times().ended, (1023 + 20) * 1e-9);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(got.at(static_cast<std::size_t>(i)), i);
}

TEST(Dataflow, AStreamOfOnePlaceHasHalfTheRate) {
  Single host;
  stream<int, 1> words("words");
  host->start("produce", {}, [&] { produce(words, 100); });
  const auto end = host->start("consume", {}, [&] { sum(words, 100); });
  host->finish();
  EXPECT_DOUBLE_EQ(end.times().ended, (1 + 99 * 2) * 1e-9);
  EXPECT_GT(words.channel().counters().writer_stalled, 0);
}

TEST(Dataflow, LaunchMemoryAndCyclesWithoutStreamsCount) {
  const auto fabric = std::make_shared<Fabric>(FabricSettings{});
  Host host(fabric, 0, {1e9, 5e-6, 1e9});
  const auto first = host.start("spends", {}, [] { spend_cycles(2000); });
  const auto second = host.start("moves", {.memory_bytes = 3000, .after = {first}}, [] {});
  host.finish();
  EXPECT_DOUBLE_EQ(first.times().started, 5e-6);
  EXPECT_DOUBLE_EQ(first.times().ended, 7e-6);
  EXPECT_DOUBLE_EQ(second.times().started, 7e-6);
  EXPECT_DOUBLE_EQ(second.times().ended, 10e-6);
  EXPECT_EQ(host.now(), network::from_seconds(10e-6));
}

TEST(Dataflow, QuestionsAreAnsweredAtTheClockOfWhoAsks) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    Single host(seed);
    stream<int> words("words");
    int misses = 0;
    host->start("late", {}, [&] {
      spend_cycles(100);
      words.write(7);
    });
    host->start("asks", {}, [&] {
      int word = 0;
      while (!words.read_nb(word)) ++misses;
      EXPECT_EQ(word, 7);
    });
    host->finish();
    EXPECT_EQ(misses, 101);  // in cycles 0 to 100: what is written in 100 is seen in 101
  }
}

TEST(Dataflow, AFullStreamRefusesWithoutWaiting) {
  Single host;
  stream<int, 4> words("words");
  int written = 0;
  host->start("tries", {}, [&] {
    for (int i = 0; i < 10; ++i) written += words.write_nb(i) ? 1 : 0;
  });
  host->start("slow", {}, [&] {
    spend_cycles(50);
    EXPECT_EQ(sum(words, 4), 0 + 1 + 2 + 3);
  });
  host->finish();
  EXPECT_EQ(written, 4);
}

TEST(Dataflow, ATooShortStreamInACycleIsNamed) {
  Single host;
  stream<int, 2> left("left");
  stream<int, 2> right("right");
  const auto fork = [](stream<int>& first, stream<int>& second) {
    produce(first, 5);
    produce(second, 5);
  };
  const auto join = [](stream<int>& first, stream<int>& second) {
    for (int i = 0; i < 5; ++i) {
      const int word = second.read();
      EXPECT_EQ(first.read(), word);
    }
  };
  host->start("fork", {}, fork, left, right);
  host->start("join", {}, join, left, right);
  const std::string message = message_of([&] { host->finish(); });
  EXPECT_NE(message.find("fork (device 0) waits for a place in left (2 of 2 words)"), std::string::npos)
      << message;
  EXPECT_NE(message.find("join (device 0) waits for a word of right (0 of 2 words)"), std::string::npos)
      << message;
  EXPECT_NE(message.find("make a stream of the cycle deeper"), std::string::npos) << message;
}

TEST(Dataflow, AReaderWithoutAWriterIsNamed) {
  Single host;
  stream<int> words("words");
  host->start("reads", {}, [&] { words.read(); });
  const std::string message = message_of([&] { host->finish(); });
  EXPECT_NE(message.find("reads (device 0) waits for a word of words (0 of 2 words, which nobody writes)"),
            std::string::npos)
      << message;
}

TEST(Dataflow, WordsLeftOverAreNamed) {
  Single host;
  stream<int, 8> words("words");
  host->start("produce", {}, [&] { produce(words, 5); });
  host->start("consume", {}, [&] { sum(words, 3); });
  EXPECT_NE(message_of([&] { host->finish(); }).find("2 words are left over in stream words"),
            std::string::npos);
}

TEST(Dataflow, WordsMayWaitForALaterKernel) {
  Single host;
  stream<int, 8> words("words");
  host->start("produce", {}, [&] { produce(words, 5); }).wait();
  host->start("consume", {}, [&] { EXPECT_EQ(sum(words, 5), 10); });
  EXPECT_NO_THROW(host->finish());
}

TEST(Dataflow, WrongUseIsRefused) {
  {
    Single host;
    stream<int> words("words");
    host->start("one", {}, [&] {
      words.write(1);
      words.write(2);
      words.write(3);
    });
    host->start("two", {}, [&] { words.write(1); });
    EXPECT_NE(message_of([&] { host->finish(); }).find("kernels one and two both write stream words"),
              std::string::npos);
  }
  stream<int> words("words");
  EXPECT_NE(message_of([&] { words.write(1); }).find("used outside of kernels"), std::string::npos);
  Single host;
  EXPECT_NE(message_of([&] { host->open<int>(0); }).find("port 0 of device 0 has no cable"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { host->start("turned", {.depth = -1}, [] {}); }).find("negative number of cycles"),
      std::string::npos);
}

TEST(Dataflow, WhatAKernelThrowsComesToItsHost) {
  Single host;
  stream<int> words("words");
  host->start("fails", {}, [] { throw bad_use("a kernel's words", "mend it"); });
  host->start("waits", {}, [&] { words.read(); });
  EXPECT_EQ(message_of([&] { host->finish(); }), "a kernel's words; mend it");
}

/// Both kernels change memory that no stream guards: what comes out depends on who runs first.
int racing(std::uint64_t seed) {
  Single host(seed);
  int shared = 1;
  host->start("adds", {}, [&] { shared += 1; });
  host->start("doubles", {}, [&] { shared *= 2; });
  host->finish();
  return shared;
}

TEST(Dataflow, SeedsFindADesignThatDependsOnTheOrder) {
  std::set<int> found;
  for (std::uint64_t seed = 0; seed < 16; ++seed) found.insert(racing(seed));
  EXPECT_EQ(found, (std::set<int>{3, 4}));
}

/// Layers of kernels that each read all streams from the layer before and write all to the next.
struct ForkJoin {
  int branches;
  int stages;
  int words;
  std::vector<int> depths;
};

ForkJoin random_graph(std::mt19937& draw) {
  ForkJoin graph{std::uniform_int_distribution(1, 5)(draw),
                 std::uniform_int_distribution(1, 4)(draw),
                 std::uniform_int_distribution(1, 20)(draw),
                 {}};
  for (int i = 0; i < graph.branches * (graph.stages + 1); ++i) {
    graph.depths.push_back(std::uniform_int_distribution(1, 3)(draw));
  }
  return graph;
}

/// The end in modelled time; every word goes to each branch, and the sum of all branches comes out.
Time run(const ForkJoin& graph, std::optional<std::uint64_t> seed) {
  const auto fabric = std::make_shared<Fabric>(FabricSettings{.schedule_seed = seed, .stack_bytes = 1 << 16});
  Host host(fabric, 0, kDevice);
  std::vector<std::unique_ptr<stream<int>>> streams;
  for (const int depth : graph.depths) {
    streams.push_back(std::make_unique<stream<int>>(
        std::make_shared<Typed<int>>("stream " + std::to_string(streams.size()),
                                     ChannelTiming{static_cast<std::size_t>(depth), 0, 0, 0})));
  }
  const auto at = [&](int stage, int branch) -> stream<int>& {
    return *streams[static_cast<std::size_t>(stage * graph.branches + branch)];
  };
  host.start("fork", {}, [&] {
    for (int word = 0; word < graph.words; ++word) {
      for (int branch = 0; branch < graph.branches; ++branch) at(0, branch).write(word);
    }
  });
  for (int stage = 0; stage < graph.stages; ++stage) {
    for (int branch = 0; branch < graph.branches; ++branch) {
      host.start("stage", {.depth = static_cast<double>(branch)}, [&, stage, branch] {
        for (int word = 0; word < graph.words; ++word)
          at(stage + 1, branch).write(at(stage, branch).read() + 1);
      });
    }
  }
  host.start("join", {}, [&] {
    for (int word = 0; word < graph.words; ++word) {
      for (int branch = 0; branch < graph.branches; ++branch) {
        EXPECT_EQ(at(graph.stages, branch).read(), word + graph.stages);
      }
    }
  });
  host.finish();
  return host.now();
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kGraphs = 200;  // the sanitizers take a hundred times as long
#else
constexpr int kGraphs = 10000;
#endif

TEST(Dataflow, ForkJoinGraphsNeverStopAndTheirTimeDependsOnNoOrder) {
  std::mt19937 draw(1);
  for (int i = 0; i < kGraphs; ++i) {
    const ForkJoin graph = random_graph(draw);
    const Time expected = run(graph, std::nullopt);
    EXPECT_EQ(run(graph, draw()), expected);
  }
}

}  // namespace
}  // namespace fabricmark::dataflow
