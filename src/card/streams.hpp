#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/interface.hpp"
#include "card/hls/card_port.hpp"
#include "card/timing.hpp"

namespace fabricmark::card {

/// Thrown in a kernel that uses a stream of a bitstream which is being replaced: it ends.
struct Stopped {};

/// Thrown where a card has left its cable, between two words.
class OtherCardGone : public Error {
 public:
  explicit OtherCardGone(Error error) : Error(std::move(error)) {}
};

/// What goes wrong on purpose with the first word of a bitstream's first stream.
enum class WordFault { kNone, kFlipped, kLost };

/// Words from one writer to one reader, all of one length. `waits`: else there is no answer where nothing can
/// be done at once. All throw Stopped after `stop`.
///
/// Each word has the modelled time of its arrival, each place of a FIFO that of its becoming free: a word is
/// written and read at the latest of these and of what its kernel wants, as in
/// src/board/dataflow/channel.hpp.
class Channel : public Interface {
 public:
  /// When it left, `wanted` or later.
  virtual std::optional<Time> write(std::span<const std::byte> word, Time wanted, bool waits) = 0;
  /// When it was taken, `wanted` or later.
  virtual std::optional<Time> read(std::span<std::byte> word, Time wanted, bool waits) = 0;
  virtual bool has_room() = 0;
  virtual bool has_word(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::size_t depth() const = 0;  ///< in words
  virtual void stop() = 0;
};

/// A stream inside of the card.
class Fifo final : public Channel {
 public:
  /// `cycle`: after which a word is seen, and a place free.
  explicit Fifo(std::size_t depth, Time cycle = 0) : depth_(depth), cycle_(cycle), unused_(depth) {}
  std::optional<Time> write(std::span<const std::byte> word, Time wanted, bool waits) override;
  std::optional<Time> read(std::span<std::byte> word, Time wanted, bool waits) override;
  bool has_room() override;
  bool has_word(std::size_t bytes) override;
  [[nodiscard]] std::size_t depth() const override { return depth_; }
  void stop() override;

 private:
  struct Word {
    Time arrives = 0;
    std::vector<std::byte> bytes;
  };

  std::size_t depth_;
  Time cycle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Word> words_;
  std::size_t unused_;      // places that no word has had yet
  std::deque<Time> freed_;  // of the others without a word
  bool is_stopped_ = false;
};

/// A cable to the same port of another card of this host, which is another process: a socket. Words that are
/// on their way wait in it, each behind the modelled time of its arrival, as many as the system holds; more
/// have to wait for room, which takes no modelled time.
class Cable final : public Channel {
 public:
  /// `listens`: one of both ends does, before the other one looks for it.
  Cable(std::filesystem::path socket, bool listens, std::string name, const CableTimes& times = {});
  std::optional<Time> write(std::span<const std::byte> word, Time wanted, bool waits) override;
  std::optional<Time> read(std::span<std::byte> word, Time wanted, bool waits) override;
  bool has_room() override;
  bool has_word(std::size_t bytes) override;
  [[nodiscard]] std::size_t depth() const override { return kWords; }
  void stop() override { is_stopped_ = true; }

  static constexpr std::size_t kWords = 16;  ///< that surely fit

 private:
  /// The socket; null where nobody is at the other end yet.
  const FileDescriptor* connected(bool waits);
  void look_for_other();
  bool is_ready(short what, bool waits);
  void put(std::span<const std::byte> bytes);
  /// Whether so many bytes have come that were not taken.
  bool fill(std::size_t bytes);
  void take(std::span<std::byte> to);
  /// Throws OtherCardGone, or Error where a part of a word has gone over the cable.
  [[noreturn]] void end_of_cable(bool within_a_word) const;

  std::filesystem::path path_;
  bool listens_;
  std::string name_;
  CableTimes times_;
  Time leaves_ = 0;  // when it is free again for a word from here
  std::atomic<bool> is_stopped_ = false;
  std::mutex connecting_;
  FileDescriptor listener_;
  FileDescriptor socket_;
  std::vector<std::byte> sent_;    // the last word, behind the time of its arrival
  std::size_t written_bytes_ = 0;  ///< of a word, of which the other end was told; 0: not yet
  std::size_t read_bytes_ = 0;     ///< of its words
  std::vector<std::byte> buffer_;
  std::size_t taken_ = 0;  ///< of the buffer
};

/// What a kernel has of a stream: an end, which reads or writes.
class End final : public fabricmark_card::Port {
 public:
  /// `name`: as UNIT.ARGUMENT; `clock`: of its unit.
  End(std::string name, Channel& channel, bool writes, UnitClock& clock)
      : name_(std::move(name)), channel_(&channel), writes_(writes), clock_(&clock) {}
  /// Both throw Error (bad use) for a call of the other direction, and where the other end has words of
  /// another length; Stopped.
  bool read(void* word, std::size_t bytes, bool waits) override;
  bool write(const void* word, std::size_t bytes, bool waits) override;
  bool is_ready(std::size_t bytes) override;
  std::size_t capacity() override { return channel_->depth(); }
  void corrupt(WordFault fault) { fault_ = fault; }
  /// What its kernel waits for here, in words; empty where it does not.
  [[nodiscard]] std::string waits_for() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void require(bool writes) const;
  /// For a word that passed at this time.
  void pass(Time at);
  [[nodiscard]] Time wanted() const { return std::max(clock_->now, next_); }

  std::string name_;
  Channel* channel_;
  bool writes_;
  UnitClock* clock_;
  Time next_ = 0;  // for a word: one a cycle
  WordFault fault_ = WordFault::kNone;
  std::atomic<bool> is_waiting_ = false;
};

}  // namespace fabricmark::card
