// The dialect header: one spelling for what Intel's aoc, Xilinx' v++ and plain OpenCL C 1.2 write
// differently.
//
// Tool              | recognised by             | single work-item          | unroll            | pipelining
// ------------------+---------------------------+---------------------------+-------------------+---------------
// Intel aoc, emulator | INTELFPGA_CL             | max_global_work_dim(0)    | #pragma unroll N  | by default
// Xilinx v++        | __xilinx__, __HLS_SYN__   | reqd_work_group_size(1..) | opencl_unroll_hint|
// xcl_pipeline_loop other (CPU, GPU)  | else                      | reqd_work_group_size(1..) | compiler's
// choice | -
//
// Nothing outside this file may use a vendor's extension in a base kernel.
#ifndef FABRICMARK_DIALECT_H
#define FABRICMARK_DIALECT_H

#define FM_PASTE_EXPANDED(left, right) left##right
#define FM_PASTE(left, right) FM_PASTE_EXPANDED(left, right)
#define FM_TEXT_EXPANDED(text) #text
#define FM_PRAGMA(text) _Pragma(FM_TEXT_EXPANDED(text))

#if defined(FM_NEEDS_HALF)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if defined(FM_NEEDS_DOUBLE)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// Copies of a kernel that run at the same time. Objects of one kernel run one after the other on Intel's
// FPGAs, so that there, where REPLICATIONS is defined, each replica is an entry point: name_0, name_1, ... A
// file with such kernels includes itself at its end, once for each further replica; what they share is of
// replica 0. Xilinx' v++ makes compute units of one entry point (nk=), and other devices run objects of one
// at once.
#if defined(REPLICATIONS) && !defined(__xilinx__) && !defined(__HLS_SYN__)
#define FM_REPLICAS REPLICATIONS
#define FM_REPLICA __INCLUDE_LEVEL__  // the host, which puts included files in their place, defines it anew
#define FM_REPLICATED(name) FM_PASTE(name##_, FM_REPLICA)
#else
#define FM_REPLICAS 1
#define FM_REPLICA 0
#define FM_REPLICATED(name) name
#endif

// A vector of `width` elements; width 1 is the scalar itself.
#define FM_VECTOR_1(type) type
#define FM_VECTOR_2(type) FM_PASTE(type, 2)
#define FM_VECTOR_4(type) FM_PASTE(type, 4)
#define FM_VECTOR_8(type) FM_PASTE(type, 8)
#define FM_VECTOR_16(type) FM_PASTE(type, 16)
#define FM_VECTOR(type, width) FM_PASTE(FM_VECTOR_, width)(type)

#if defined(INTELFPGA_CL)
// The emulator's compiler crashes on bank attributes of __local memory, so that none is given here.
#define FM_SINGLE_WORK_ITEM \
  __attribute__((max_global_work_dim(0))) __attribute__((uses_global_work_offset(0)))
#define FM_UNROLL(count) FM_PRAGMA(unroll count)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#define FM_IGNORE_DEPENDENCE(array) FM_PRAGMA(ivdep array(array))
#define FM_PIPELINE
#elif defined(__xilinx__) || defined(__HLS_SYN__)
#define FM_SINGLE_WORK_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define FM_UNROLL(count) __attribute__((opencl_unroll_hint(count)))
#define FM_UNROLL_FULLY __attribute__((opencl_unroll_hint))
#define FM_PIPELINE __attribute__((xcl_pipeline_loop(1)))
#else
#define FM_SINGLE_WORK_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define FM_UNROLL(count)
#if defined(__clang__) || defined(__NV_CL_C_VERSION)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#else
#define FM_UNROLL_FULLY
#endif
#define FM_PIPELINE
#endif

// A store of a result that is not read again soon. A CPU that would first fetch the line into its cache is
// told not to (clang's builtin, which PoCL and Intel's runtime compile); elsewhere it is an ordinary store.
#if defined(FM_CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define FM_STORE_ONCE(destination, value) __builtin_nontemporal_store(value, &(destination))
#endif
#endif
#if !defined(FM_STORE_ONCE)
#define FM_STORE_ONCE(destination, value) (destination) = (value)
#endif

// Asks for an item that will be changed soon, so that its line is on the way by then.
#if defined(FM_CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define FM_PREFETCH(item) __builtin_prefetch(&(item), 1)
#endif
#endif
#if !defined(FM_PREFETCH)
#define FM_PREFETCH(item)
#endif

// Before a loop: the tool need not wait for a write to `array` before a later read, though both may be of the
// same item. Intel's FPGA compiler only.
#if !defined(FM_IGNORE_DEPENDENCE)
#define FM_IGNORE_DEPENDENCE(array)
#endif

#endif
