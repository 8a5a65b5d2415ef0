#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "board/dataflow/fiber.hpp"
#include "collectives/elements.hpp"
#include "collectives/moves.hpp"

/// All ranks of a collective call in one thread: what programs of moves do wrong is found, never waited for.
namespace fabricmark::test {

using collectives::Moves;
using collectives::View;

enum class Sends : std::uint8_t {
  kEager,       ///< a send ends at once
  kRendezvous,  ///< a send ends when its receive is posted
};

class LocalRanks {
 public:
  struct Settings {
    Sends sends = Sends::kRendezvous;
    collectives::Reduction reduction = collectives::Reduction::kSum;
    bool has_data = true;
    unsigned order = 0;                     ///< seed of the order in which ranks go on
    collectives::ReceiveBuffers buffers{};  ///< for most_taken()
  };

  LocalRanks(int ranks, collectives::Type type, Settings settings)
      : type_(type), settings_(std::move(settings)), ranks_(static_cast<std::size_t>(ranks)) {}

  /// Each rank does `program`. Throws what the first of them throws, std::runtime_error for a deadlock and
  /// std::logic_error for what no program may do.
  void run(const std::function<void(Moves&)>& program);

  /// Who has sent to whom.
  [[nodiscard]] const std::set<std::pair<int, int>>& talked() const { return talked_; }
  /// Elements of each message by its ends, in the order in which they were sent.
  [[nodiscard]] std::map<std::pair<int, int>, std::vector<std::size_t>> log() const;
  /// Receive buffers that messages took at a time on the rank that had most of them: each from when it was
  /// sent until its receive was waited for. Those that send at once go ahead as far as they can.
  [[nodiscard]] std::size_t most_taken() const { return most_taken_; }

 private:
  class Local;
  struct Message {
    const std::byte* source = nullptr;
    std::vector<std::byte> bytes;  ///< as they were when they were sent
    std::size_t sent_count = 0;
    std::size_t wanted_count = 0;
    std::byte* target = nullptr;
    bool is_sent = false;
    bool is_wanted = false;
    bool has_left = false;     ///< the send was waited for
    bool has_arrived = false;  ///< the receive was
  };
  struct Channel {
    std::deque<Message> messages;
    std::size_t sent = 0;
    std::size_t wanted = 0;
  };
  struct Rank {
    std::size_t taken = 0;  ///< receive buffers
    std::vector<std::vector<std::byte>> scratch;
  };

  Message& message(Channel& channel, std::size_t index) {
    while (channel.messages.size() <= index) channel.messages.emplace_back();
    return channel.messages[index];
  }
  void go_on_until_all_have_ended(std::vector<std::unique_ptr<dataflow::Fiber>>& fibers);
  void check_that_nothing_is_left() const;

  collectives::Type type_;
  Settings settings_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, Channel> channels_;
  std::set<std::pair<int, int>> talked_;
  std::size_t most_taken_ = 0;
  std::size_t news_ = 0;  ///< counts what may let another rank go on
  std::exception_ptr error_;
};

/// One of them.
class LocalRanks::Local final : public Moves {
 public:
  Local(LocalRanks& all, int rank) : all_(all), rank_(rank) {}
  void set_fiber(dataflow::Fiber& fiber) { fiber_ = &fiber; }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(all_.ranks_.size()); }

  Ticket start_send(int to, const View& elements) override {
    check_peer(to, elements);
    all_.talked_.emplace(rank_, to);
    Channel& channel = all_.channels_[{rank_, to}];
    Message& message = all_.message(channel, channel.sent++);
    message.is_sent = true;
    message.sent_count = elements.count;
    message.source = elements.data;
    if (elements.data != nullptr) message.bytes.assign(elements.data, elements.data + elements.bytes());
    std::size_t& taken = all_.ranks_[static_cast<std::size_t>(to)].taken;
    taken += all_.settings_.buffers.needed(1, elements.bytes());
    all_.most_taken_ = std::max(all_.most_taken_, taken);
    return ticket(message, true);
  }

  Ticket start_receive(int from, const View& elements) override {
    check_peer(from, elements);
    Channel& channel = all_.channels_[{from, rank_}];
    Message& message = all_.message(channel, channel.wanted++);
    message.is_wanted = true;
    message.wanted_count = elements.count;
    message.target = elements.data;
    if (elements.data != nullptr) std::memset(elements.data, 0xA5, elements.bytes());  // not yet there
    return ticket(message, false);
  }

  void wait(Ticket ticket) override {
    const Pending pending = pending_.at(ticket);
    Message& message = *pending.message;
    if (pending.is_send) {
      go_on_when([&] { return message.is_wanted || all_.settings_.sends == Sends::kEager; });
      end_send(message);
    } else {
      go_on_when([&] { return message.is_sent; });
      end_receive(message);
    }
    ++all_.news_;
  }

  void copy(const View& from, const View& to) override {
    if (from.count != to.count || from.type != to.type) throw std::logic_error("a copy of other elements");
    if (from.data == nullptr || from.data == to.data) return;
    check_apart(from, to);
    std::memcpy(to.data, from.data, from.bytes());
  }

