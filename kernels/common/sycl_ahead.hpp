// What the generated wrapper of a library of SYCL kernels for an FPGA needs
// (python/fabricmark/build/icpx.py): the types of a kernel's parameters and pointers to the device's
// memory. Untested with icpx and on hardware.
//
// Before this file stands FM_SYCL_AHEAD, and FM_REPLICA of the first copy. Sources: Intel, "oneAPI FPGA
// Handbook" 2024.0: Annotating Unified Shared Memory Pointers; The annotated_arg Template Class; Use SYCL
// Shared Library With Third-Party Applications.
#ifndef FABRICMARK_SYCL_AHEAD_HPP
#define FABRICMARK_SYCL_AHEAD_HPP

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/entry_points.hpp"
#include "common/sycl.hpp"

namespace fm {

template <typename Function>
struct signature;
template <typename... Parameters>
struct signature<void(Parameters...)> {
  using all = std::tuple<Parameters...>;
};
/// The type of a kernel's parameter, by its number.
template <std::size_t Index, typename Function>
using parameter = std::tuple_element_t<Index, typename signature<Function>::all>;

/// What kernel.toml says of a parameter: a pointer for a buffer (void), else just this type.
template <typename Parameter, typename Said>
inline constexpr bool agrees =
    std::is_void_v<Said> ? std::is_pointer_v<Parameter> : std::is_same_v<Parameter, Said>;
template <typename Function, typename... Said, std::size_t... Index>
constexpr bool agree(std::tuple<Said*...> /*said*/, std::index_sequence<Index...> /*all*/) {
  return (agrees<parameter<Index, Function>, Said> && ...);
}
/// Whether a kernel has these arguments, in this order; void stands for a buffer.
template <typename Function, typename... Said>
constexpr bool takes() {
  if constexpr (std::tuple_size_v<typename signature<Function>::all> != sizeof...(Said)) {
    return false;
  } else {
    return agree<Function>(std::tuple<Said*...>(), std::index_sequence_for<Said...>());
  }
}

/// The value that leads to an argument's (Start), as a kernel's parameter.
template <typename Parameter>
inline Parameter given(const void* const value) {
  if constexpr (std::is_pointer_v<Parameter>) {
    return static_cast<Parameter>(*static_cast<void* const*>(value));
  } else {
    return *static_cast<const Parameter*>(value);
  }
}

/// In a kernel: a pointer that leads to the device's own memory, so that nothing is joined to the host's.
template <typename Item>
inline Item* on_device(Item* const pointer) {
  return sycl::ext::intel::device_ptr<Item>(pointer).get();
}

namespace documented {
using namespace sycl::ext::intel::experimental;
using namespace sycl::ext::oneapi::experimental;  // later versions have annotated_arg here
template <typename Pointer, int Number>
using located = annotated_arg<Pointer, decltype(properties{buffer_location<Number>})>;
}  // namespace documented
/// In place of a pointer to a kernel's parameter: one that leads to this memory of the board.
using documented::located;

}  // namespace fm

#endif
