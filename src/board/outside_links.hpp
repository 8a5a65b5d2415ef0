#pragma once

#include <memory>

#include "board/links/kernel_links.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::board {

/// The links that a transport's library makes, which is loaded for them. Throws Error (environment) that
/// names the library, cause and remedy where it is none, or not one of this transport and these headers.
std::unique_ptr<KernelLinks> outside_links(const runtime::TransportSpec& transport,
                                           const runtime::Context& context, const Joining& joining);

}  // namespace fabricmark::board
