// What all kinds of ranks share, the single rank, and several ranks in one process.
#include "harness/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <thread>

#include "device/error.hpp"
#include "harness/mailbox.hpp"

namespace fabricmark::harness {

std::vector<std::string> Ranks::gather_texts(const std::string& text) {
  std::vector<std::string> texts;
  for (const std::vector<std::byte>& bytes : gather_bytes(std::as_bytes(std::span(text)))) {
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

std::vector<std::vector<double>> Ranks::gather_numbers(const std::vector<double>& numbers) {
  std::vector<std::vector<double>> all;
  for (const std::vector<std::byte>& bytes : gather_bytes(std::as_bytes(std::span(numbers)))) {
    std::vector<double>& own = all.emplace_back(bytes.size() / sizeof(double));
    if (!bytes.empty()) std::memcpy(own.data(), bytes.data(), bytes.size());
  }
  return all;
}

namespace {

class SingleRank : public Ranks {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string kind() const override { return "single"; }
  std::int64_t largest(std::int64_t value) override { return value; }
  std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> bytes) override {
    return {{bytes.begin(), bytes.end()}};
  }
  Request start_send(int /*to*/, std::span<const std::byte> bytes, int tag) override {
    return mailbox_.send(0, bytes, tag);
  }
  Request start_receive(int /*from*/, std::span<std::byte> bytes, int tag) override {
    return Mailbox::receive(0, bytes, tag);
  }
  bool test(Request& request) override { return mailbox_.test(request); }
  void cancel(Request& request) override { mailbox_.cancel(request); }

 private:
  Mailbox mailbox_;  // of messages to itself
};

/// What the threads of one process exchange through. Two sets of slots alternate, so that a fast rank's next
/// call cannot overwrite what a slow one still reads, with one barrier per call.
struct Exchange {
  explicit Exchange(int count) : meeting(count) {
    for (auto& set : numbers) set.resize(static_cast<std::size_t>(count));
    for (auto& set : texts) set.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) mailboxes.push_back(std::make_unique<Mailbox>());
  }
  std::barrier<> meeting;
  std::array<std::vector<std::int64_t>, 2> numbers;
  std::array<std::vector<std::vector<std::byte>>, 2> texts;
  std::vector<std::unique_ptr<Mailbox>> mailboxes;  // [receiving rank]
};

class InProcessRanks : public Ranks {
 public:
  InProcessRanks(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(exchange_.numbers[0].size()); }
  [[nodiscard]] std::string kind() const override { return "in-process"; }

  std::int64_t largest(std::int64_t value) override {
    std::vector<std::int64_t>& slots = exchange_.numbers[next_set()];
    slots[static_cast<std::size_t>(rank_)] = value;
    exchange_.meeting.arrive_and_wait();
    return *std::ranges::max_element(slots);
  }

  std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> bytes) override {
    std::vector<std::vector<std::byte>>& slots = exchange_.texts[next_set()];
    slots[static_cast<std::size_t>(rank_)].assign(bytes.begin(), bytes.end());
    exchange_.meeting.arrive_and_wait();
    return slots;
  }

  Request start_send(int to, std::span<const std::byte> bytes, int tag) override {
    return exchange_.mailboxes[static_cast<std::size_t>(to)]->send(rank_, bytes, tag);
  }
  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    return Mailbox::receive(from, bytes, tag);
  }
  bool test(Request& request) override { return own_mailbox().test(request); }
  void relax() override { std::this_thread::yield(); }
  void cancel(Request& request) override { own_mailbox().cancel(request); }

 private:
  Mailbox& own_mailbox() { return *exchange_.mailboxes[static_cast<std::size_t>(rank_)]; }
  std::size_t next_set() { return calls_++ % 2; }

  Exchange& exchange_;
  int rank_;
  std::size_t calls_ = 0;
};

}  // namespace

Error other_length(int from, std::size_t arrived, std::size_t wanted) {
  return environment_failure(
      fmt::format("rank {} sent {} bytes where {} were expected", from, arrived, wanted),
      "start all ranks with the same options");
}

std::unique_ptr<Ranks> single_rank() { return std::make_unique<SingleRank>(); }

int run_in_process(int count, const std::function<int(Ranks&)>& body) {
  Exchange exchange(count);
  std::vector<int> results(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      InProcessRanks ranks(exchange, rank);
      results[static_cast<std::size_t>(rank)] = body(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return *std::ranges::max_element(results);
}

}  // namespace fabricmark::harness
