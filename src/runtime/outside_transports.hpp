#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fabricmark::runtime {

/// Folders of transports that lie outside of the sources, with colons between.
inline constexpr const char* kTransportFolders = "FABRICMARK_TRANSPORTS";

/// What to do about a library that cannot be used.
inline constexpr const char* kCompileLibrary =
    "compile it with the headers of these programs, as CONTRIBUTING.md says";

/// The transport.toml of each transport of kernels that is a library of its own: in a folder that the
/// variable names, or right below it; in the variable's order, and below a folder by name. Throws Error (bad
/// use) for a folder that has none, and for a folder's name that no namespace can have.
std::vector<std::filesystem::path> outside_transports();

/// The library beside such a file: lib<folder>.so.
std::filesystem::path outside_library(const std::filesystem::path& description);

}  // namespace fabricmark::runtime