  void combine(const View& a, const View& b, const View& result) override {
    if (a.count != b.count || a.count != result.count || a.type != b.type || a.type != result.type)
      throw std::logic_error("a combination of other elements");
    if (a.data == nullptr) return;
    for (const View& one : {a, b}) {
      if (one.data != result.data) check_apart(one, result);
    }
    collectives::combine(a.type, all_.settings_.reduction, a.data, b.data, result.data, a.count);
  }

  void receive_and_combine(int from, const View& own, const View& result) override {
    std::vector<std::byte> memory(own.data == nullptr ? 0 : own.bytes());
    const View received{own.data == nullptr ? nullptr : memory.data(), own.count, own.type};
    wait(start_receive(from, received));
    combine(received, own, result);
  }

  View scratch(std::size_t count) override {
    if (!all_.settings_.has_data) return {nullptr, count, all_.type_};
    auto& memory = all_.ranks_[static_cast<std::size_t>(rank_)].scratch;
    memory.emplace_back(count * collectives::bytes_of(all_.type_), std::byte{0xA5});
    return {memory.back().data(), count, all_.type_};
  }

  void check_that_all_was_waited_for() const {
    if (waited_ != pending_.size()) throw std::logic_error("a message was started and not waited for");
  }

 private:
  struct Pending {
    Message* message = nullptr;
    bool is_send = false;
  };

  void check_peer(int peer, const View& elements) const {
    if (peer < 0 || peer >= size() || peer == rank_) throw std::logic_error("a message to no other rank");
    if (all_.settings_.has_data && elements.count != 0 && elements.data == nullptr)
      throw std::logic_error("a message of no data");
  }
  static void check_apart(const View& a, const View& b) {
    const std::less<> before;
    if (before(a.data, b.data + b.bytes()) && before(b.data, a.data + a.bytes()))
      throw std::logic_error("elements overlap");
  }

  Ticket ticket(Message& message, bool is_send) {
    ++all_.news_;
    pending_.push_back({&message, is_send});
    return pending_.size() - 1;
  }

  template <typename IsReady>
  void go_on_when(const IsReady& is_ready) {
    while (!is_ready()) fiber_->suspend();
  }

  void end_send(Message& message) {
    if (std::exchange(message.has_left, true)) throw std::logic_error("a send was waited for twice");
    ++waited_;
    if (message.source != nullptr &&
        std::memcmp(message.source, message.bytes.data(), message.bytes.size()) != 0) {
      throw std::logic_error("elements were changed while they were sent");
    }
  }

  void end_receive(Message& message) {
    if (std::exchange(message.has_arrived, true)) throw std::logic_error("a receive was waited for twice");
    ++waited_;
    if (message.sent_count != message.wanted_count) throw std::logic_error("a message of another size");
    if (message.target != nullptr) std::memcpy(message.target, message.bytes.data(), message.bytes.size());
    Rank& rank = all_.ranks_[static_cast<std::size_t>(rank_)];
    const std::size_t bytes = message.sent_count * collectives::bytes_of(all_.type_);
    rank.taken -= all_.settings_.buffers.needed(1, bytes);
  }

  LocalRanks& all_;
  int rank_;
  dataflow::Fiber* fiber_ = nullptr;
  std::vector<Pending> pending_;
  std::size_t waited_ = 0;
};

inline void LocalRanks::run(const std::function<void(Moves&)>& program) {
  static dataflow::Stacks stacks(std::size_t{256} * 1024);  // which are used again
  std::vector<std::unique_ptr<Local>> moves;
  std::vector<std::unique_ptr<dataflow::Fiber>> fibers;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    moves.push_back(std::make_unique<Local>(*this, rank));
    fibers.push_back(std::make_unique<dataflow::Fiber>(stacks, [this, &program, own = moves.back().get()] {
      try {
        program(*own);
        own->check_that_all_was_waited_for();
      } catch (const dataflow::Fiber::Cancelled&) {
        throw;
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      ++news_;
    }));
    moves.back()->set_fiber(*fibers.back());
  }
  go_on_until_all_have_ended(fibers);
  check_that_nothing_is_left();
}

inline void LocalRanks::go_on_until_all_have_ended(std::vector<std::unique_ptr<dataflow::Fiber>>& fibers) {
  std::ranges::shuffle(fibers, std::mt19937(settings_.order));
  for (;;) {
    const std::size_t before = news_;
    bool has_ended = true;
    for (const auto& fiber : fibers) {
      if (!fiber->has_ended()) fiber->resume();
      has_ended = has_ended && fiber->has_ended();
    }
    if (error_) std::rethrow_exception(error_);
    if (has_ended) return;
    if (news_ == before) throw std::runtime_error("deadlock");
  }
}

inline void LocalRanks::check_that_nothing_is_left() const {
  for (const auto& [ends, channel] : channels_) {
    if (channel.sent != channel.wanted) throw std::logic_error("a message has no other end");
  }
}

inline std::map<std::pair<int, int>, std::vector<std::size_t>> LocalRanks::log() const {
  std::map<std::pair<int, int>, std::vector<std::size_t>> found;
  for (const auto& [ends, channel] : channels_) {
    for (const Message& message : channel.messages) found[ends].push_back(message.sent_count);
  }
  return found;
}

}  // namespace fabricmark::test
