#include "board/outside_links.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "board/links/outside_transport.hpp"
#include "runtime/outside_transports.hpp"

namespace fabricmark::board {

namespace {

Error unusable(const runtime::TransportSpec& transport, const std::string& why) {
  return environment_failure(fmt::format("the library '{}' of the transport {} cannot be used: {}",
                                         transport.library.string(), transport.name, why),
                             runtime::kCompileLibrary);
}

/// What the loader had to say, on one line.
std::string loader_words() {
  const char* const words = dlerror();
  std::string text = words != nullptr ? words : "the system does not say why";
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Of a library that is never closed: its code may be called to the end.
const OutsideTransport& described(const runtime::TransportSpec& transport) {
  void* const library = dlopen(transport.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw unusable(transport, loader_words());
  const auto entry = reinterpret_cast<OutsideEntry>(dlsym(library, kOutsideEntry));
  if (entry == nullptr) throw unusable(transport, "no FABRICMARK_TRANSPORT stands in it");
  const OutsideTransport& own = *entry();
  if (std::string_view(own.headers) != kHeadersDigest) {
    throw unusable(transport,
                   fmt::format("the headers that it was compiled with have the digest {:.16}, not {:.16}",
                               own.headers, kHeadersDigest));
  }
  std::string folder = own.folder;
  std::ranges::replace(folder, '_', '-');
  if (folder != transport.folder) throw unusable(transport, fmt::format("it is of '{}'", own.folder));
  return own;
}

}  // namespace

std::unique_ptr<KernelLinks> outside_links(const runtime::TransportSpec& transport,
                                           const runtime::Context& context, const Joining& joining) {
  std::unique_ptr<KernelLinks> links = described(transport).make_links(context, joining);
  if (links == nullptr) throw unusable(transport, "its make_links gives none");
  return links;
}

}  // namespace fabricmark::board
