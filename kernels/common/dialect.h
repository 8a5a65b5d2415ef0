// The dialect header: one spelling for what Intel's aoc, Xilinx' v++ and plain OpenCL C 1.2 write
// differently. Nothing outside this file may use a vendor's extension in a base kernel.
//
// Intel's aoc is recognised by INTELFPGA_CL, which its emulator has too (the host adds FM_EMULATOR); Xilinx'
// v++ by __xilinx__ or __HLS_SYN__. "-": the tool does so by itself or has no word for it. On every other
// device all of these are empty, but for full unrolling, which clang and NVIDIA know.
//
// here                        | aoc                                    | v++
// ----------------------------+----------------------------------------+------------------------------------
// before a kernel
// FM_SINGLE_WORK_ITEM         | max_global_work_dim(0), no offset      | reqd_work_group_size(1, 1, 1)
// before a loop
// FM_PIPELINE                 | -                                      | xcl_pipeline_loop(1)
// FM_UNROLL(n)                | #pragma unroll n                       | opencl_unroll_hint(n)
// FM_UNROLL_FULLY             | #pragma unroll                         | opencl_unroll_hint
// FM_SERIAL                   | #pragma disable_loop_pipelining        | opencl_unroll_hint(1)
// FM_COALESCE(n)              | #pragma loop_coalesce n                | - (flattens perfect nests)
// FM_NO_FUSION                | #pragma nofusion                       | - (merges where told to only)
// FM_IGNORE_DEPENDENCE(name)  | #pragma ivdep array(name)              | -
// FM_SAFE_DISTANCE(name, n)   | #pragma ivdep array(name) safelen(n)   | -
// behind the name and dimensions of an array in local memory
// FM_REGISTERS                | register                               | xcl_array_partition(complete, 0)
// FM_BANKS(n, bytes)          | numbanks(n), bankwidth(bytes)          | -
// FM_PARTITION(d)             | -                                      | xcl_array_partition(complete, d)
// FM_PARTITION_CYCLIC(n, d)   | -                                      | xcl_array_partition(cyclic, n, d)
// first in a loop's body, or behind an array's declaration: a pragma of HLS C++ (common/hls.hpp)
// FM_HLS(text)                | -                                      | - (base.cpp: #pragma HLS text)
// in place of __global at a kernel's argument
// FM_GLOBAL(kernel, argument) | buffer_location("..."), where the build | - (sp= of the linker)
//                             | says FM_LOCATIONS
//
// icpx (common/sycl.hpp, FM_SYCL_AHEAD) has the loops' words as attributes: intel::disable_loop_pipelining,
// loop_coalesce, nofusion, ivdep ("Migrating OpenCL FPGA Designs to SYCL", 2024.0, Loop Directives).
//
// Sources: Intel FPGA SDK for OpenCL Pro Edition, Programming Guide (UG-OCL002), chapters 5.2 (loops), 6.2.2
// (buffer_location) and 11.2 (memory); AMD, UG1393 2021.2, OpenCL attributes. Untested on hardware.
#ifndef FABRICMARK_DIALECT_H
#define FABRICMARK_DIALECT_H

#define FM_PASTE_EXPANDED(left, right) left##right
#define FM_PASTE(left, right) FM_PASTE_EXPANDED(left, right)
#define FM_TEXT_EXPANDED(text) #text
#define FM_PRAGMA(text) _Pragma(FM_TEXT_EXPANDED(text))

// Bytes of a number, in conditions of the preprocessor, too.
#define FM_BYTES_half 2
#define FM_BYTES_float 4
#define FM_BYTES_double 8
#define FM_BYTES(type) FM_PASTE(FM_BYTES_, type)

#if defined(FM_NEEDS_HALF) && !defined(FM_HLS_CPP) && !defined(FM_SYCL_CPP)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if defined(FM_NEEDS_DOUBLE) && !defined(FM_HLS_CPP) && !defined(FM_SYCL_CPP)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// Copies of a kernel that run at the same time. Objects of one kernel run one after the other on Intel's
// FPGAs, so that there, where REPLICATIONS is defined, each replica is an entry point: name_0, name_1, ... A
// file with such kernels includes itself at its end, once for each further replica; what they share is of
// replica 0. Xilinx' v++ makes compute units of one entry point (nk=), and other devices run objects of one
// at once.
// The wrapper of SYCL's kernels for icpx includes the file itself, with another FM_REPLICA each time.
#if defined(FM_SYCL_AHEAD)
#define FM_REPLICAS 1
#if defined(REPLICATIONS)
#define FM_REPLICATED(name) FM_PASTE(name##_, FM_REPLICA)
#else
#define FM_REPLICATED(name) name
#endif
#elif defined(REPLICATIONS) && !defined(__xilinx__) && !defined(__HLS_SYN__) && !defined(FM_HLS_CPP)
#define FM_REPLICAS REPLICATIONS
#define FM_REPLICA __INCLUDE_LEVEL__  // the host, which puts included files in their place, defines it anew
#define FM_REPLICATED(name) FM_PASTE(name##_, FM_REPLICA)
#else
#define FM_REPLICAS 1
#define FM_REPLICA 0
#define FM_REPLICATED(name) name
#endif

