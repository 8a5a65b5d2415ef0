#pragma once

#include <filesystem>
#include <string>

#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// Reads what `fabricmark systems export` writes. With an `id` that bitstream counts, else the only one of
/// the benchmark: of those of `variant`, where that is not empty, and of a kind of kernel that the benchmark
/// has. The device is the bitstream's or the first. Throws Error (bad use) with the file, the place, and the
/// bitstreams to choose from.
SystemChoice load_system(const std::filesystem::path& file, const KernelSpec& spec, const std::string& id,
                         const std::string& variant);

}  // namespace fabricmark::runtime
