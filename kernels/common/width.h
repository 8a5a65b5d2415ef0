// WIDTH, of kernels that compute as many items at a time as a vector of VECTOR_BYTES of a CPU holds;
// elsewhere 1.
#ifndef FABRICMARK_WIDTH_H
#define FABRICMARK_WIDTH_H

#if defined(FM_CPU)
#if VECTOR_BYTES == 16 && defined(FM_NEEDS_DOUBLE)
#define WIDTH 2
#elif VECTOR_BYTES == 16 || (VECTOR_BYTES == 32 && defined(FM_NEEDS_DOUBLE))
#define WIDTH 4
#elif VECTOR_BYTES == 32 || defined(FM_NEEDS_DOUBLE)
#define WIDTH 8
#else
#define WIDTH 16
#endif
#else
#define WIDTH 1
#endif

#endif
