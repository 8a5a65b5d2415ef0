// Numbers of kernels that compute one item, or as many as a vector of the CPU holds: `real` is one number or
// a vector of WIDTH, one item each; `scalar` is one number, `whole` as many integers as `real` has numbers.
// What is written with them compiles as OpenCL C for both, and as C++ for one.
#ifndef FABRICMARK_NUMBERS_H
#define FABRICMARK_NUMBERS_H

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
#define FM_TRUTH(whole_truth) FM_PASTE(convert_long, WIDTH)(whole_truth)
#else
typedef whole truth;
#define FM_TRUTH(whole_truth) (whole_truth)
#endif
#define FM_ANY(condition) any(condition)
#define FM_LANE(vector, lane) (((scalar*)&(vector))[lane])
#define FM_WHOLE_LANE(vector, lane) (((int*)&(vector))[lane])
#else
typedef DATA_TYPE real;
typedef int whole;
typedef int truth;
#define FM_TRUTH(whole_truth) (whole_truth)
#define FM_ANY(condition) (condition)
#define FM_LANE(vector, lane) (vector)
#define FM_WHOLE_LANE(vector, lane) (vector)
#endif

// What a vector has where the condition is true, else the other; conditions are comparisons.
#define FM_CHOOSE(condition, one, other) ((condition) ? (one) : (other))
// The second where one of them is not a number; one instruction of a CPU, where fmax and fmin take three.
#define FM_LARGER(one, other) FM_CHOOSE((one) > (other), one, other)
#define FM_SMALLER(one, other) FM_CHOOSE((one) < (other), one, other)

#endif
