#include "network/event_core.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "support.hpp"

namespace fabricmark::network {

namespace {

using test::mentions;
using test::message_of;

/// Notes the values of the events that it handles.
struct Notes {
  std::vector<std::uint64_t> values;
  static void handle(void* owner, const Event& event) {
    static_cast<Notes*>(owner)->values.push_back(event.value);
  }
};

TEST(EventCore, OrdersByTimeDevicePortAndSequence) {
  const std::vector<Event> in_order{
      {.time = 1, .device = 9, .port = 9, .sequence = 9}, {.time = 2, .device = 1, .port = 9, .sequence = 9},
      {.time = 2, .device = 2, .port = 1, .sequence = 9}, {.time = 2, .device = 2, .port = 2, .sequence = 1},
      {.time = 2, .device = 2, .port = 2, .sequence = 2}, {.time = 3, .device = 0, .port = 0, .sequence = 0}};
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  do {
    EventCore core;
    Notes notes;
    for (const std::size_t i : order) {
      Event event = in_order[i];
      event.handle = Notes::handle;
      event.owner = &notes;
      event.value = i;
      core.schedule(event);
    }
    core.run();
    ASSERT_EQ(notes.values, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  } while (std::ranges::next_permutation(order).found);
}

TEST(EventCore, SortsWhatIsRandom) {
  std::mt19937_64 random(1);
  EventCore core;
  Notes notes;
  std::vector<Event> all;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    all.push_back({.time = static_cast<Time>(random() % 50),
                   .device = static_cast<std::uint32_t>(random() % 5),
                   .port = static_cast<std::uint32_t>(random() % 5),
                   .sequence = i,
                   .handle = Notes::handle,
                   .owner = &notes,
                   .value = i});
    core.schedule(all.back());
  }
  std::ranges::sort(all, [](const Event& a, const Event& b) { return a < b; });
  core.run();
  ASSERT_EQ(notes.values.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(notes.values[i], all[i].value);
  EXPECT_EQ(core.handled(), all.size());
}

/// Schedules a chain of events, each so much after the one before.
struct Chain {
  EventCore core;
  Time step = 0;
  std::vector<Time> times;
  static void handle(void* owner, const Event& event) {
    auto& chain = *static_cast<Chain*>(owner);
    chain.times.push_back(chain.core.now());
    if (event.value == 0) return;
    Event next = event;
    next.time = later(event.time, chain.step);
    --next.value;
    chain.core.schedule(next);
  }
};

TEST(EventCore, RunsUntilATimeAndNoFurther) {
  Chain chain;
  chain.step = 10;
  EXPECT_EQ(chain.core.next_time(), kEndOfTime);
  chain.core.schedule({.time = 5, .handle = Chain::handle, .owner = &chain, .value = 4});
  chain.core.run_until(25);
  EXPECT_EQ(chain.times, (std::vector<Time>{5, 15}));
  EXPECT_EQ(chain.core.now(), 15);
  EXPECT_EQ(chain.core.next_time(), 25);
  chain.core.run_until(26);
  EXPECT_EQ(chain.times.back(), 25);
  chain.core.run();
  EXPECT_EQ(chain.times.back(), 45);
  EXPECT_EQ(chain.core.pending(), 0U);
}

TEST(EventCore, EventsOfOneTimeMayScheduleMoreOfIt) {
  Chain chain;
  chain.core.schedule({.time = 5, .handle = Chain::handle, .owner = &chain, .value = 3});
  chain.core.run_until(6);
  EXPECT_EQ(chain.times, (std::vector<Time>{5, 5, 5, 5}));
}

/// Compares every event with the first of a sorted set, and schedules more at near and far times.
struct Compared {
  EventCore core;
  std::set<std::tuple<Time, std::uint32_t, std::uint32_t, std::uint64_t>> pending;
  std::mt19937_64 random{3};
  std::uint64_t next = 0;
  std::uint64_t left = 0;
  Time longest = 0;
  std::uint64_t wrong = 0;

  void schedule() {
    const Time delays[] = {0, static_cast<Time>(random() % 3), static_cast<Time>(random() % 1000),
                           static_cast<Time>(random() % static_cast<std::uint64_t>(longest))};
    const Event event{.time = core.now() + delays[random() % 4],
                      .device = static_cast<std::uint32_t>(random() % 4),
                      .port = static_cast<std::uint32_t>(random() % 4),
                      .sequence = next++,
                      .handle = handle,
                      .owner = this};
    pending.emplace(event.time, event.device, event.port, event.sequence);
    core.schedule(event);
  }
  static void handle(void* owner, const Event& event) {
    auto& compared = *static_cast<Compared*>(owner);
    const auto first = compared.pending.begin();
    compared.wrong += *first == std::tuple(event.time, event.device, event.port, event.sequence) ? 0 : 1;
    compared.pending.erase(first);
    for (std::uint64_t more = compared.random() % 3; more > 0 && compared.left > 0; --more, --compared.left) {
      compared.schedule();
    }
  }
};

TEST(EventCore, ManyEventsKeepTheirOrder) {
  for (const Time longest : {Time{1}, Time{100'000}, Time{1'000'000'000'000'000}, kEndOfTime / 1000}) {
    for (const int first : {100, 4097, 20000}) {
      Compared compared;
      compared.longest = longest;
      compared.left = 30000;
      for (int i = 0; i < first; ++i) compared.schedule();
      ASSERT_EQ(compared.core.pending(), compared.pending.size());
      while (!compared.pending.empty()) {
        ASSERT_EQ(compared.core.next_time(), std::get<0>(*compared.pending.begin()));
        compared.core.run_until(compared.core.next_time() + 1);
        ASSERT_EQ(compared.core.pending(), compared.pending.size());
      }
      EXPECT_EQ(compared.wrong, 0U) << longest << ' ' << first;
      EXPECT_EQ(compared.core.next_time(), kEndOfTime);
    }
  }
}

TEST(EventCore, GoesOnAfterMany) {
  Chain chain;
  for (int i = 0; i < 10000; ++i) {
    chain.core.schedule({.time = i, .handle = Chain::handle, .owner = &chain});
  }
  chain.core.run();
  chain.step = 1'000'000;
  chain.core.schedule({.time = 1'000'000, .handle = Chain::handle, .owner = &chain, .value = 2});
  EXPECT_EQ(chain.core.next_time(), 1'000'000);
  chain.core.run();
  EXPECT_EQ(chain.times.size(), 10003U);
  EXPECT_EQ(chain.times.back(), 3'000'000);
}

TEST(EventCore, GoesToTheEndOfTime) {
  EventCore core;
  Notes notes;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    core.schedule({.time = kEndOfTime - 1 - static_cast<Time>(i),
                   .handle = Notes::handle,
                   .owner = &notes,
                   .value = i});
  }
  message_of([&] { core.schedule({.time = kEndOfTime, .handle = Notes::handle, .owner = &notes}); });
  core.run();
  ASSERT_EQ(notes.values.size(), 10000U);
  EXPECT_EQ(notes.values.front(), 9999U);
  EXPECT_EQ(notes.values.back(), 0U);
}

TEST(EventCore, RefusesThePast) {
  Chain chain;
  chain.core.schedule({.time = 5'000'000, .handle = Chain::handle, .owner = &chain});
  chain.core.run();
  const auto late = [&] {
    chain.core.schedule({.time = 4'999'999, .handle = Chain::handle, .owner = &chain});
  };
  EXPECT_TRUE(mentions(message_of(late), "reached 5e-09 s"));
  EXPECT_EQ(chain.core.pending(), 0U);
}

}  // namespace

}  // namespace fabricmark::network
