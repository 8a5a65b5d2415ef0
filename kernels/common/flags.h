// Flags between kernels of different GPUs, each of which reaches the other's memory: the kernel of one raises
// a flag there once all of its work-items have written what the other waits for. All work-items call these.
#ifndef FABRICMARK_FLAGS_H
#define FABRICMARK_FLAGS_H

#include "common/dialect.h"

// What was written before is seen by other devices before what is written after. OpenCL C 1.2 has no such
// words.
#if defined(__NV_CL_C_VERSION)
#define FM_SEEN_BY_ALL asm volatile("fence.acq_rel.sys;" ::: "memory")
#else
#define FM_SEEN_BY_ALL mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// `left` counts work-groups that have done; 0 before and after. The flag becomes `number`.
FM_INLINE void fm_raise(__global volatile uint* flag, __global volatile uint* left, const uint number) {
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) > 0) return;
  FM_SEEN_BY_ALL;
  if (atomic_inc(left) + 1 < get_num_groups(0)) return;
  *left = 0;
  FM_SEEN_BY_ALL;
  *flag = number;
  FM_SEEN_BY_ALL;
}

// Until each of `count` flags is `number`, or a later one. Looks `patience` times at most: then `late`
// becomes the place of the flag, from 1 on, and nobody waits for any flag from then on.
FM_INLINE void fm_await(__global const volatile uint* flags, const uint count, const uint number,
                        __global volatile uint* late, const ulong patience) {
  if (get_local_id(0) == 0) {
    ulong looks = 0;
    for (uint i = 0; i < count; ++i) {
      while ((int)(flags[i] - number) < 0 && looks < patience && *late == 0) ++looks;
      if (looks == patience && *late == 0) *late = i + 1;
    }
    FM_SEEN_BY_ALL;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
}

#endif
