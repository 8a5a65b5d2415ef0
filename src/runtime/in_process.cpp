// Ranks that are threads of one process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "runtime/agreement.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mailbox.hpp"

namespace fabricmark::runtime {

namespace {

/// What one rank brings to a collective.
struct Contribution {
  char kind = 0;  // of the collective
  std::int64_t number = 0;
  std::vector<std::byte> bytes;
};

/// Where the ranks of a communicator meet. Two sets of slots alternate, so that a fast rank's next call
/// cannot overwrite what a slow one still reads, with one meeting per call.
struct Meeting {
  explicit Meeting(std::size_t count) {
    for (auto& set : slots) set.resize(count);
  }
  std::array<std::vector<Contribution>, 2> slots;
  std::atomic<std::size_t> arrived = 0;
  std::atomic<std::uint64_t> round = 0;
};

/// What all ranks of the process share.
struct Process {
  explicit Process(int count) : words(static_cast<std::size_t>(count)) {
    for (int i = 0; i < count; ++i) mailboxes.push_back(std::make_unique<Mailbox>());
  }
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // [receiving rank]
  std::atomic<bool> has_failed = false;
  std::mutex mutex;
  std::condition_variable changed;  // a meeting's round, or the words
  std::vector<std::optional<Failure>> words;
  std::map<std::pair<std::int64_t, int>, std::shared_ptr<Meeting>> meetings;  // [context, first member]
};

class InProcess : public Communicator {
 public:
  InProcess(std::shared_ptr<Process> process, std::shared_ptr<Meeting> meeting, std::vector<int> members,
            int rank, std::int64_t context, std::shared_ptr<std::int64_t> next_context)
      : owner_(std::move(process)),
        process_(*owner_),
        meeting_(std::move(meeting)),
        members_(std::move(members)),
        rank_(rank),
        context_(context),
        next_context_(std::move(next_context)) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(members_.size()); }
  [[nodiscard]] std::string kind() const override { return "in-process"; }
  [[nodiscard]] int in_world(int rank) const override { return members_[static_cast<std::size_t>(rank)]; }

  std::int64_t all_reduce_max(std::int64_t value) override {
    const std::vector<Contribution>& all = meet({'m', value, {}});
    std::int64_t largest = value;
    for (const Contribution& one : all) largest = std::max(largest, one.number);
    return largest;
  }

  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) override {
    std::vector<std::vector<std::byte>> all;
    for (const Contribution& one : meet({'g', 0, {bytes.begin(), bytes.end()}})) all.push_back(one.bytes);
    return all;
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    const Group group = agree_on_group(*this, color, key, *next_context_);
    std::vector<int> members;
    for (const int rank : group.members) members.push_back(in_world(rank));
    std::shared_ptr<Meeting> meeting;
    {
      const std::scoped_lock lock(process_.mutex);
      std::shared_ptr<Meeting>& entry = process_.meetings[{group.context, members.front()}];
      if (!entry) entry = std::make_shared<Meeting>(members.size());
      meeting = entry;
    }
    auto part =
        std::make_unique<InProcess>(owner_, meeting, members, group.own, group.context, next_context_);
    part->set_timeout(timeout().count());
    return part;
  }

