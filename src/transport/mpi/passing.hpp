#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::transport {

/// The name of the transport that gives MPI the memory of devices.
inline constexpr const char* kMpiTransport = "mpi";

/// What an MPI library gets as the address of a message in a device's memory.
enum class Passing {
  kMapped,   ///< of shared virtual memory, or a buffer of XRT's: the host's view, which any library reads
  kPointer,  ///< of shared virtual memory, as the device has it: for a library that takes such pointers
  kHandle,   ///< the memory object of OpenCL itself, as MVAPICH2-FPGA takes it
};

/// Whose pointers a device's are; none where no MPI library says that it takes them.
std::optional<runtime::DevicePointers> pointers_of(const device::DeviceInfo& info);

/// How memory of that kind is passed; `wanted` is "mapped" or "device". Throws Error (bad use) where ranks
/// are no processes of MPI, and Error (environment) where their library does not say that it takes the
/// pointers that are wanted.
Passing passing(const device::DeviceInfo& info, device::MemoryKind memory, const std::string& wanted,
                const runtime::Communicator& ranks);

/// In words: "SVM pointers of NVIDIA H200".
std::string in_words(Passing passing, const device::DeviceInfo& info);

/// Ranks that are no processes of MPI: bad use.
Error no_mpi_between(const runtime::Communicator& ranks);
/// A library that does not take what `passing` says, or a runtime whose view of its memory is not what lies
/// there.
Error not_taken(Passing passing, const device::DeviceInfo& info, const runtime::Communicator& ranks);

}  // namespace fabricmark::transport
