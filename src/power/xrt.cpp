// Boards of AMD (Xilinx) with XRT: the management controller's sensor in sysfs, as XRT's own tool reads it
// (github.com/Xilinx/XRT, src/runtime_src/core/pcie/linux/device_linux.cpp: power_microwatts is
// "xmc/xmc_power"). Not tried on a board.
#include "power/source.hpp"
#include "power/sysfs.hpp"

namespace fabricmark::power {

namespace fs = std::filesystem;

Source open_xrt() {
  constexpr double kUpdateSeconds = 1;  // the driver keeps a value for cache_expire_secs, 1 unless set
  Source source{"xrt", kUpdateSeconds};
  for (const fs::path& board : entries_of(folder_from("FABRICMARK_XRT", "/sys/bus/pci/drivers/xocl"))) {
    for (const fs::path& part : entries_of(board)) {
      const fs::path file = part / "xmc_power";
      if (!part.filename().string().starts_with("xmc.") || !read_number(file, kMicro)) continue;
      source.domains.push_back({"board-" + board.filename().string(), Quantity::kPower, 0,
                                [file] { return read_number(file, kMicro); }});
      break;
    }
  }
  return source;
}

}  // namespace fabricmark::power
