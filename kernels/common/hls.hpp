// OpenCL C's words in HLS C++: with this file first, a base kernel's base.cl is C++14 that Vitis HLS takes.
//
// One source has both dialects, as a kernel is its loops, and these would stand twice: base.cpp of a kernel
// includes this file and base.cl, and is what `v++ -c -k` compiles. What differs has one home:
//
// in the source                          | OpenCL C      | HLS C++
// ---------------------------------------+---------------+-----------------------------------------------
// __kernel                               | itself        | extern "C", without which v++ finds no kernel
// FM_GLOBAL(k, a), __global, __private   | itself        | nothing: pragmas say where a pointer leads
// FM_LOCAL, where an array is declared   | __local       | nothing: an array of the function
// FM_VECTOR(type, n), FM_MAKE(vector)(.) | floatn        | fm::vector, plain structs that are one wide word
// FM_PIPELINE, FM_UNROLL_FULLY, ...      | before a loop | nothing
// FM_HLS(pipeline II = 1), FM_HLS(unroll)| nothing       | #pragma HLS, first in the loop's body
// FM_REGISTERS, FM_PARTITION(d), ...     | at the array  | nothing
// FM_HLS(array_partition variable = ...) | nothing       | #pragma HLS, behind the declaration
// FM_PORT(a), FM_SCALAR(a), FM_CONTROL   | nothing       | the ports of a kernel, first in its body
//
// Words are those of AMD's Vitis High-Level Synthesis User Guide (UG1399 2021.2): "HLS Pragmas", "Interfaces
// for Vitis Kernel Flow", and for _Pragma in macros "Using Macros". `mode =` is left out, which 2020.2 does
// not know. Compiled here by g++ and clang, never by Vitis.
#ifndef FABRICMARK_HLS_HPP
#define FABRICMARK_HLS_HPP

#define FM_HLS_CPP 1

#include <stddef.h>

#if defined(FM_NEEDS_HALF)
#if __has_include(<hls_half.h>)
#include <hls_half.h>
#else
typedef _Float16 half;  // of clang
#endif
#endif

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __kernel extern "C"
#define __global
#define __local
#define __private
#define restrict __restrict

// Arrays of OpenCL's local memory may be longer than the stack of a thread of this machine.
#if defined(__SYNTHESIS__)
#define FM_LOCAL
#else
#define FM_LOCAL static thread_local
#endif

namespace fm {

/// OpenCL's vector of N elements, 2, 4, 8 or 16: its halves, of which those of two elements are x and y.
/// Without an initial value, as a number is.
template <typename T, int N>
struct vector {
  vector<T, N / 2> lo, hi;
  vector() = default;
  explicit vector(T value) : lo(value), hi(value) {}
  vector(const vector<T, N / 2>& low, const vector<T, N / 2>& high) : lo(low), hi(high) {}
};

template <typename T>
struct vector<T, 2> {
  T x, y;
  vector() = default;
  explicit vector(T value) : x(value), y(value) {}
  vector(T first, T second) : x(first), y(second) {}
};

#define FM_ELEMENTWISE(op)                                                               \
  template <typename T, int N>                                                           \
  inline vector<T, N> operator op(const vector<T, N>& one, const vector<T, N>& other) {  \
    _Pragma("HLS inline") return vector<T, N>(one.lo op other.lo, one.hi op other.hi);   \
  }                                                                                      \
  template <typename T>                                                                  \
  inline vector<T, 2> operator op(const vector<T, 2>& one, const vector<T, 2>& other) {  \
    _Pragma("HLS inline") return vector<T, 2>(T(one.x op other.x), T(one.y op other.y)); \
  }
FM_ELEMENTWISE(+)
FM_ELEMENTWISE(-)
FM_ELEMENTWISE(*)
#undef FM_ELEMENTWISE

template <typename T, int N>
inline vector<T, N> operator*(T factor, const vector<T, N>& other) {
  _Pragma("HLS inline") return vector<T, N>(factor) * other;
}

template <typename T, int N>
inline vector<T, N>& operator+=(vector<T, N>& to, const vector<T, N>& added) {
  _Pragma("HLS inline") return to = to + added;
}

/// What stands for a vector of N elements: for one the element itself.
template <typename T, int N>
struct vector_of {
  typedef vector<T, N> type;
};
template <typename T>
struct vector_of<T, 1> {
  typedef T type;
};

}  // namespace fm

#endif
