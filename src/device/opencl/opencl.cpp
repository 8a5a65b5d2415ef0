#include "device/opencl/opencl.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace fabricmark::device::opencl {

namespace {

/// What NVIDIA's runtime says of a kernel that read or wrote where nothing is.
constexpr cl_int kIllegalAccess = -9999;

struct NamedCode {
  cl_int code;
  const char* name;
};

constexpr std::array kNamedCodes{
    NamedCode{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    NamedCode{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    NamedCode{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    NamedCode{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    NamedCode{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    NamedCode{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    NamedCode{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    NamedCode{CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    NamedCode{CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED"},
    NamedCode{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    NamedCode{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    NamedCode{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    NamedCode{CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    NamedCode{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    NamedCode{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    NamedCode{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    NamedCode{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    NamedCode{CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    NamedCode{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    NamedCode{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    NamedCode{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    NamedCode{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    NamedCode{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    NamedCode{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    NamedCode{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    NamedCode{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    NamedCode{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    NamedCode{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    NamedCode{CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    NamedCode{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    NamedCode{CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    NamedCode{kIllegalAccess, "NVIDIA's code of an illegal access to memory (-9999)"},
    NamedCode{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

}  // namespace

std::string error_name(cl_int code) {
  const auto* found =
      std::ranges::find_if(kNamedCodes, [code](const NamedCode& named) { return named.code == code; });
  if (found != kNamedCodes.end()) return found->name;
  return "OpenCL error " + std::to_string(code);
}

std::string remedy_for(cl_int code) {
  constexpr const char* kAfterFault =
      "a kernel that touches memory outside of its buffers, or that takes more registers or local memory "
      "than "
      "there is, corrupts all that comes after it in the process: check the kernel (--kernel-file), or leave "
      "its "
      "parameters at their defaults";
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return "choose a smaller size or another device";
    case CL_OUT_OF_RESOURCES:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_EVENT:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    case kIllegalAccess:
      return kAfterFault;
    case CL_DEVICE_NOT_AVAILABLE:
      return "see whether another process has the device to itself, or choose another one with --device";
    case CL_COMPILER_NOT_AVAILABLE:
      return "give --bitstream, or choose a device with a compiler";
    default:
      return "try another device, or report this with the command line";
  }
}

bool EventState::has_ended() {
  const auto status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
  if (status < 0) {
    throw environment_failure("a command of the device failed with " + error_name(status),
                              remedy_for(status));
  }
  return status == CL_COMPLETE;
}

void EventState::wait() {
  const Watched watched(Awaiting::kDevice);
  // NVIDIA's runtime (580.159) tells of an event no sooner than of all that was started before it, in other
  // queues too; but of a queue at once.
  const bool is_last = queue_ && queue_->is_in_order && queue_->count == number_;
  if (is_last) queue_->handle.finish();
  if (!is_last || event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() < 0) event.wait();
}

CommandTimes EventState::times() {
  const auto seconds = [&](cl_profiling_info moment) {
    constexpr double kNanosecond = 1e-9;
    cl_ulong nanoseconds = 0;
    event.getProfilingInfo(moment, &nanoseconds);
    return kNanosecond * static_cast<double>(nanoseconds);
  };
  return {seconds(CL_PROFILING_COMMAND_QUEUED), seconds(CL_PROFILING_COMMAND_SUBMIT),
          seconds(CL_PROFILING_COMMAND_START), seconds(CL_PROFILING_COMMAND_END)};
}

std::vector<cl::Event> handles(const Events& events) {
  std::vector<cl::Event> found;
  for (const Event& event : events) {
    if (const auto* const own = dynamic_cast<const EventState*>(event.state())) {
      found.push_back(own->event);
    } else {
      event.wait();
    }
  }
  return found;
}

void Queue::begin_after(const Events& events) {
  const std::vector<cl::Event> all = handles(events);
  if (!all.empty()) handle().enqueueBarrierWithWaitList(&all);
}

}  // namespace fabricmark::device::opencl

namespace fabricmark::device {

std::optional<RefusedCall> refusal_of(const std::exception& error) {
  if (dynamic_cast<const Refusal*>(&error) != nullptr)
    return RefusedCall{error.what(), "try a smaller size or another device"};
  const auto* const found = dynamic_cast<const cl::Error*>(&error);
  if (found == nullptr) return std::nullopt;
  return RefusedCall{std::string(found->what()) + " with " + opencl::error_name(found->err()),
                     opencl::remedy_for(found->err())};
}

}  // namespace fabricmark::device
