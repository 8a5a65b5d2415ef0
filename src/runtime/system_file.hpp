#pragma once

#include <filesystem>
#include <string>

#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// Which bitstream counts.
struct BitstreamChoice {
  std::string id{};         ///< empty: the only one of the benchmark that fits
  std::string variant{};    ///< empty: any that the benchmark has
  std::string transport{};  ///< of dataflow kernels, which stand for whatever was built for it; empty: any
  std::string board{};      ///< that the loaded bitstream is for; empty: any
};

/// Reads what `fabricmark systems export` writes. The device is the bitstream's, or the first that has the
/// transport, or the first. Throws Error (bad use) with the file, the place, and the bitstreams to choose
/// from.
SystemChoice load_system(const std::filesystem::path& file, const KernelSpec& spec,
                         const BitstreamChoice& choice);

/// Throws Error (bad use) where a loaded bitstream, as its sidecar says, is for another board or is another
/// one than the system's.
void require_same_design(const Overrides& sidecar, const SystemChoice& system);
/// Throws Error (bad use) naming a parameter of the build that the loaded bitstream has not as the system's.
void require_same_build(const KernelSpec& spec, const Overrides& sidecar, const Overrides& system);

/// Throws Error (bad use) with both numbers where a system has fewer devices of a kind, by its id, than there
/// are ranks, each of which has one.
void check_devices(const std::filesystem::path& file, const std::string& device, int ranks);
/// The same of the first kind of device that has the transport.
void check_devices_with(const std::filesystem::path& file, const std::string& transport, int ranks);

}  // namespace fabricmark::runtime
