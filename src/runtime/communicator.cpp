// What all kinds of communicators share, and that of a single rank.
#include "runtime/communicator.hpp"

#include <sys/prctl.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "base/host.hpp"
#include "runtime/agreement.hpp"
#include "runtime/library_calls.hpp"
#include "runtime/mailbox.hpp"

namespace fabricmark::runtime {

namespace {

constexpr unsigned kLooksPerCheck = 256;  // looks at a message between two at the clock and for failures
// A message in time for the next step of a simulation comes within a millisecond; what takes longer is waited
// for without much of the core.
constexpr std::chrono::microseconds kFirstNaps{5};
constexpr std::chrono::microseconds kNap{50};
constexpr unsigned kShortNaps = 100;

/// Without this Linux adds 50 us to each of them (prctl(2), PR_SET_TIMERSLACK).
void nap(unsigned naps_before) {
  constexpr unsigned long kSlackNanoseconds = 1000;
  thread_local const int is_set = ::prctl(PR_SET_TIMERSLACK, kSlackNanoseconds, 0UL, 0UL, 0UL);
  static_cast<void>(is_set);
  std::this_thread::sleep_for(naps_before < kShortNaps ? kFirstNaps : kNap);
}

std::string with_rank(const std::string& message, int rank) {
  return fmt::format("{} (rank {})", message, rank);
}

bool has_failed(const std::optional<Failure>& word) { return word && !word->message.empty(); }

class SingleRank : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string kind() const override { return "single"; }
  std::int64_t all_reduce_max(std::int64_t value) override { return value; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) override {
    return {{bytes.begin(), bytes.end()}};
  }
  std::unique_ptr<Communicator> split(int /*color*/, int /*key*/) override { return single_rank(); }
  Request start_send(int /*to*/, std::span<const std::byte> bytes, int tag) override {
    return mailbox_.send(0, bytes, tag);
  }
  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    return mailbox_.receive(from, bytes, tag);
  }
  bool test(Request& request) override { return mailbox_.test(request); }
  void cancel(Request& request) override { mailbox_.cancel(request); }
  void fail(const Failure& /*cause*/) noexcept override {}
  void check() override {}
  Ending end(const std::optional<Failure>& own) noexcept override {
    return agree({own.value_or(Failure{})}, 0);
  }

 private:
  Mailbox mailbox_;  // of messages to itself
};

}  // namespace

std::unique_ptr<LibraryCalls> Communicator::library_calls() { return nullptr; }

PeerFailure::PeerFailure(int rank, const Failure& cause)
    : text_(with_rank(cause.message, rank)), is_deadline_(cause.is_deadline) {}

double Communicator::all_reduce_sum(double value) {
  double sum = 0;
  for (const std::vector<double>& part : all_gather_numbers({value})) sum += part.at(0);
  return sum;
}

double Communicator::all_reduce_max_number(double value) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const std::vector<double>& part : all_gather_numbers({value})) {
    if (std::isnan(part.at(0)) || part.at(0) > largest) largest = part.at(0);
  }
  return largest;
}

