#pragma once

#include "device/opencl/opencl.hpp"

namespace fabricmark::device::opencl {

/// How a vendor's OpenCL takes a place: Intel in the buffer's flags, Xilinx in a structure behind the host
/// pointer.
struct BankPlacement {
  cl_mem_flags flags = 0;
  bool needs_pointer = false;  ///< Xilinx' cl_mem_ext_ptr_t
  unsigned pointer_flags = 0;  ///< in it: a topology or, `by_argument`, the number of an argument
  bool by_argument = false;    ///< the place is what the kernel's argument is connected to
  bool binds = false;  ///< the runtime finds the place when the memory is set as the kernel's argument
};

/// The place on the platform of this device. Elsewhere than on FPGAs none can be chosen and the result is
/// empty. Banks count modulo what there is.
/// - Intel: a channel of the buffer's flags; memory whose places the kernel chooses (buffer_location of its
///   arguments, HBM) is heterogeneous: it gets its place with the first kernel that takes it.
/// - Xilinx: the bank that the kernel's argument is connected to (`sp` of v++); a bank of its own only for
///   one of several buffers of the same argument, or where no kernel is named. Emulated by XRT such buffers
///   lie where their argument is, too.
/// Source: Intel FPGA SDK for OpenCL programming guide (CL_CHANNEL_n_INTELFPGA,
/// CL_MEM_HETEROGENEOUS_INTELFPGA), Xilinx UG1393 and XRT's "Xilinx OpenCL extension" (XCL_MEM_TOPOLOGY;
/// kernel and argument index). Not tested on FPGA hardware.
BankPlacement bank_placement(const DeviceInfo& info, const Placement& placement);

}  // namespace fabricmark::device::opencl
