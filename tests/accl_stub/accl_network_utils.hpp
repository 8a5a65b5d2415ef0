#pragma once

#include <accl.hpp>
#include <filesystem>
#include <memory>
#include <vnx/cmac.hpp>
#include <vnx/networklayer.hpp>

namespace accl_network_utils {

enum class acclDesign { AXIS3x, TCP, UDP, CYT_TCP, CYT_RDMA };

inline void configure_vnx(vnx::CMAC& /*port*/, vnx::Networklayer& /*network*/,
                          const std::vector<ACCL::rank_t>& ranks, int rank, bool rsfec = false) {
  stub::record("configure_vnx", ACCL::text(ranks), rank, rsfec);
}

inline std::unique_ptr<ACCL::ACCL> initialize_accl(std::vector<ACCL::rank_t>& ranks, int rank, bool simulator,
                                                   acclDesign design, xrt::device device,
                                                   std::filesystem::path xclbin, unsigned int buffers,
                                                   unsigned int bytes, unsigned int eager,
                                                   bool rsfec = false) {
  stub::record("initialize_accl", ACCL::text(ranks), rank, simulator, design == acclDesign::TCP,
               xclbin.string(), buffers, bytes, eager, rsfec);
  xrt::ip engine(device, {}, "ccl_offload:{ccl_offload_0}");
  xrt::kernel control(device, {}, "hostctrl:{hostctrl_0_0}", xrt::kernel::cu_access_mode::exclusive);
  auto accl = std::make_unique<ACCL::ACCL>(device, engine, control, 0, std::vector<int>{1});
  accl->know(ranks, rank);
  return accl;
}

}  // namespace accl_network_utils
