// Types of HPL by DATA_TYPE.
#ifndef FABRICMARK_HPL_TYPES_H
#define FABRICMARK_HPL_TYPES_H

#include "common/dialect.h"

#define TILE_VALUE DATA_TYPE
#define TILE_VALUE_BYTES FM_BYTES(DATA_TYPE)
#define TILE_FMA(a, b, c) fma(a, b, c)

#endif