std::vector<std::string> Communicator::all_gather_texts(const std::string& text) {
  std::vector<std::string> texts;
  for (const std::vector<std::byte>& bytes : all_gather(std::as_bytes(std::span(text)))) {
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

std::vector<std::vector<double>> Communicator::all_gather_numbers(const std::vector<double>& numbers) {
  std::vector<std::vector<double>> all;
  for (const std::vector<std::byte>& bytes : all_gather(std::as_bytes(std::span(numbers)))) {
    std::vector<double>& own = all.emplace_back(bytes.size() / sizeof(double));
    if (!bytes.empty()) std::memcpy(own.data(), bytes.data(), bytes.size());
  }
  return all;
}

bool Communicator::is_crowded() const {
  if (!is_crowded_) is_crowded_ = local_size() > usable_cores();
  return *is_crowded_;
}

DeadlineError Communicator::no_sign_of_message(int peer) const {
  return DeadlineError(
      fmt::format("no sign of a message from or to rank {} in {} s", in_world(peer), timeout().count()),
      in_world(peer));
}

void Communicator::wait(Request& request, int peer, Waiting waiting) {
  Patience patience(*this, waiting, timeout());
  try {
    while (!test(request)) {
      if (patience.is_over()) throw no_sign_of_message(peer);
    }
  } catch (...) {
    cancel(request);  // the memory behind it may go
    throw;
  }
}

bool Patience::is_over() {
  if (waiting_ == Waiting::kSleep) {
    nap(looks_++);
  } else {
    if (waiting_ == Waiting::kYield) std::this_thread::yield();
    if (++looks_ % kLooksPerCheck != 0) return false;
  }
  if (gives_up_with_another()) return true;
  if (communicator_.pastime() != nullptr) {
    has_passed_ = true;
    communicator_.pastime()->pass();
  }
  const auto now = std::chrono::steady_clock::now();
  if (!std::exchange(has_started_, true)) {
    deadline_ = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit_);
  }
  return now >= deadline_;
}

bool Patience::gives_up_with_another() {
  try {
    communicator_.check();
    return false;
  } catch (const PeerFailure& failure) {
    const bool is_about_over = has_started_ && std::chrono::steady_clock::now() >= deadline_ - limit_ / 2;
    if (failure.is_deadline() && waits_for_ == WaitsFor::kMessage && is_about_over) return true;
    throw;
  }
}

std::optional<Failure> Communicator::words_at_end(const std::optional<Failure>& own) {
  if (own) return own;
  try {
    return attempt([&] {
      check();
      barrier();
    });
  } catch (const PeerFailure&) {
    return Failure{};
  }
}

void throw_first_failure(const std::vector<std::optional<Failure>>& words) {
  const auto found = std::ranges::find_if(words, has_failed);
  if (found != words.end()) throw PeerFailure(static_cast<int>(found - words.begin()), **found);
}

namespace {

/// Of the ranks that have waited in vain, one that waits in a circle or for a rank that has not: the first
/// rank there that the waits of the first one lead to. Absent where none has.
std::optional<std::size_t> blocked_rank(const std::vector<std::optional<Failure>>& words) {
  const auto has_waited = [&](std::size_t rank) {
    return has_failed(words[rank]) && words[rank]->is_deadline;
  };
  std::size_t rank = 0;
  while (rank < words.size() && !has_waited(rank)) ++rank;
  if (rank == words.size()) return std::nullopt;
  std::vector<std::size_t> path;
  while (std::ranges::find(path, rank) == path.end()) {
    path.push_back(rank);
    const std::optional<int> awaited = words[rank]->awaited;
    const auto next = static_cast<std::size_t>(awaited.value_or(-1));
    if (next >= words.size() || !has_waited(next)) return rank;
    rank = next;
  }
  return *std::min_element(std::ranges::find(path, rank), path.end());
}

}  // namespace

Ending agree(const std::vector<std::optional<Failure>>& words, int own) {
  const auto first_come = std::ranges::find_if(words, [](const auto& word) { return word.has_value(); });
  Ending ending;
  ending.is_speaker = first_come - words.begin() == own;
  ending.is_orderly = std::ranges::all_of(words, [](const auto& word) { return word.has_value(); });
  auto cause =
      std::ranges::find_if(words, [&](const auto& word) { return has_failed(word) && !word->is_deadline; });
  if (cause == words.end()) {
    const std::optional<std::size_t> blocked = blocked_rank(words);
    if (!blocked) return ending;
    cause = words.begin() + static_cast<std::ptrdiff_t>(*blocked);
  }
  const Failure& failure = **cause;
  ending.code = failure.code;
  ending.message = failure.message;
  if (words.size() == 1) return ending;
  ending.message = with_rank(ending.message, static_cast<int>(cause - words.begin()));
  if (!failure.is_deadline || ending.is_orderly) return ending;
  std::vector<std::size_t> missing;
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    if (!words[rank]) missing.push_back(rank);
  }
  constexpr std::size_t kMostNames = 8;
  const std::size_t count = std::min(missing.size(), kMostNames);
  ending.message =
      fmt::format("rank {}{} does not answer: {}", fmt::join(missing.begin(), missing.begin() + count, ", "),
                  missing.size() > count ? " and others" : "", ending.message);
  return ending;
}

Group agree_on_group(Communicator& parent, int color, int key, std::int64_t& next_context) {
  const std::array<std::int64_t, 3> own{color, key, next_context};
  std::vector<std::array<std::int64_t, 3>> all;
  for (const std::vector<std::byte>& bytes : parent.all_gather(std::as_bytes(std::span(own)))) {
    if (bytes.size() != sizeof(own)) throw out_of_step(static_cast<int>(all.size()));
    std::memcpy(all.emplace_back().data(), bytes.data(), sizeof(own));
  }
  Group group;
  for (int rank = 0; std::cmp_less(rank, all.size()); ++rank) {
    const std::array<std::int64_t, 3>& entry = all[static_cast<std::size_t>(rank)];
    group.context = std::max(group.context, entry[2]);
    if (entry[0] == color) group.members.push_back(rank);
  }
  std::ranges::stable_sort(group.members, {},
                           [&](int rank) { return all[static_cast<std::size_t>(rank)][1]; });
  group.own = static_cast<int>(std::ranges::find(group.members, parent.rank()) - group.members.begin());
  next_context = group.context + 1;
  return group;
}

int tag_in_context(int tag, std::int64_t context, int largest) {
  constexpr std::int64_t kTags = 32768;
  const std::int64_t own = context * kTags + tag;
  if (own > largest) {
    throw environment_failure("there are too many communicators for the tags of messages",
                              "split fewer, or use another MPI library");
  }
  return static_cast<int>(own);
}

Error out_of_step(int peer) {
  return environment_failure(
      fmt::format("rank {} is not in the same step, or its message was damaged", peer),
      "start all ranks with the same program, and check the hosts and the network of this job");
}

Error other_length(int from, std::size_t arrived, std::size_t wanted) {
  return environment_failure(
      fmt::format("rank {} sent {} bytes where {} were expected", from, arrived, wanted),
      "start all ranks with the same options");
}

std::unique_ptr<Communicator> single_rank() { return std::make_unique<SingleRank>(); }

int host_threads(const Communicator& ranks) { return std::max(1, usable_cores() / ranks.local_size()); }

}  // namespace fabricmark::runtime
