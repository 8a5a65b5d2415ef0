#pragma once

#include "device/opencl/opencl.hpp"

namespace fabricmark::device::opencl {

/// How a vendor's OpenCL takes a bank: Intel in the buffer's flags, Xilinx in a structure behind the host
/// pointer.
struct BankPlacement {
  cl_mem_flags flags = 0;
  bool needs_topology = false;  ///< Xilinx' cl_mem_ext_ptr_t with `topology`
  unsigned topology = 0;
};

/// The placement for `bank` (from 0; negative: the runtime's choice) on the platform of this name. Elsewhere
/// than on FPGAs banks cannot be chosen and the result is empty. Source: Intel FPGA SDK for OpenCL
/// programming guide (CL_CHANNEL_n_INTELFPGA), Xilinx UG1393 (XCL_MEM_TOPOLOGY). Not tested on FPGA hardware.
BankPlacement bank_placement(const DeviceInfo& info, int bank);

}  // namespace fabricmark::device::opencl
