#pragma once

#include <memory>

#include "board/headers_digest.hpp"  // written by the build
#include "board/links/kernel_links.hpp"

namespace fabricmark::board {

/// What a library outside of the sources says of its transport of kernels. The first member is looked at
/// before the others: where the headers were others, these may be, too.
struct OutsideTransport {
  const char* headers;  ///< their digest
  const char* folder;   ///< and namespace
  std::unique_ptr<KernelLinks> (*make_links)(const runtime::Context&, const Joining&);
};

/// The name of the function that gives it, and its type.
inline constexpr const char* kOutsideEntry = "fabricmark_transport";
using OutsideEntry = const OutsideTransport* (*)();

}  // namespace fabricmark::board

/// Stands once in such a library, behind `make_links` in the namespace of its folder's name.
#define FABRICMARK_TRANSPORT(folder)                                                                      \
  extern "C" __attribute__((visibility("default"))) const fabricmark::board::OutsideTransport*            \
  fabricmark_transport() {                                                                                \
    static constexpr fabricmark::board::OutsideTransport kOwn{fabricmark::board::kHeadersDigest, #folder, \
                                                              fabricmark::folder::make_links};            \
    return &kOwn;                                                                                         \
  }
