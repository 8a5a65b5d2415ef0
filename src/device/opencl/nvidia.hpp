#pragma once

#include <cstdint>
#include <string>

namespace fabricmark::device::opencl {

/// DeviceInfo::matrix_units of a GPU of this compute capability times ten: 80 (the first one whose units
/// multiply double) or 90, whichever instructions it has; 91 for those of 90 and of the target sm_90a, which
/// devices of 9.0 alone have; else 0.
[[nodiscard]] std::uint64_t matrix_units_of(std::uint64_t capability);

/// Of kernels whose PTX holds instructions of the target sm_90a: the PTX with them. OpenCL's compiler makes
/// code for sm_90, whose assembler refuses them; so they stand in the kernels as comments, //@90a, which are
/// instructions here, and the target is sm_90a. Anything else as it is.
/// Throws: of kernels that hold them and were compiled for another target.
[[nodiscard]] std::string with_hopper_instructions(std::string ptx);

}  // namespace fabricmark::device::opencl
