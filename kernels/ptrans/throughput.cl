// PTRANS, throughput kernel: C = B + A^T of blocks by ND-range kernels for CPUs and GPUs. Blocks and tasks
// are those of the base kernel.
#include "common/dialect.h"

#define BLOCK_ELEMENTS ((size_t)BLOCK_SIZE * BLOCK_SIZE)

#if defined(FM_CPU)
#include "ptrans/throughput_cpu.h"
#else
#include "ptrans/throughput_gpu.h"
#endif
