#include "device/opencl/nvidia.hpp"

#include <cctype>
#include <string_view>

#include "base/error.hpp"

namespace fabricmark::device::opencl {

std::uint64_t matrix_units_of(const std::uint64_t capability) {
  constexpr std::uint64_t kAmpere = 80, kHopper = 90, kHopperAlone = 91;
  if (capability < kAmpere) return 0;
  if (capability < kHopper) return kAmpere;
  return capability == kHopper ? kHopperAlone : kHopper;
}

std::string with_hopper_instructions(std::string ptx) {
  constexpr std::string_view kMark = "//@90a ", kTarget = ".target sm_90";
  if (ptx.find(kMark) == std::string::npos) return ptx;
  const std::size_t after = ptx.find(kTarget) + kTarget.size();
  if (after < kTarget.size() || after == ptx.size() ||
      std::isalnum(static_cast<unsigned char>(ptx[after])) != 0)
    throw bad_use("the kernel has instructions of Hopper's matrix units, and was not compiled for sm_90",
                  "choose --matrix-units 90");
  ptx.insert(after, "a");
  for (std::size_t at = ptx.find(kMark); at != std::string::npos; at = ptx.find(kMark, at))
    ptx.erase(at, kMark.size());
  return ptx;
}

}  // namespace fabricmark::device::opencl
