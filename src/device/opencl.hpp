#pragma once

// OpenCL's C++ bindings. Their configuration stands in CMakeLists.txt, so that every file sees the same one:
// they stay at OpenCL 1.2, which FPGA runtimes speak; the C interface of 2.0 is there for shared virtual
// memory, behind a query.
#include <CL/opencl.hpp>

#include <mutex>
#include <string>

namespace fabricmark::device {

/// The standard's name of an OpenCL error code, such as "CL_OUT_OF_RESOURCES".
std::string error_name(cl_int code);

/// Held while platforms, contexts, queues and programs are made: loaders and runtimes crash when several
/// ranks of one process do that at the same time (seen with PoCL 3.1). Running kernels needs no lock.
[[nodiscard]] std::unique_lock<std::recursive_mutex> setup_lock();

}  // namespace fabricmark::device
