// Few receive buffers and many calls in flight: what finds no buffer free comes again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives_support.hpp"
#include "engine_support.hpp"

namespace fabricmark::accl {
namespace {

using network::Protocol;

/// All messages of a rank to the next one, of which its buffers take two; they are received late.
constexpr int kMessages = 8;

Devices few_buffers(Protocol protocol, int ranks) {
  Devices all = devices(protocol, ranks);
  all.engine.rx_buffers = 2;
  all.engine.rx_bytes = 1024;
  return all;
}

/// All ranks send the last one messages, which it receives in their order; returns how its last one ended.
Result late_receives(const Rank& rank, int last) {
  const int own = rank.host.device();
  Result result;
  std::vector<float> values(256);
  for (int i = 0; own != last && i < kMessages && result.is_done(); ++i) {
    std::ranges::fill(values, static_cast<float>(own * kMessages + i));
    result = rank.accl.send(view(values), last, i % 2).wait();
  }
  if (own != last) return result;
  rank.host.pass_until(network::from_seconds(1e-3));
  for (int i = 0; i < kMessages; ++i) {
    // First those with an even number, whose tag is 0.
    const int number = i < kMessages / 2 ? 2 * i : 2 * i - kMessages + 1;
    for (int from = 0; from < last; ++from) {
      result = rank.accl.recv(view(values), from, number % 2).wait();
      if (!result.is_done()) return result;
      EXPECT_EQ(values.front(), static_cast<float>(from * kMessages + number));
      EXPECT_EQ(values.back(), values.front());
    }
  }
  return result;
}

/// The end of the one that receives.
Result end_of(const Devices& all, std::optional<CreditFault> fault = {}) {
  Result end;
  run(all, [&](const Rank& rank) {
    const int last = all.ranks - 1;
    const bool is_last = rank.host.device() == last;
    if (is_last) rank.accl.corrupt_credit(fault);
    Result own;
    try {
      own = late_receives(rank, last);
      EXPECT_EQ(rank.accl.came_again() > 0, is_last);
      if (own.is_done() && !fault) {
        rank.accl.finish();
      } else {
        rank.host.finish();
      }
    } catch (const Error& error) {
      own.text = error.what();
    }
    if (is_last) end = own;
  });
  return end;
}

TEST(EngineCredits, WhatFindsNoBufferFreeComesAgainInItsOrder) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    EXPECT_EQ(end_of(few_buffers(protocol, 3)).text, "");
  }
}

// The second time takes its time: the credit's way, the message's and its copy.
TEST(EngineCredits, ComingAgainTakesTheWayOfTheCreditAndOfTheMessage) {
  double seconds[2] = {};
  for (const std::size_t buffers : {1, 2}) {
    Devices all = devices(Protocol::kUdp);
    all.engine.rx_buffers = buffers;
    all.engine.rx_bytes = 4096;
    run(all, [&](const Rank& rank) {
      std::vector<float> values(1024);
      std::vector<Request> requests;
      for (int i = 0; i < 2 && rank.host.device() == 0; ++i)
        requests.push_back(rank.accl.send(view(values), 1, i));
      for (Request& request : requests) request.wait();
      if (rank.host.device() == 0) return rank.accl.finish();
      rank.host.pass_until(network::from_seconds(1e-3));
      const Result result = rank.accl.recv(view(values), 0, 1).wait();  // the one that has no buffer
      seconds[buffers - 1] = result.ended - result.started;
      EXPECT_EQ(rank.accl.recv(view(values), 0, 0).wait().text, "");
      EXPECT_EQ(rank.accl.came_again(), buffers == 1 ? 1U : 0U);
      rank.accl.finish();
    });
  }
  const double wire = (4096 + 64 + 3 * 78) / kRate;
  const double credit = (64 + 78) / kRate;
  EXPECT_NEAR(seconds[0] - seconds[1], credit + wire + 2 * kWire, 1e-9);
}

TEST(EngineCredits, ALostCreditEndsInANamedTimeOut) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    const Result end = end_of(few_buffers(protocol, 3), CreditFault::kLost);
    EXPECT_EQ(end.code, Code::kTimeOut);
    EXPECT_NE(end.text.find("got credit, and did not come again"), std::string::npos) << end.text;
  }
}

// Without a time-out nothing goes on, and that is told.
TEST(EngineCredits, ALostCreditWithoutTimeOutIsADeadlock) {
  Devices all = few_buffers(Protocol::kTcp, 3);
  all.engine.timeout_seconds = 0;
  const Result end = end_of(all, CreditFault::kLost);
  EXPECT_NE(end.text.find("deadlock"), std::string::npos) << end.text;
  EXPECT_NE(end.text.find("engine: receive from rank"), std::string::npos) << end.text;
}