  Request start_send(int to, std::span<const std::byte> bytes, int tag) override {
    return mailbox(to).send(in_world(rank_), bytes, own_tag(tag));
  }
  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    return mailbox(rank_).receive(in_world(from), bytes, own_tag(tag));
  }
  bool test(Request& request) override { return mailbox(rank_).test(request); }
  void cancel(Request& request) override { mailbox(rank_).cancel(request); }

  void check() override {
    if (process_.has_failed.load(std::memory_order_acquire)) throw_failure();
    std::this_thread::yield();
  }

  void fail(const Failure& cause) noexcept override { say(cause); }

  Ending end(const std::optional<Failure>& own) noexcept override {
    const std::optional<Failure> failure = words_at_end(own);
    if (!failure) return {};
    say(*failure);
    std::unique_lock lock(process_.mutex);
    process_.changed.wait_for(lock, kGrace, [&] {
      return std::ranges::all_of(process_.words, [](const auto& word) { return word.has_value(); });
    });
    return agree(process_.words, in_world(rank_));
  }

 private:
  Mailbox& mailbox(int rank) { return *process_.mailboxes[static_cast<std::size_t>(in_world(rank))]; }
  [[nodiscard]] int own_tag(int tag) const {
    return tag_in_context(tag, context_, std::numeric_limits<int>::max());
  }

  /// What this rank has to say at its end; an empty message says only that it has come.
  void say(const Failure& cause) noexcept {
    const std::scoped_lock lock(process_.mutex);
    std::optional<Failure>& own = process_.words[static_cast<std::size_t>(in_world(rank_))];
    if (!own || own->message.empty()) own = cause;
    if (!cause.message.empty()) process_.has_failed.store(true, std::memory_order_release);
    process_.changed.notify_all();
  }

  [[noreturn]] void throw_failure() {
    const std::scoped_lock lock(process_.mutex);
    throw_first_failure(process_.words);
    throw PeerFailure(0, Failure{});
  }

  const std::vector<Contribution>& meet(Contribution own) {
    std::vector<Contribution>& slots = meeting_->slots[calls_++ % 2];
    const char kind = own.kind;
    slots[static_cast<std::size_t>(rank_)] = std::move(own);
    const std::uint64_t round = meeting_->round.load(std::memory_order_acquire);
    if (meeting_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members_.size()) {
      meeting_->arrived.store(0, std::memory_order_relaxed);
      const std::scoped_lock lock(process_.mutex);
      meeting_->round.store(round + 1, std::memory_order_release);
      process_.changed.notify_all();
    } else {
      wait_for_round(round);
    }
    for (std::size_t rank = 0; rank < slots.size(); ++rank) {
      if (slots[rank].kind != kind) throw out_of_step(in_world(static_cast<int>(rank)));
    }
    return slots;
  }

  /// Looks some times, lets others run some times, and then sleeps: the last to come may need the core.
  void wait_for_round(std::uint64_t round) {
    constexpr int kLooks = 16;
    constexpr int kYields = 4;
    const auto is_over = [&] { return meeting_->round.load(std::memory_order_acquire) != round; };
    for (int look = 0; look < kLooks + kYields; ++look) {
      if (is_over()) return;
      if (look >= kLooks) std::this_thread::yield();
    }
    bool is_in_time = false;
    if (pastime() != nullptr) {
      Patience patience(*this, Waiting::kSleep, timeout() + kStepMargin, WaitsFor::kCollective);
      do {
        is_in_time = is_over();
      } while (!is_in_time && !patience.is_over());
    } else {
      std::unique_lock lock(process_.mutex);
      is_in_time = process_.changed.wait_for(lock, timeout() + kStepMargin, [&] {
        return is_over() || process_.has_failed.load(std::memory_order_acquire);
      });
    }
    if (is_over()) return;
    if (process_.has_failed) throw_failure();
    if (!is_in_time) {
      throw DeadlineError(fmt::format("the ranks did not meet in {} s",
                                      std::chrono::duration<double>(timeout() + kStepMargin).count()));
    }
  }

  std::shared_ptr<Process> owner_;
  Process& process_;
  std::shared_ptr<Meeting> meeting_;
  std::vector<int> members_;  // ranks of the process
  int rank_;
  std::int64_t context_;
  std::shared_ptr<std::int64_t> next_context_;
  std::size_t calls_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> ranks_in_process(int count) {
  const auto process = std::make_shared<Process>(count);
  const auto meeting = std::make_shared<Meeting>(static_cast<std::size_t>(count));
  std::vector<int> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.push_back(
        std::make_unique<InProcess>(process, meeting, members, rank, 0, std::make_shared<std::int64_t>(1)));
  }
  return ranks;
}

int run_in_process(int count, const std::function<int(Communicator&)>& body) {
  std::vector<std::unique_ptr<Communicator>> ranks = ranks_in_process(count);
  std::vector<int> results(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    threads.emplace_back([&, rank] {
      results[rank] = body(*ranks[rank]);
      ranks[rank].reset();  // by the thread that made the calls
    });
  }
  for (std::thread& thread : threads) thread.join();
  return *std::ranges::max_element(results);
}

}  // namespace fabricmark::runtime
