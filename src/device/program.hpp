#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace fabricmark::device {

/// Names and values that a kernel is compiled with, as in -DNAME=VALUE; a name that begins with - is an
/// option of OpenCL's compiler, without a value.
using Definitions = std::map<std::string, std::string>;

/// Among the definitions: the source is SYCL C++, and the device one of SYCL.
inline constexpr const char* kSyclOption = "-fsycl";

/// To be called before devices are looked for, where kernels will be SYCL C++: Intel's OpenCL for CPUs, which
/// reads that once, would make vectors of work-items of what has vectors already, for minutes.
void expect_kernels_in_sycl();

/// A file that a kernel's source consists of.
struct SourceFile {
  std::string name;     ///< below the folder of the suite's kernels, or of the user's own kernel file
  std::string digest;   ///< of its content
  bool is_own = false;  ///< the user's, not the suite's
};

/// The text of a kernel with its includes, and the files that it was put together from, each once.
struct Source {
  std::string text;
  std::vector<SourceFile> files;
};

/// The text of `file` with every #include "..." put in its place, once each but for what stands in an #if
/// alone, and `file` itself in place of #include __FILE__ for each replica but the first (dialect.h). A name
/// is looked up beside the file that includes it, in the folder of `file` and below `root`; in the folder of
/// `file` first where a file below `root` includes it, as "hpl/types.h" also in a folder hpl that `file` lies
/// in. Throws Error (bad use) naming a file that cannot be read. So a cache key covers all that a kernel
/// consists of. `own`: a folder to take for that of `file`, where kernels of several benchmarks share it.
Source source_of(const std::filesystem::path& file, const std::filesystem::path& root,
                 std::int64_t replicas = 1, const std::filesystem::path& own = {});
/// The text of it.
std::string expand_includes(const std::filesystem::path& file, const std::filesystem::path& root,
                            std::int64_t replicas = 1, const std::filesystem::path& own = {});

/// Folder of built kernels and calibrations: $FABRICMARK_CACHE, $XDG_CACHE_HOME/fabricmark or
/// ~/.cache/fabricmark; empty where no home folder is known.
std::filesystem::path cache_folder();

/// Identifies what would be built: source, definitions, device and driver. 32 hexadecimal digits.
std::string build_key(const DeviceInfo& info, const std::string& source, const std::string& options);

struct BuiltProgram {
  Program program;
  bool from_cache = false;
};

/// Builds `source` with `definitions` for the device, or takes the binary of an earlier build from the cache.
/// A damaged cache file is built anew. Throws Error (bad use) with the compiler's first complaint; `name` is
/// the file that the message names.
BuiltProgram build_from_source(const Device& device, const std::string& source, const std::string& name,
                               const Definitions& definitions);

/// The contents of a bitstream or program binary. Throws Error (bad use) when the file cannot be read.
std::string bitstream_content(const std::filesystem::path& file);

/// Loads a bitstream of these contents. Throws Error (bad use) naming the file when it is not for this
/// device.
Program load_bitstream(const Device& device, const std::filesystem::path& file, const std::string& binary);

/// A kernel of a program. Throws Error (bad use) naming the entry points that there are.
std::unique_ptr<backend::Kernel> entry_point(const Program& program, const std::string& name);

}  // namespace fabricmark::device
