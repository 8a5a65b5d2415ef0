// What programs do wrong: the checks of the other tests find it.
#include <gtest/gtest.h>

#include <string>

#include "collectives_support.hpp"
#include "support.hpp"

namespace fabricmark::collectives {

namespace {

using test::mentions;

/// A case of an algorithm of the tests' own.
Outcome outcome_with(void (*program)(Moves&, const Call&), Operation operation, int ranks,
                     Sends sends = Sends::kRendezvous, unsigned order = 0) {
  const Algorithm planted{.operation = operation, .name = "planted", .program = program};
  Case made{.algorithm = &planted, .ranks = ranks};
  made.call = {.operation = operation, .count = 40};
  made.settings.sends = sends;
  made.settings.order = order;
  return outcome_of(made);
}

/// A ring that gathers, with as many steps as said.
template <int kStepsLess>
void gather_on_ring(Moves& moves, const Call& call) {
  const int size = moves.size();
  const auto part = [&](int index) {
    return call.result.part(static_cast<std::size_t>((index + size) % size) * call.count, call.count);
  };
  moves.copy(call.own, part(moves.rank()));
  for (int step = 0; step < size - 1 - kStepsLess; ++step) {
    moves.exchange((moves.rank() + 1) % size, part(moves.rank() - step), (moves.rank() + size - 1) % size,
                   part(moves.rank() - step - 1));
  }
}

TEST(CollectivesPlanted, ARingWithAStepLessIsFound) {
  EXPECT_EQ(outcome_with(gather_on_ring<0>, Operation::kAllGather, 5).wrong, "");
  EXPECT_TRUE(
      mentions(outcome_with(gather_on_ring<1>, Operation::kAllGather, 5).wrong, "40 wrong elements of 200"));
}

TEST(CollectivesPlanted, ASumThatLeavesOutARankIsFound) {
  const auto program = [](Moves& moves, const Call& call) {
    if (moves.rank() != 0) return moves.send(0, call.own);
    moves.receive_and_combine(1, call.own, call.result);
    moves.receive(2, call.result);
  };
  EXPECT_TRUE(mentions(outcome_with(program, Operation::kReduce, 3).wrong, "40 wrong elements"));
}

TEST(CollectivesPlanted, SendsThatWaitForEachOtherAreFound) {
  const auto program = [](Moves& moves, const Call& call) {
    moves.send(1 - moves.rank(), call.own);
    moves.receive(1 - moves.rank(), call.result);
    moves.combine(call.own, call.result, call.result);
  };
  EXPECT_EQ(outcome_with(program, Operation::kAllReduce, 2, Sends::kEager).wrong, "");
  EXPECT_EQ(outcome_with(program, Operation::kAllReduce, 2, Sends::kRendezvous).wrong, "deadlock");
}

TEST(CollectivesPlanted, ABarrierWithAStepLessIsFound) {
  const auto program = [](Moves& moves, const Call& /*call*/) {
    for (int distance = 1; distance < moves.size() / 2; distance *= 2) {
      const int size = moves.size();
      moves.exchange((moves.rank() + distance) % size, {}, (moves.rank() + size - distance) % size, {});
    }
  };
  int found = 0;
  for (unsigned order = 0; order < 20; ++order) {
    found += mentions(outcome_with(program, Operation::kBarrier, 8, Sends::kEager, order).wrong, "barrier")
                 ? 1
                 : 0;
    for (const Algorithm& one : algorithms()) {
      if (one.operation != Operation::kBarrier) continue;
      EXPECT_EQ(outcome_with(one.program, Operation::kBarrier, 8, Sends::kEager, order).wrong, "");
    }
  }
  EXPECT_GT(found, 0);
}

TEST(CollectivesPlanted, WhatNoProgramMayDoIsFound) {
  const auto wrong_of = [](void (*program)(Moves&, const Call&)) {
    return outcome_with(program, Operation::kAllReduce, 2).wrong;
  };
  EXPECT_EQ(wrong_of([](Moves& moves, const Call& call) {
              const Moves::Ticket receiving = moves.start_receive(1 - moves.rank(), call.result);
              const Moves::Ticket sending = moves.start_send(1 - moves.rank(), call.own);
              moves.combine(call.own, call.result, call.own);  // before anything has come
              moves.wait(receiving);
              moves.wait(sending);
            }),
            "elements were changed while they were sent");
  EXPECT_EQ(wrong_of([](Moves& moves, const Call& call) { moves.start_send(1 - moves.rank(), call.own); }),
            "a message was started and not waited for");
  EXPECT_EQ(wrong_of([](Moves& moves, const Call& call) {
              const Moves::Ticket receiving =
                  moves.start_receive(1 - moves.rank(), call.result.part(0, call.count - 1));
              moves.send(1 - moves.rank(), call.own);
              moves.wait(receiving);
            }),
            "a message of another size");
  EXPECT_EQ(wrong_of([](Moves& moves, const Call& call) { moves.send(moves.rank(), call.own); }),
            "a message to no other rank");
  EXPECT_EQ(wrong_of([](Moves& moves, const Call& call) {
              moves.copy(call.own, call.result);
              moves.copy(call.result.part(0, 2), call.result.part(1, 2));
            }),
            "elements overlap");
}

}  // namespace

}  // namespace fabricmark::collectives
