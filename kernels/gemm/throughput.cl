// GEMM, throughput kernel: result = alpha a b + beta c by ND-range kernels for CPUs and GPUs.
//
// `rows`, `columns` and `depth` are padded: a is rows x depth, b depth x columns, c and result rows x columns.
#include "common/dialect.h"
#include "gemm/types.h"

#if defined(FM_CPU)
#include "gemm/throughput_cpu.h"
#else
#include "gemm/throughput_gpu.h"
#endif