// In place of a call, always: a compiler may leave a large function that is called twice as one, and what it
// works on in memory instead of registers.
#define FM_INLINE __attribute__((always_inline)) static inline

// Where base.cl is compiled as HLS C++, pragmas stand for the attributes of OpenCL C: FM_HLS(text) in a loop
// or behind an array, and first in a kernel its ports. Each argument in a memory has an AXI master of its
// own, FM_PORT(argument), as wide as a vector that it leads to where it is an aggregate; all else are
// registers.
#if defined(FM_HLS_CPP)
#define FM_HLS(text) FM_PRAGMA(HLS text)
#if defined(FM_ONE_PORT)
#define FM_MASTER(argument) memory
#else
#define FM_MASTER(argument) argument
#endif
#define FM_PORT(argument)                                                             \
  FM_HLS(interface m_axi port = argument bundle = FM_MASTER(argument) offset = slave) \
  FM_HLS(interface s_axilite port = argument)
#define FM_SCALAR(argument) FM_HLS(interface s_axilite port = argument)
#define FM_CONTROL FM_HLS(interface s_axilite port = return )
#else
#if !defined(FM_LOCAL)
#define FM_LOCAL __local
#endif
#define FM_HLS(text)
#define FM_PORT(argument)
#define FM_SCALAR(argument)
#define FM_CONTROL
#endif

// A vector of `width` elements; width 1 is the scalar itself. FM_MAKE(a vector's type)(...): one of these
// parts.
#if defined(FM_HLS_CPP)
#define FM_VECTOR(element, width) fm::vector_of<element, width>::type
#define FM_MAKE(vector) vector
#else
#define FM_VECTOR_1(type) type
#define FM_VECTOR_2(type) FM_PASTE(type, 2)
#define FM_VECTOR_4(type) FM_PASTE(type, 4)
#define FM_VECTOR_8(type) FM_PASTE(type, 8)
#define FM_VECTOR_16(type) FM_PASTE(type, 16)
#define FM_VECTOR(type, width) FM_PASTE(FM_VECTOR_, width)(type)
#if defined(FM_SYCL_CPP)
#define FM_MAKE(vector) fm::make<vector>
#else
#define FM_MAKE(vector) (vector)
#endif
#endif

#if defined(FM_SYCL_AHEAD)  // behind an array's dimensions no attribute of icpx may stand: it chooses itself
#define FM_SINGLE_WORK_ITEM
#define FM_UNROLL(count) FM_PRAGMA(unroll count)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#define FM_SERIAL [[intel::disable_loop_pipelining]]
#define FM_COALESCE(loops) [[intel::loop_coalesce(loops)]]
#define FM_NO_FUSION [[intel::nofusion]]
#define FM_IGNORE_DEPENDENCE(name) [[intel::ivdep(name)]]
#define FM_SAFE_DISTANCE(name, iterations) [[intel::ivdep(name, iterations)]]
#elif defined(FM_SYCL_CPP)  // which says it with __kernel (common/sycl.hpp)
#define FM_SINGLE_WORK_ITEM
#define FM_UNROLL(count)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#elif defined(FM_HLS_CPP)  // pragmas within loops and behind arrays say all of it
#define FM_SINGLE_WORK_ITEM
#define FM_UNROLL(count)
#elif defined(INTELFPGA_CL)
#define FM_SINGLE_WORK_ITEM \
  __attribute__((max_global_work_dim(0))) __attribute__((uses_global_work_offset(0)))
#define FM_UNROLL(count) FM_PRAGMA(unroll count)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#define FM_PIPELINE
#define FM_SERIAL FM_PRAGMA(disable_loop_pipelining)
#define FM_COALESCE(loops) FM_PRAGMA(loop_coalesce loops)
#define FM_NO_FUSION FM_PRAGMA(nofusion)
#define FM_IGNORE_DEPENDENCE(name) FM_PRAGMA(ivdep array(name))
#define FM_SAFE_DISTANCE(name, iterations) FM_PRAGMA(ivdep array(name) safelen(iterations))
// The emulator's compiler crashes on bank attributes of __local memory, so that it is given none.
#if !defined(FM_EMULATOR)
#define FM_REGISTERS __attribute__((register))
#define FM_BANKS(count, bytes) __attribute__((numbanks(count), bankwidth(bytes)))
#endif
#elif defined(__xilinx__) || defined(__HLS_SYN__)
#define FM_SINGLE_WORK_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define FM_UNROLL(count) __attribute__((opencl_unroll_hint(count)))
#define FM_UNROLL_FULLY __attribute__((opencl_unroll_hint))
#define FM_PIPELINE __attribute__((xcl_pipeline_loop(1)))
#define FM_SERIAL __attribute__((opencl_unroll_hint(1)))  // v++ unrolls short loops unless told not to
#define FM_REGISTERS __attribute__((xcl_array_partition(complete, 0)))
#define FM_PARTITION(dimension) __attribute__((xcl_array_partition(complete, dimension)))
#define FM_PARTITION_CYCLIC(count, dimension) __attribute__((xcl_array_partition(cyclic, count, dimension)))
#else
#define FM_SINGLE_WORK_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define FM_UNROLL(count)
#if defined(__clang__) || defined(__NV_CL_C_VERSION)
#define FM_UNROLL_FULLY FM_PRAGMA(unroll)
#endif
#endif

