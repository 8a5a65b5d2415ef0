#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "board/dataflow/channel.hpp"

namespace fabricmark::dataflow {

/// A channel with its words.
template <typename T>
class Typed final : public Channel {
  static_assert(std::is_trivially_copyable_v<T>, "a word of a stream is plain data");

 public:
  Typed(std::string name, const ChannelTiming& timing, bool is_link = false)
      : Channel(std::move(name), sizeof(T), timing, is_link), words_(timing.depth) {}

  void push(const T& word) {
    if (is_watched()) [[unlikely]] {
      watched_push(std::as_bytes(std::span(&word, 1)));
      return;
    }
    words_[begin_push()] = word;
    end_push();
  }
  T pop() {
    if (is_decided()) [[unlikely]] {
      T word;
      decided_pop(std::as_writable_bytes(std::span(&word, 1)));
      return word;
    }
    const T word = words_[begin_pop()];
    end_pop();
    return word;
  }

 private:
  std::byte* word(std::size_t place) override {
    return std::as_writable_bytes(std::span(words_)).subspan(place * sizeof(T)).data();
  }
  void arrange(std::size_t first, std::size_t places) override {
    std::ranges::rotate(words_, words_.begin() + static_cast<std::ptrdiff_t>(first));
    words_.resize(places);
  }
  std::vector<T> words_;
};

/// A stream of any type.
class AnyStream {
 public:
  [[nodiscard]] const std::shared_ptr<Channel>& shared() const { return shared_; }

 protected:
  explicit AnyStream(std::shared_ptr<Channel> channel) : shared_(std::move(channel)) {}
  ~AnyStream() = default;

 private:
  std::shared_ptr<Channel> shared_;
};

template <typename T, int Depth = 0>
class stream;

/// What kernels see of a stream: the documented subset of Vitis' hls::stream (AMD, Vitis High-Level
/// Synthesis User Guide UG1399, "HLS Stream Library"), with the same names. Kernels take `stream<T>&`; one
/// with a depth of its own is such a one, too. A stream lives as long as the kernels that use it.
template <typename T>
class stream<T, 0> : public AnyStream {
 public:
  static constexpr int kDefaultDepth = 2;

  stream() : stream(nullptr, kDefaultDepth) {}
  explicit stream(const char* name) : stream(name, kDefaultDepth) {}
  /// An end of a link.
  explicit stream(const std::shared_ptr<Typed<T>>& channel) : AnyStream(channel), channel_(channel.get()) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  T read() { return channel_->pop(); }
  void read(T& word) { word = channel_->pop(); }
  bool read_nb(T& word) {
    if (channel_->is_empty()) return false;
    word = channel_->pop();
    return true;
  }
  void write(const T& word) { channel_->push(word); }
  bool write_nb(const T& word) {
    if (channel_->is_full()) return false;
    channel_->push(word);
    return true;
  }
  void operator>>(T& word) { read(word); }
  void operator<<(const T& word) { write(word); }
  bool empty() { return channel_->is_empty(); }
  bool full() { return channel_->is_full(); }
  [[nodiscard]] std::size_t capacity() const { return channel_->timing().depth; }

  /// For the host: its counters and fill.
  [[nodiscard]] const Channel& channel() const { return *channel_; }

 protected:
  stream(const char* name, int depth)
      : stream(std::make_shared<Typed<T>>(
            name != nullptr ? name : "(without a name)",
            ChannelTiming{static_cast<std::size_t>(depth > 0 ? depth : kDefaultDepth), 0, 0, 0})) {}

 private:
  Typed<T>* channel_;
};

/// With a depth.
template <typename T, int Depth>
class stream : public stream<T, 0> {
 public:
  stream() : stream<T, 0>(nullptr, Depth) {}
  explicit stream(const char* name) : stream<T, 0>(name, Depth) {}
};

}  // namespace fabricmark::dataflow