TEST(EngineCredits, CreditThatIsGivenTwiceIsTold) {
  for (const Protocol protocol : {Protocol::kUdp, Protocol::kTcp, Protocol::kRdma}) {
    const Result end = end_of(few_buffers(protocol, 3), CreditFault::kTwice);
    EXPECT_EQ(end.code, Code::kCreditsDiffer);
    EXPECT_NE(end.text.find("has given no credit for it"), std::string::npos) << end.text;
  }
}

// Programs of calls.

/// A call of some ranks, or a message between two of them.
struct Step {
  int slot = 0;              ///< which of the communicators of each device
  std::vector<int> devices;  ///< of that communicator
  collectives::Case collective{};
  bool is_message = false;
  int from = 0;
  int to = 0;
  int tag = 0;
};

/// What all devices do, in this order, some of it at the same time. Nothing in it needs a receive buffer to
/// go on: each waits only for what all have begun before.
struct Program {
  Devices all{};
  std::vector<std::vector<std::vector<int>>> slots{};  ///< parts of all devices
  std::vector<Step> steps{};
  std::uint64_t seed = 0;
};

std::vector<std::vector<int>> parts_of(int devices, Draw& draw) {
  std::vector<int> order(static_cast<std::size_t>(devices));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  std::vector<std::vector<int>> parts(1);
  for (const int device : order) {
    if (!parts.back().empty() && draw.below(4) == 0) parts.emplace_back();
    parts.back().push_back(device);
  }
  return parts;
}

Step drawn_step(Draw& draw, const Program& program) {
  Step step;
  step.slot = static_cast<int>(draw.below(program.slots.size()));
  const auto& parts = program.slots[static_cast<std::size_t>(step.slot)];
  step.devices = parts[draw.below(parts.size())];
  const std::size_t ranks = step.devices.size();
  const Type type = collectives::kTypes.at(draw.below(collectives::kTypes.size()));
  const std::size_t room = program.all.engine.rx_buffers * program.all.engine.rx_bytes;
  const std::size_t count =
      1 + draw.below(std::max<std::size_t>(room / ranks / collectives::bytes_of(type), 1));
  step.is_message = ranks > 1 && draw.below(3) == 0;
  step.from = static_cast<int>(draw.below(ranks));
  step.to = static_cast<int>(
      (static_cast<std::size_t>(step.from) + 1 + draw.below(std::max<std::size_t>(ranks - 1, 1))) % ranks);
  step.tag = static_cast<int>(draw.below(2));
  for (;;) {
    const auto& algorithm = collectives::algorithms()[draw.below(collectives::algorithms().size())];
    step.collective = {.algorithm = &algorithm, .ranks = static_cast<int>(ranks), .type = type};
    step.collective.call = {.operation = algorithm.operation, .root = step.from, .count = count};
    step.collective.call.reduction = collectives::kReductions.at(draw.below(collectives::kReductions.size()));
    step.collective.inputs.seed = draw.below(1000);
    if (algorithm.reach == collectives::Reach::kAll &&
        algorithm.fits(
            {algorithm.operation, static_cast<int>(ranks), count * collectives::bytes_of(type), {}}))
      return step;
  }
}

Program drawn_program(std::uint64_t seed) {
  Draw draw(seed);
  Program made{.seed = seed};
  const auto kind = draw.below(4);
  const int ranks = 2 + static_cast<int>(draw.below(8));
  made.all = devices(kind == 0 ? Protocol::kUdp : kind == 1 ? Protocol::kTcp : Protocol::kRdma, ranks);
  made.all.engine.rx_buffers = 1 + draw.below(4);
  made.all.engine.rx_bytes = std::size_t{128} << draw.below(5);
  if (kind == 3) made.all.engine.eager_bytes = draw.below(512);
  std::vector<int> everyone;
  for (int device = 0; device < ranks; ++device) everyone.push_back(device);
  made.slots.push_back({everyone});
  for (std::size_t slot = draw.below(3); slot > 0; --slot) made.slots.push_back(parts_of(ranks, draw));
  for (std::size_t step = 5 + draw.below(20); step > 0; --step) made.steps.push_back(drawn_step(draw, made));
  return made;
}

