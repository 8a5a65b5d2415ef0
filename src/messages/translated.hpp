#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "device/backend.hpp"
#include "fabricmark/messages.hpp"

namespace fabricmark::messages {

/// Calls `body`; what it throws leaves the library as the one class of errors that its users know.
template <typename Body>
std::invoke_result_t<Body> translated(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::optional<device::RefusedCall> refused = device::refusal_of(error);
    if (!refused) throw Error(error.what());
    throw Error("the OpenCL runtime refused " + refused->call + "; " + refused->remedy);
  }
}

}  // namespace fabricmark::messages
