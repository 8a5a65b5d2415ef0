// hls::stream for kernels of the emulated card: what AMD's Vitis High-Level Synthesis User Guide (UG1399,
// "HLS Stream Library") documents. A kernel's own arguments lead to the card, where other kernels or cards
// are at the other end; a stream that is declared in a function is a queue without end, as in C simulation.
#ifndef FABRICMARK_CARD_HLS_STREAM_H
#define FABRICMARK_CARD_HLS_STREAM_H

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <queue>
#include <type_traits>

#include "card_port.hpp"

namespace hls {

template <typename T, int Depth = 0>
class stream;

template <typename T>
class stream<T, 0> {
  // NOLINTNEXTLINE(modernize-type-traits): C++14
  static_assert(std::is_trivially_copyable<T>::value, "a stream carries plain values");

 public:
  stream() = default;
  explicit stream(const char*) {}
  explicit stream(fabricmark_card::Port& port) : port_(&port) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  T read() {
    T word;
    read(word);
    return word;
  }
  void read(T& word) {
    if (port_ != nullptr) {
      port_->read(&word, sizeof(T), true);
    } else if (!take(word)) {
      std::fputs("a stream inside of a kernel is read though it is empty\n", stderr);
      std::abort();
    }
  }
  bool read_nb(T& word) { return port_ != nullptr ? port_->read(&word, sizeof(T), false) : take(word); }
  void write(const T& word) {
    if (port_ != nullptr)
      port_->write(&word, sizeof(T), true);
    else
      words_.push(word);
  }
  bool write_nb(const T& word) {
    if (port_ != nullptr) return port_->write(&word, sizeof(T), false);
    words_.push(word);
    return true;
  }
  void operator>>(T& word) { read(word); }
  void operator<<(const T& word) { write(word); }

  bool empty() { return port_ != nullptr ? !port_->is_ready(sizeof(T)) : words_.empty(); }
  bool full() { return port_ != nullptr && !port_->is_ready(sizeof(T)); }
  unsigned capacity() {
    return port_ != nullptr ? static_cast<unsigned>(port_->capacity()) : std::numeric_limits<int>::max();
  }

 private:
  bool take(T& word) {
    if (words_.empty()) return false;
    word = words_.front();
    words_.pop();
    return true;
  }

  fabricmark_card::Port* port_ = nullptr;
  std::queue<T> words_;
};

/// A stream whose depth is given; functions take it as a stream without one.
template <typename T, int Depth>
class stream : public stream<T, 0> {
  static_assert(Depth > 0, "a depth is 1 or more");

 public:
  stream() = default;
  explicit stream(const char* name) : stream<T, 0>(name) {}
};

}  // namespace hls

#endif