/// A step that is in progress on one device.
class UnderWay {
 public:
  UnderWay(const Rank& rank, const Step& step, int communicator, int place)
      : step_(step), place_(place), local_(step.collective, place) {
    const auto& call = step.collective.call;
    if (!step.is_message) {
      request_ =
          rank.accl.collective(local_.call, communicator, std::string(step.collective.algorithm->name));
      return;
    }
    message_ = collectives::Operand(call.count, step.collective.type);
    const View elements = message_.view();
    if (place == step.from) {
      collectives::fill_input(step.collective.inputs, step.from, elements);
      request_ = rank.accl.send(elements, step.to, step.tag, communicator);
    } else {
      request_ = rank.accl.recv(elements, step.from, step.tag, communicator);
    }
  }
  /// What is wrong with it; empty: nothing.
  std::string wait() {
    const Result& result = request_.wait();
    if (!result.is_done()) return result.text;
    if (!step_.is_message) {
      const auto compared =
          collectives::compare(step_.collective.inputs, local_.call, place_, step_.collective.ranks);
      const bool is_guarded = local_.own.is_guarded() && local_.result.is_guarded();
      return compared.wrong == 0 && is_guarded ? "" : step_.collective.text() + ": wrong elements";
    }
    if (place_ == step_.from) return "";
    collectives::Operand expected(step_.collective.call.count, step_.collective.type);
    collectives::fill_input(step_.collective.inputs, step_.from, expected.view());
    const View came = message_.view();
    const bool is_right = std::equal(came.data, came.data + came.bytes(), expected.view().data);
    return is_right && message_.is_guarded() ? "" : "a message has wrong elements";
  }

 private:
  const Step& step_;
  int place_;
  collectives::Local local_;
  collectives::Operand message_{0, Type::kInt32};
  Request request_;
};

/// One device's part; what is wrong with it.
std::string do_part(const Rank& rank, const Program& program,
                    std::deque<std::unique_ptr<UnderWay>>& in_flight) {
  const int own = rank.host.device();
  Draw draw(program.seed * 64 + static_cast<std::uint64_t>(own) + 1);
  std::vector<int> communicators;
  for (const auto& parts : program.slots) {
    const auto part = std::ranges::find_if(
        parts, [&](const std::vector<int>& devices) { return std::ranges::count(devices, own) > 0; });
    communicators.push_back(rank.accl.communicator(*part));
  }
  const auto wait_for_oldest = [&] {
    const std::string wrong = in_flight.front()->wait();
    in_flight.pop_front();
    return wrong;
  };
  for (const Step& step : program.steps) {
    const auto found = std::ranges::find(step.devices, own);
    if (found == step.devices.end()) continue;
    const int place = static_cast<int>(found - step.devices.begin());
    if (step.is_message && place != step.from && place != step.to) continue;
    if (draw.below(4) == 0)
      rank.host.pass_until(rank.host.now() +
                           network::from_seconds(1e-6 * static_cast<double>(draw.below(300))));
    in_flight.push_back(
        std::make_unique<UnderWay>(rank, step, communicators[static_cast<std::size_t>(step.slot)], place));
    for (std::size_t waits = draw.below(8) == 0 ? in_flight.size() : draw.below(2);
         waits > 0 && !in_flight.empty(); --waits) {
      if (auto wrong = wait_for_oldest(); !wrong.empty()) return wrong;
    }
  }
  while (!in_flight.empty()) {
    if (auto wrong = wait_for_oldest(); !wrong.empty()) return wrong;
  }
  return "";
}

struct Ended {
  std::string wrong;
  std::uint64_t came_again = 0;
  double seconds = 0;
};

Ended ended(const Program& program, int workers = 1, std::optional<std::uint64_t> order = {}) {
  Devices all = program.all;
  all.workers = workers;
  all.seed = order;
  std::vector<Ended> ends(static_cast<std::size_t>(all.ranks));
  run(all, [&](const Rank& rank) {
    Ended& end = ends[static_cast<std::size_t>(rank.host.device())];
    std::deque<std::unique_ptr<UnderWay>> in_flight;  // whose memory the engine has until the end
    try {
      end.wrong = do_part(rank, program, in_flight);
      end.seconds = network::seconds(rank.host.now());
      rank.accl.finish();
    } catch (const Error& error) {
      end.wrong += error.what();
    }
    end.came_again = rank.accl.came_again();
  });
  Ended sum;
  for (const Ended& end : ends) {
    if (sum.wrong.empty()) sum.wrong = end.wrong;
    sum.came_again += end.came_again;
    sum.seconds += end.seconds;
  }
  return sum;
}

TEST(EngineCredits, ProgramsOfCallsWithFewBuffersAllEndAndAreRight) {
  constexpr std::uint64_t kPrograms = 1000;
  int needed = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Ended end = ended(drawn_program(seed));
    ASSERT_EQ(end.wrong, "") << "program " << seed;
    needed += end.came_again > 0 ? 1 : 0;
  }
  EXPECT_GT(needed, 250);  // else there were buffers enough
}

TEST(EngineCredits, TimesAreTheSameWithAnyWorkersAndOrder) {
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
    const Program program = drawn_program(seed);
    const Ended first = ended(program);
    for (const int workers : {2, 4}) {
      const Ended other = ended(program, workers, seed);
      EXPECT_EQ(other.seconds, first.seconds) << "program " << seed;
      EXPECT_EQ(other.came_again, first.came_again);
    }
  }
}

}  // namespace
}  // namespace fabricmark::accl
