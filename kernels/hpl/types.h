// Types of HPL by DATA_TYPE.
#ifndef FABRICMARK_HPL_TYPES_H
#define FABRICMARK_HPL_TYPES_H

#include "common/dialect.h"

#define HPL_BYTES_float 4
#define HPL_BYTES_double 8

#define TILE_VALUE DATA_TYPE
#define TILE_VALUE_BYTES FM_PASTE(HPL_BYTES_, DATA_TYPE)
#define TILE_FMA(a, b, c) fma(a, b, c)

#endif
