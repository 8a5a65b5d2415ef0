#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"

namespace fabricmark::device::xrt {

/// Set to "xrt", its devices stand in the place of OpenCL's.
inline constexpr const char* kBackendVariable = "FABRICMARK_BACKEND";

/// Whether XRT was chosen: by `backend`, and where that is empty by the variable. Throws Error (bad use) for
/// a backend that there is not.
bool is_wanted(const std::string& backend);

/// How XRT is spoken to.
struct Interface {
  bool is_native = false;  ///< else by OpenCL
  std::string note;        ///< which and why, where nobody has named one
};
/// Of a selection that names a backend, that one; else that of the variable. Where neither does, an .xclbin
/// is taken natively if XRT's library is there with all that is needed of it, and no --platform names one of
/// OpenCL's. Throws as is_wanted.
Interface interface_for(const Selection& selection);

/// Whether XRT emulates its boards: it asks for XCL_EMULATION_MODE, whatever its value (sw_emu, hw_emu,
/// noop). A board's name is that of the real one.
bool emulates();

/// Throws Error (bad use): in OpenCL as natively XRT compiles nothing.
[[noreturn]] void refuse_sources(const DeviceInfo& info);

/// The boards that XRT finds; of newer versions their memory is that which the bitstream has. Throws Error
/// (environment) where XRT is not there, and as bitstream_content.
std::vector<FoundPlatform> platforms(const std::filesystem::path& bitstream);

}  // namespace fabricmark::device::xrt
