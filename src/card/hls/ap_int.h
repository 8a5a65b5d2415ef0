// <ap_int.h> for kernels of the emulated card: ap_uint of 1 to 64 bits, which is the suite's own class.
#ifndef FABRICMARK_CARD_AP_INT_H
#define FABRICMARK_CARD_AP_INT_H

#include "common/masked_uint.hpp"

template <int Width>
using ap_uint = fm::masked::uint<Width>;

#endif