// Between __kernel and void, of a kernel that is started with groups of so many work-items. Without it
// Intel's compiler for CPUs makes vectors of work-items that are vectors already, for minutes.
#if defined(FM_SYCL_CPP)
#define FM_GROUP_OF(items) \
  SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::work_group_size<items>))
#else
#define FM_GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif

// Full unrolling of loops between barriers, on what is a GPU to its own compiler: PoCL 3.1 makes wrong code
// of such loops, and long code of those of a large tile.
#if defined(__NV_CL_C_VERSION) || defined(__AMDGCN__)
#define FM_UNROLL_ON_GPU FM_PRAGMA(unroll)
#else
#define FM_UNROLL_ON_GPU
#endif

// Of a loop that fills a CPU's registers: unrolled, its loads would be moved up until registers are spilled.
#if defined(__clang__)
#define FM_ROLLED FM_PRAGMA(unroll 1)
#else
#define FM_ROLLED
#endif

// How a loop runs. FM_SERIAL: its iterations one after the other, as those of a loop around pipelines that
// share local memory. FM_COALESCE(n): n loops inside each other as one. FM_NO_FUSION: not merged with the
// loop before, whose bursts go in the other direction.
#if !defined(FM_UNROLL_FULLY)
#define FM_UNROLL_FULLY
#endif
#if !defined(FM_PIPELINE)
#define FM_PIPELINE
#endif
#if !defined(FM_SERIAL)
#define FM_SERIAL
#endif
#if !defined(FM_COALESCE)
#define FM_COALESCE(loops)
#define FM_NO_FUSION
#endif

// Before a loop: a write to array `name` need not be waited for before a later iteration reads, as they are
// of different items; FM_SAFE_DISTANCE: as those of so many iterations in a row are.
#if !defined(FM_IGNORE_DEPENDENCE)
#define FM_IGNORE_DEPENDENCE(name)
#define FM_SAFE_DISTANCE(name, iterations)
#endif

// How an array lies in local memory, behind its dimensions. Both vendors' words stand together, each for
// itself: FM_PARTITION(d) makes every index of dimension d (from 1) a memory of its own,
// FM_PARTITION_CYCLIC(n, d) n > 1 memories interleaved; FM_BANKS(n, bytes) n memories of that width,
// interleaved along the last dimension and on into those before it. n and bytes are powers of two, and
// numbers after the preprocessor, or expressions of such. FM_REGISTERS: no memory at all.
#if !defined(FM_REGISTERS)
#define FM_REGISTERS
#endif
#if !defined(FM_BANKS)
#define FM_BANKS(count, bytes)
#endif
#if !defined(FM_PARTITION)
#define FM_PARTITION(dimension)
#define FM_PARTITION_CYCLIC(count, dimension)
#endif

// __global, at an argument of a kernel. On a board of Intel's whose memories have names of their own, as HBM
// banks have, the build defines FM_LOCATIONS and for each kernel, argument and replica its memory's name:
// -DFM_LOCATION_stream_first_0="HBM0".
#if defined(INTELFPGA_CL) && defined(FM_LOCATIONS)
#define FM_GLOBAL(kernel, argument) \
  __global __attribute__((buffer_location(FM_PASTE(FM_LOCATION_##kernel##_##argument##_, FM_REPLICA))))
#else
#define FM_GLOBAL(kernel, argument) __global
#endif

// At a variable whose bits are reversed: LLVM makes one instruction of that, which the translator to SPIR-V
// of SYCL's run-time compiler (2026.1) does not know.
#if defined(FM_SYCL_CPP) && !defined(FM_SYCL_AHEAD)
#define FM_NO_IDIOM volatile
#else
#define FM_NO_IDIOM
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

// Asks for an item that will be changed soon, or only read, so that its line is on the way by then.
#if defined(FM_CPU) && defined(FM_SYCL_CPP)
#define FM_PREFETCH(item) fm::prefetch(&(item))
#define FM_PREFETCH_READ(item) fm::prefetch(&(item))
#elif defined(FM_CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define FM_PREFETCH(item) __builtin_prefetch(&(item), 1)
#define FM_PREFETCH_READ(item) __builtin_prefetch(&(item), 0)
#endif
#endif
#if !defined(FM_PREFETCH)
#define FM_PREFETCH(item)
#define FM_PREFETCH_READ(item)
#endif

#endif
