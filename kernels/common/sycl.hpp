// OpenCL C's words in SYCL C++: the host puts this file before a kernel's source, which SYCL's compiler then
// takes as it is (libsycl-jit of Intel's runtime, when the program runs).
//
// One source has both dialects, as a kernel is its loops. Kernels become free functions: single_task for the
// FPGA designs (FM_SINGLE_TASK), else of an ND-range. Pointers lead anywhere (generic address space). Vectors
// are clang's, which OpenCL C has too. Ahead of time, for an FPGA (FM_SYCL_AHEAD: icpx 2022.3 to 2024.0,
// which have no free kernels and an older clang), kernels are functions that single tasks of a wrapper call
// (common/sycl_ahead.hpp); untested with icpx. What differs has one home:
//
// in the source                  | SYCL C++
// -------------------------------+-----------------------------------------------------------------------
// __kernel                       | extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(...)
// __global, __local, __private   | nothing
// FM_LOCAL, at an array          | static, in the local address space
// floatn, FM_MAKE(vector)(...)   | ext_vector_type(n), fm::make<vector>(...)
// get_global_id(d), barrier(f)   | built-in variables of SPIR-V, group_barrier
// fma, min, max, clz             | clang's builtins
// vloadn, vstoren                | fm::load, fm::store
// atomic_xor, atom_xor           | sycl::atomic_ref
//
// Sources: the SYCL extensions sycl_ext_oneapi_kernel_compiler, sycl_ext_oneapi_free_function_kernels and
// sycl_ext_oneapi_kernel_properties of intel/llvm; SYCL 2020 (atomic_ref). Run on Intel's OpenCL for CPUs.
#ifndef FABRICMARK_SYCL_HPP
#define FABRICMARK_SYCL_HPP

#define FM_SYCL_CPP 1

#include <sycl/sycl.hpp>
#if defined(FM_SYCL_AHEAD)
#include <sycl/ext/intel/fpga_extensions.hpp>
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;

#define FM_VECTORS_OF(type)                                 \
  typedef type type##2 __attribute__((ext_vector_type(2))); \
  typedef type type##4 __attribute__((ext_vector_type(4))); \
  typedef type type##8 __attribute__((ext_vector_type(8))); \
  typedef type type##16 __attribute__((ext_vector_type(16)));
FM_VECTORS_OF(uchar)
FM_VECTORS_OF(int)
FM_VECTORS_OF(uint)
FM_VECTORS_OF(long)
FM_VECTORS_OF(ulong)
FM_VECTORS_OF(half)
FM_VECTORS_OF(float)
FM_VECTORS_OF(double)

namespace fm {

template <typename Number>
inline constexpr int width = 1;
template <typename Element, int Width>
inline constexpr int width<Element __attribute__((ext_vector_type(Width)))> = Width;

/// A vector of these parts: its elements, or its two halves, or one element for all.
template <typename Vector, typename... Parts>
inline Vector make(const Parts... parts) {
  if constexpr (sizeof...(parts) == 1) {
    return (Vector)((parts, ...));
  } else if constexpr (sizeof...(parts) == width<Vector>) {
    using Element = std::remove_reference_t<decltype(Vector{}[0])>;
    return Vector{(Element)parts...};
  } else {
    static_assert(sizeof...(parts) == 2, "elements, halves or one element");
    Vector all;
    const auto put = [&](const auto low, const auto high) {
      all.lo = low;
      all.hi = high;
    };
    put(parts...);
    return all;
  }
}

template <int Width, typename Element>
inline auto load(const ulong index, const Element* from) {
  typedef Element Vector __attribute__((ext_vector_type(Width)));
  Vector found;
  __builtin_memcpy(&found, from + index * Width, sizeof(found));
  return found;
}

template <typename Vector, typename Element>
inline void store(const Vector& value, const ulong index, Element* to) {
  __builtin_memcpy(to + index * width<Vector>, &value, sizeof(value));
}

/// `Width` numbers of half precision, as those of single precision.
template <int Width>
inline auto load_half(const ulong index, const half* from) {
  typedef float Floats __attribute__((ext_vector_type(Width)));
  return __builtin_convertvector(load<Width>(index, from), Floats);
}

#if defined(FM_SYCL_AHEAD)
/// a b + c, rounded once: SYCL's function takes numbers, of vectors each element.
template <typename Number>
inline Number fused(const Number a, const Number b, const Number c) {
  if constexpr (width < Number >> 1) {
    Number all;
#pragma unroll
    for (int i = 0; i < width<Number>; ++i) {
      using Element = std::remove_reference_t<decltype(Number{}[0])>;
      all[i] = fused<Element>(a[i], b[i], c[i]);
    }
    return all;
  } else if constexpr (std::is_same_v<Number, half>) {
    return (half)(float)sycl::fma(sycl::half((float)a), sycl::half((float)b), sycl::half((float)c));
  } else {
    return sycl::fma(a, b, c);
  }
}
#else
/// Clang's builtin is unknown to the translator to SPIR-V.
template <typename Item>
inline void prefetch(const Item* item) {
  __spirv_ocl_prefetch((const __attribute__((opencl_global)) char*)item, sizeof(Item));
}
#endif

template <typename Number>
inline Number exchange_xor(volatile Number* const item, const Number value) {
  return sycl::atomic_ref<Number, sycl::memory_order::relaxed, sycl::memory_scope::device>(
             *const_cast<Number*>(item))
      .fetch_xor(value);
}

}  // namespace fm

