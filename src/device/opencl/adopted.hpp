#pragma once

#include <CL/cl.h>

#include <cstddef>

#include "device/device.hpp"
#include "device/memory.hpp"

/// OpenCL objects of a program that has made them by itself. Each is retained for as long as it is used here.
namespace fabricmark::device::opencl {

/// Device and context; a share of it is not taken. Throws Error (bad use) where the context is not one of
/// the device.
FoundDevice adopted(cl_context context, cl_device_id device);

/// Buffer of the context of such a device. Throws Error (bad use) for anything else.
Buffer adopted(const Device& device, cl_context context, cl_mem memory);

/// A command's end.
Event adopted(cl_event event);

}  // namespace fabricmark::device::opencl
