// Types of FFT by DATA_TYPE. A complex number is a pair; many of them side by side are two vectors of LANES
// numbers, so that a butterfly works on LANES transforms at once.
#ifndef FABRICMARK_FFT_TYPES_H
#define FABRICMARK_FFT_TYPES_H

#include "common/dialect.h"

#define FFT_ELEMENT_BYTES FM_BYTES(DATA_TYPE)

typedef FM_VECTOR(DATA_TYPE, 2) fft_complex;

#endif
