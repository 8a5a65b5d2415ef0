// Types of HPL by DATA_TYPE: TILE_VALUE is what the matrix holds and what is computed with, PANEL_VALUE what
// the panels hold from which the inner kernel multiplies. In mixed precision these are rounded to half; where
// no matrix units read them, they are floats with the values of halves.
#ifndef FABRICMARK_HPL_TYPES_H
#define FABRICMARK_HPL_TYPES_H

#include "common/dialect.h"

#define HPL_TYPE_float 1
#define HPL_TYPE_double 2
#define HPL_TYPE_mixed 3
#define HPL_TYPE FM_PASTE(HPL_TYPE_, DATA_TYPE)

#if HPL_TYPE == HPL_TYPE_mixed
#define TILE_VALUE float
#else
#define TILE_VALUE DATA_TYPE
#endif
#define TILE_VALUE_BYTES FM_BYTES(TILE_VALUE)
#define TILE_FMA(a, b, c) fma(a, b, c)

// Halves end at 6e-5, and elements of L, below 1, are as small as 1 / n: the left panel holds them times
// LEFT_SCALE, a power of two that no halves overflow with and that the inner kernel takes out of the sums.
#if HPL_TYPE == HPL_TYPE_mixed
#define LEFT_SCALE 16384
#define UNSCALE_LEFT(sum) ((sum) * (1.0f / LEFT_SCALE))
#define SCALE_LEFT(value) ((value)*LEFT_SCALE)
#else
#define UNSCALE_LEFT(sum) (sum)
#define SCALE_LEFT(value) (value)
#endif

#endif
