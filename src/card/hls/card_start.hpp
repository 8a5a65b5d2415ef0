// How the emulated card starts a kernel of HLS C++: included by what `fabricmark build` writes behind a
// kernel's source (build/streams.py), so that the compiler knows each argument's type.
#ifndef FABRICMARK_CARD_START_HPP
#define FABRICMARK_CARD_START_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "card_port.hpp"
#include "hls_stream.h"

namespace fabricmark_card {

/// An argument as a kernel takes it, from the card's pointer to it.
template <typename T>
struct Taken {
  // NOLINTNEXTLINE(modernize-type-traits): C++14
  static_assert(!std::is_reference<T>::value, "of references a kernel takes streams only");
  explicit Taken(void* given) : value(*static_cast<T*>(given)) {}
  T& get() { return value; }
  T value;
};
template <typename T, int Depth>
struct Taken<hls::stream<T, Depth>&> {
  explicit Taken(void* given) : value(**static_cast<Port**>(given)) {}
  hls::stream<T>& get() { return value; }
  hls::stream<T> value;
};

template <typename... Arguments, std::size_t... Places>
void start(void (*kernel)(Arguments...), void* const* arguments, std::index_sequence<Places...>) {
  kernel(Taken<Arguments>(arguments[Places]).get()...);
}
template <typename... Arguments>
void start(void (*kernel)(Arguments...), void* const* arguments) {
  start(kernel, arguments, std::index_sequence_for<Arguments...>());
}

}  // namespace fabricmark_card

#endif
