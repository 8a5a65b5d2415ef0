// A stand-in for Vitis' <hls_stream.h>, so that sources of dataflow kernels are compiled, and run as in C
// simulation, without Vitis. It has what AMD's Vitis High-Level Synthesis User Guide (UG1399, "HLS Stream
// Library") documents, and nothing else, so that what is not documented does not compile.
//
// As there, a stream is a queue without end in C simulation: kernels are called one after another, a producer
// before its consumer. Where Vitis warns of a read from an empty stream, the stub ends the program; what is
// left in a stream is reported, as Vitis does.
#ifndef FABRICMARK_STUB_HLS_STREAM_H
#define FABRICMARK_STUB_HLS_STREAM_H

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <queue>
#include <type_traits>

namespace hls {

template <typename T, int Depth = 0>
class stream;

template <typename T>
class stream<T, 0> {
#if !defined(__AP_INT_H__)  // AMD's own numbers copy themselves
  static_assert(std::is_trivially_copyable<T>::value, "a stream carries plain values");
#endif

 public:
  stream() : stream("without a name") {}
  explicit stream(const char* name) : name_(name) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    if (!queue_.empty()) std::fprintf(stderr, "stream '%s' ends with %u values left in it\n", name_, size());
  }

  T read() {
    if (queue_.empty()) {
      std::fprintf(stderr, "stream '%s' is read though it is empty\n", name_);
      std::exit(EXIT_FAILURE);
    }
    const T head = queue_.front();
    queue_.pop();
    return head;
  }
  void read(T& head) { head = read(); }
  bool read_nb(T& head) {
    if (queue_.empty()) return false;
    head = read();
    return true;
  }
  void write(const T& tail) { queue_.push(tail); }
  bool write_nb(const T& tail) {
    write(tail);
    return true;
  }
  void operator>>(T& head) { read(head); }
  void operator<<(const T& tail) { write(tail); }

  bool empty() { return queue_.empty(); }
  bool full() { return false; }
  unsigned size() { return static_cast<unsigned>(queue_.size()); }
  unsigned capacity() { return std::numeric_limits<int>::max(); }

 private:
  const char* name_;
  std::queue<T> queue_;
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
