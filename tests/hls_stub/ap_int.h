// A stand-in for Vitis' <ap_int.h>, so that sources of dataflow kernels are compiled without Vitis: only what
// AMD's Vitis High-Level Synthesis User Guide (UG1399) documents of ap_uint, and of that what the native
// fm::uint has too (1 to 64 bits). It is that class: tests compare it with values worked out from the guide.
#ifndef FABRICMARK_STUB_AP_INT_H
#define FABRICMARK_STUB_AP_INT_H

#include "common/masked_uint.hpp"

template <int Width>
using ap_uint = fm::masked::uint<Width>;

#endif
