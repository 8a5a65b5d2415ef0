// What a dataflow kernel may use: streams and wide words, one spelling for Vitis HLS and for this machine.
//
//                 | with Vitis (UG1399)   | in C++ on this machine
// ----------------+-----------------------+------------------------------------------------------------
// fm::stream<T>   | hls::stream<T>        | bounded; where it is full or empty, another kernel goes on
// fm::uint<N>     | ap_uint<N>            | a number cut to N bits, with ap_uint's arithmetic
// fm::words<T, N> | a struct, aggregated  | the same struct
//
// A kernel is a function of its own that takes its streams by reference: void scale(fm::stream<word>& in).
// Here it is a fiber; with Vitis its streams are AXI4-Stream ports, which v++ joins (stream_connect). So
// a kernel has no dataflow region inside: functions that it calls run one after another.
//
// Streams have what AMD's Vitis High-Level Synthesis User Guide (UG1399) documents of hls::stream:
//     stream(), stream("name")           fm::stream<T, Depth> where it is declared, if 2 are too few
//     T read(), read(T&), >>             wait for a value
//     write(const T&), <<                wait for room
//     bool read_nb(T&), empty()          reading side only; ports of older versions of Vitis lack them
//     bool write_nb(const T&), full()    writing side only; AXI4-Stream ports lack them
//     capacity()                         in values; size() is with Vitis only
//
// Pragmas are written as for Vitis, in the function or loop that they are of, and mean nothing here:
//     #pragma HLS interface mode = axis port = in                        a stream (the default of kernels)
//     #pragma HLS interface mode = m_axi port = array bundle = array     an array in a memory of the board
//     #pragma HLS aggregate variable = array     its fm::words as one wide word
//     #pragma HLS pipeline II = 1                a turn of the loop each cycle
//     #pragma HLS unroll                         all turns at once
//
// For native runs alone, and nothing with Vitis:
//     fm::spend_cycles(n)                what a loop without streams takes in modelled time
//     fm::end_loop()                     behind a loop: what is in its pipeline leaves it (docs/dataflow.md)
//     FM_WIDEST                          a function compiled for several lengths of a CPU's vectors
//
// C++14 without heap, recursion, virtual functions and exceptions: tools/hls_lint.py sees to it. There is no
// Vitis where this is developed, so that all of it was compiled against tests/hls_stub only.
#ifndef FABRICMARK_DATAFLOW_HPP
#define FABRICMARK_DATAFLOW_HPP

// Only a native build has the native streams in its include path.
#if defined(__VITIS_HLS__) || defined(__SYNTHESIS__) || !__has_include(<board/dataflow/stream.hpp>)

#include <ap_int.h>
#include <hls_stream.h>

#define FM_WIDEST

namespace fm {
/// Without a depth it is 2. Kernels take `stream<T>&`, which one with a depth is, too.
template <typename T, int Depth = 0>
using stream = hls::stream<T, Depth>;
template <int Width>
using uint = ap_uint<Width>;
inline void spend_cycles(long) {}
inline void end_loop() {}
}  // namespace fm

#else

#include <board/dataflow/kernel.hpp>
#include <board/dataflow/stream.hpp>

#include "common/masked_uint.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define FM_WIDEST __attribute__((target_clones("avx512f", "avx2", "fma", "default")))
#else
#define FM_WIDEST
#endif

namespace fm {
template <typename T, int Depth = 0>
using stream = fabricmark::dataflow::stream<T, Depth>;
template <int Width>
using uint = masked::uint<Width>;
using fabricmark::dataflow::end_loop;
using fabricmark::dataflow::spend_cycles;
}  // namespace fm

#endif

namespace fm {

/// `N` values that move as one. Without member functions, as the guide wants it of what a stream carries.
template <typename T, int N>
struct words {
  static_assert(N > 0, "one value or more");
  T value[N];
};

}  // namespace fm

#endif