#if defined(FM_SYCL_AHEAD)
#define __kernel FM_INLINE
#define FM_LOCAL
#define fma(a, b, c) fm::fused<decltype((a) * (b) + (c))>(a, b, c)
#define clz(number) sycl::clz(number)
#else
#if defined(FM_SINGLE_TASK)
#define FM_SYCL_KIND sycl::ext::oneapi::experimental::single_task_kernel
#else
#define FM_SYCL_KIND sycl::ext::oneapi::experimental::nd_range_kernel<1>
#endif
#define __kernel extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((FM_SYCL_KIND))
#define FM_LOCAL static __attribute__((opencl_local))
#define fma(a, b, c) __builtin_elementwise_fma(a, b, c)
#define clz(number) __builtin_clzg(number)
#endif
#define __global
#define __private
#define __constant const
#define __local
#define restrict __restrict

#define get_global_id(dimension) __spirv_BuiltInGlobalInvocationId(dimension)
#define get_global_size(dimension) __spirv_BuiltInGlobalSize(dimension)
#define get_local_id(dimension) __spirv_BuiltInLocalInvocationId(dimension)
#define get_local_size(dimension) __spirv_BuiltInWorkgroupSize(dimension)
#define get_group_id(dimension) __spirv_BuiltInWorkgroupId(dimension)
#define get_num_groups(dimension) __spirv_BuiltInNumWorkgroups(dimension)
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) sycl::group_barrier(sycl::ext::oneapi::this_work_item::get_work_group<1>())

#define min(a, b) __builtin_elementwise_min(a, b)
#define max(a, b) __builtin_elementwise_max(a, b)
#define cospi(angle) sycl::cospi(angle)
#define sinpi(angle) sycl::sinpi(angle)
#define atomic_xor(item, value) fm::exchange_xor(item, value)
#define atom_xor(item, value) fm::exchange_xor(item, value)
#define cl_khr_int64_extended_atomics 1

#define vload1(index, from) (from)[index]
#define vload2(index, from) fm::load<2>(index, from)
#define vload4(index, from) fm::load<4>(index, from)
#define vload8(index, from) fm::load<8>(index, from)
#define vload16(index, from) fm::load<16>(index, from)
#define vstore2(value, index, to) fm::store(value, index, to)
#define vstore4(value, index, to) fm::store(value, index, to)
#define vstore8(value, index, to) fm::store(value, index, to)
#define vstore16(value, index, to) fm::store(value, index, to)
#define vload_half(index, from) (float)(from)[index]
#define vload_half2(index, from) fm::load_half<2>(index, from)
#define vload_half4(index, from) fm::load_half<4>(index, from)
#define vload_half8(index, from) fm::load_half<8>(index, from)
#define vload_half16(index, from) fm::load_half<16>(index, from)

#endif
