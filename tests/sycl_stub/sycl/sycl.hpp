// Of SYCL 2020 and Intel's extensions for FPGAs just what the wrappers of `fabricmark build --tool icpx` and
// kernels/common/sycl.hpp use, for clang without SYCL: a task runs where it is submitted, a pipe is a queue.
#ifndef FABRICMARK_STUB_SYCL_HPP
#define FABRICMARK_STUB_SYCL_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <type_traits>

namespace sycl {

class half {
 public:
  half() = default;
  half(const float& number) : number_(static_cast<_Float16>(number)) {}
  operator float() const { return number_; }

 private:
  _Float16 number_;
};

inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline double fma(double a, double b, double c) { return std::fma(a, b, c); }
inline half fma(half a, half b, half c) {
  return static_cast<float>(std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
}
template <typename Number>
Number clz(Number number) {
  return number == 0 ? sizeof(Number) * 8 : __builtin_clzl(number) - (64 - sizeof(Number) * 8);
}
template <typename Number>
Number cospi(Number angle) {
  return std::cos(angle * M_PI);
}
template <typename Number>
Number sinpi(Number angle) {
  return std::sin(angle * M_PI);
}

enum class memory_order { relaxed };
enum class memory_scope { device };
template <typename Item, memory_order Order, memory_scope Scope>
class atomic_ref {
 public:
  explicit atomic_ref(Item& item) : item_(&item) {}
  Item fetch_xor(Item value) const { return __atomic_fetch_xor(item_, value, __ATOMIC_RELAXED); }

 private:
  Item* item_;
};

class event {};

class handler {
 public:
  void depends_on(const event& /*earlier*/) {}
  template <typename Name, typename Task>
  void single_task(const Task& task) {
    task();
  }
};

class queue {
 public:
  template <typename Group>
  event submit(const Group& group) {
    handler one;
    group(one);
    return {};
  }
};

namespace ext {
namespace intel {

template <typename Item>
class device_ptr {
 public:
  explicit device_ptr(Item* pointer) : pointer_(pointer) {}
  Item* get() const { return pointer_; }

 private:
  Item* pointer_;
};

template <class Name, class Word, std::size_t Capacity = 0>
class pipe {
 public:
  static Word read() {
    if (words_.empty()) std::abort();  // nobody else runs who would write
    const Word first = words_.front();
    words_.pop_front();
    return first;
  }
  static void write(const Word& word) { words_.push_back(word); }

 private:
  static inline std::deque<Word> words_;
};

/// The board's channels by number, which ends where it begins: tests read what a kernel wrote.
template <class Place, class Word, std::size_t Capacity = 0>
class kernel_readable_io_pipe {
 public:
  static Word read() { return pipe<Place, Word, Capacity>::read(); }
  static constexpr unsigned place = Place::id;
};
template <class Place, class Word, std::size_t Capacity = 0>
class kernel_writeable_io_pipe {
 public:
  static void write(const Word& word) { pipe<Place, Word, Capacity>::write(word); }
  static constexpr unsigned place = Place::id;
};

namespace experimental {
template <int Number>
struct buffer_location_of {};
template <int Number>
inline constexpr buffer_location_of<Number> buffer_location{};
template <typename Pointer, typename Properties>
class annotated_arg {
 public:
  explicit annotated_arg(const Pointer& pointer) : pointer_(pointer) {}
  operator Pointer() const { return pointer_; }

 private:
  Pointer pointer_;
};
}  // namespace experimental
}  // namespace intel

namespace oneapi {
namespace experimental {
template <typename... Properties>
struct properties {
  explicit properties(const Properties&... /*all*/) {}
};
}  // namespace experimental
}  // namespace oneapi
}  // namespace ext
}  // namespace sycl

#endif
