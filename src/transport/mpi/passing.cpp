#include "transport/mpi/passing.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::transport {

std::optional<runtime::DevicePointers> pointers_of(const device::DeviceInfo& info) {
  if (info.device_class != device::DeviceClass::kGpu) return std::nullopt;
  const std::string makers = info.platform + " " + info.vendor;
  const auto names = [&](const char* word) { return makers.find(word) != std::string::npos; };
  if (names("NVIDIA")) return runtime::DevicePointers::kCuda;
  if (names("AMD") || names("Advanced Micro Devices")) return runtime::DevicePointers::kRocm;
  if (names("Intel")) return runtime::DevicePointers::kLevelZero;
  return std::nullopt;
}

Passing passing(const device::DeviceInfo& info, device::MemoryKind memory, const std::string& wanted,
                const runtime::Communicator& ranks) {
  if (ranks.kind() != "mpi") throw no_mpi_between(ranks);
  if (memory != device::MemoryKind::kSvm) {
    if (info.is_native_xrt()) return Passing::kMapped;
    if (!info.has_memory_objects) {
      throw bad_use(fmt::format("{} has no memory objects that MPI could take", info.platform),
                    "use --memory svm, or --transport host");
    }
    return Passing::kHandle;
  }
  if (wanted == "mapped") return Passing::kMapped;
  if (info.is_in_host_memory()) {
    throw bad_use(
        fmt::format("the memory of {} is the host's: its SVM has no pointers of a device", info.name),
        "use --svm-pointers mapped, which copies nothing there");
  }
  const std::optional<runtime::DevicePointers> pointers = pointers_of(info);
  if (!pointers || !ranks.takes(*pointers)) throw not_taken(Passing::kPointer, info, ranks);
  return Passing::kPointer;
}

std::string in_words(Passing passing, const device::DeviceInfo& info) {
  switch (passing) {
    case Passing::kMapped:
      return info.is_native_xrt() ? "the host's view of XRT's buffers" : "SVM that is mapped for the host";
    case Passing::kPointer:
      return "SVM pointers of " + info.name;
    case Passing::kHandle:
      break;
  }
  return "memory objects of OpenCL";
}

Error no_mpi_between(const runtime::Communicator& ranks) {
  return bad_use("the transport mpi between ranks that are not processes of MPI",
                 fmt::format("start the program with mpirun -n {}, or use --transport host", ranks.size()));
}

Error not_taken(Passing passing, const device::DeviceInfo& info, const runtime::Communicator& ranks) {
  if (passing == Passing::kMapped && info.is_native_xrt()) {
    return environment_failure(
        fmt::format("over {} other bytes arrive in {} than have left from them", ranks.library(),
                    in_words(passing, info)),
        "see what XRT says of its copies between board and host, or use --transport host");
  }
  const char* const remedy =
      passing == Passing::kPointer
          ? "use --svm-pointers mapped, --transport host, or an MPI for such GPUs"
          : "use --memory svm, --transport host, or an MPI that does, such as MVAPICH2-FPGA";
  return environment_failure(fmt::format("{} does not take {}", ranks.library(), in_words(passing, info)),
                             remedy);
}

}  // namespace fabricmark::transport
