// Numbers as the kernels of shallow water take them: `real` is one number, or as many as a vector of the CPU
// holds, one element of the mesh each; `scalar` is one number, `whole` as many integers as `real` has
// numbers. What is written with them compiles as OpenCL C for both, and as C++ for one.
#ifndef FABRICMARK_SHALLOW_WATER_NUMBERS_H
#define FABRICMARK_SHALLOW_WATER_NUMBERS_H

#include "common/dialect.h"

#if defined(__OPENCL_VERSION__)
#if EXACT
#pragma OPENCL FP_CONTRACT OFF
#else
#pragma OPENCL FP_CONTRACT ON
#endif
#endif

typedef DATA_TYPE scalar;

#if WIDTH > 1
typedef FM_VECTOR(DATA_TYPE, WIDTH) real;
typedef FM_VECTOR(int, WIDTH) whole;
#if defined(FM_NEEDS_DOUBLE)
typedef FM_VECTOR(long, WIDTH) truth;
#define SW_TRUTH(whole_truth) FM_PASTE(convert_long, WIDTH)(whole_truth)
#else
typedef whole truth;
#define SW_TRUTH(whole_truth) (whole_truth)
#endif
#define SW_ANY(condition) any(condition)
#define SW_LANE(vector, lane) (((scalar*)&(vector))[lane])
#define SW_WHOLE_LANE(vector, lane) (((int*)&(vector))[lane])
#else
typedef DATA_TYPE real;
typedef int whole;
typedef int truth;
#define SW_TRUTH(whole_truth) (whole_truth)
#define SW_ANY(condition) (condition)
#define SW_LANE(vector, lane) (vector)
#define SW_WHOLE_LANE(vector, lane) (vector)
#endif

// What a vector has where the condition is true, else the other; conditions are comparisons.
#define SW_CHOOSE(condition, one, other) ((condition) ? (one) : (other))
// The second where one of them is not a number; one instruction of a CPU, where fmax and fmin take three.
#define SW_LARGER(one, other) SW_CHOOSE((one) > (other), one, other)
#define SW_SMALLER(one, other) SW_CHOOSE((one) < (other), one, other)

#endif
