// OpenCL's functions that base kernels call, for kernels that run on the emulated card: they are compiled for
// the host's processor, and each launch is one work-item. Where one is missing the linker names it.
#define FM_CARD __attribute__((overloadable))

size_t FM_CARD get_global_id(uint dimension) { return 0; }
size_t FM_CARD get_local_id(uint dimension) { return 0; }
size_t FM_CARD get_group_id(uint dimension) { return 0; }
size_t FM_CARD get_global_size(uint dimension) { return 1; }
size_t FM_CARD get_local_size(uint dimension) { return 1; }
void FM_CARD barrier(cl_mem_fence_flags flags) {}

#define FM_NUMBERS(type, suffix)                                                      \
  type FM_CARD sqrt(type x) { return __builtin_sqrt##suffix(x); }                     \
  type FM_CARD fabs(type x) { return __builtin_fabs##suffix(x); }                     \
  type FM_CARD fma(type x, type y, type z) { return __builtin_fma##suffix(x, y, z); } \
  type FM_CARD fmin(type x, type y) { return __builtin_fmin##suffix(x, y); }          \
  type FM_CARD fmax(type x, type y) { return __builtin_fmax##suffix(x, y); }          \
  type FM_CARD floor(type x) { return __builtin_floor##suffix(x); }
FM_NUMBERS(float, f)
FM_NUMBERS(double, )

#define FM_WHOLE(type)                                       \
  type FM_CARD min(type x, type y) { return x < y ? x : y; } \
  type FM_CARD max(type x, type y) { return x > y ? x : y; }
FM_WHOLE(int)
FM_WHOLE(uint)
FM_WHOLE(long)
FM_WHOLE(ulong)
