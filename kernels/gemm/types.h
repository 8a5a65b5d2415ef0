// Types of GEMM by DATA_TYPE: GEMM_INPUT is what A and B hold in global memory, GEMM_VALUE what is computed
// with and what C holds, GEMM_SCALAR alpha and beta (Intel's tools take no half as an argument).
#ifndef FABRICMARK_GEMM_TYPES_H
#define FABRICMARK_GEMM_TYPES_H

#include "common/dialect.h"

#define GEMM_TYPE_half 1
#define GEMM_TYPE_float 2
#define GEMM_TYPE_double 3
#define GEMM_TYPE_mixed 4
#define GEMM_TYPE FM_PASTE(GEMM_TYPE_, DATA_TYPE)

#if GEMM_TYPE == GEMM_TYPE_mixed
#define GEMM_INPUT half
#define GEMM_VALUE float
#else
#define GEMM_INPUT DATA_TYPE
#define GEMM_VALUE DATA_TYPE
#endif

#define GEMM_VALUE_BYTES FM_BYTES(GEMM_VALUE)
#if GEMM_TYPE == GEMM_TYPE_double
#define GEMM_SCALAR double
#else
#define GEMM_SCALAR float
#endif

// Element `index` of A or B, and the `width` elements from there on, as values. Half is only loaded in mixed
// precision, which OpenCL can do on every device.
#if defined(FM_HLS_CPP)
#define GEMM_LOAD(pointer, index) ((GEMM_VALUE)(pointer)[index])
#elif GEMM_TYPE == GEMM_TYPE_mixed
#define GEMM_LOAD(pointer, index) vload_half(index, pointer)
#define vload_half1 vload_half
#define GEMM_LOAD_VECTOR(width, pointer, index) FM_PASTE(vload_half, width)(0, (pointer) + (index))
#else
#define GEMM_LOAD(pointer, index) (pointer)[index]
#define GEMM_LOAD_VECTOR(width, pointer, index) FM_PASTE(vload, width)(0, (pointer) + (index))
#endif

// a b + c. In half, Intel's compiler takes minutes over fma; in the other types it is sure not to be split.
#if GEMM_TYPE == GEMM_TYPE_half
#define GEMM_FMA(a, b, c) ((a) * (b) + (c))
#else
#define GEMM_FMA(a, b, c) fma(a, b, c)
#endif

// alpha product + beta c; where beta is 0, c is not looked at: it may hold anything.
#define GEMM_RESULT(product, c) \
  (beta == 0 ? (GEMM_VALUE)alpha * (product) : (GEMM_VALUE)alpha * (product) + (GEMM_VALUE)beta * (c))

#endif
