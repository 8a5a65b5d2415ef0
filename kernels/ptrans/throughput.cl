// PTRANS, throughput kernel: C = B + A^T of blocks by ND-range kernels for CPUs and GPUs. Blocks and tasks
// are those of the base kernel; `pull` has tasks of its own, some of whose blocks of A are another rank's.
#include "common/dialect.h"

#define BLOCK_ELEMENTS ((size_t)BLOCK_SIZE * BLOCK_SIZE)
#define THEIRS 0x80000000u  // of a task's source: in the other rank's memory

#if defined(FM_CPU)
#include "ptrans/throughput_cpu.h"
#else
#include "ptrans/throughput_gpu.h"
#endif
