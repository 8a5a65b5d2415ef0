#include "device/opencl/peer.hpp"

#include <dlfcn.h>

#include <array>

#include "base/error.hpp"

namespace fabricmark::device::opencl {

namespace {

// Of cl_khr_device_uuid and cl_khr_external_memory, declared here because the headers of OpenCL 1.2 to 2.2
// lack them.
constexpr cl_device_info kDeviceUuid = 0x106A;
constexpr cl_ulong kOpaqueFile = 0x2060;
using CreateBuffer = cl_mem(cl_context, const cl_ulong*, cl_mem_flags, std::size_t, void*, cl_int*);
using Exchange = cl_int(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);

std::shared_ptr<const cuda::Gpu> gpu_of(const DeviceInfo& info, const cl::Device& device) {
  cuda::Uuid uuid{};
  std::shared_ptr<const cuda::Gpu> gpu;
  if (clGetDeviceInfo(device(), kDeviceUuid, sizeof(uuid), &uuid, nullptr) == CL_SUCCESS)
    gpu = cuda::Gpu::with(uuid);
  if (gpu) return gpu;
  throw environment_failure("CUDA's driver (libcuda.so.1) has no GPU that is " + info.name,
                            "install the driver's library, or use --memory buffer and --transport host");
}

Exchange* extension(const cl::Device& device, const char* name) {
  return reinterpret_cast<Exchange*>(
      clGetExtensionFunctionAddressForPlatform(device.getInfo<CL_DEVICE_PLATFORM>(), name));
}

}  // namespace

bool has_peer_memory(const std::string& extensions) {
  return extensions.find("cl_khr_external_memory_opaque_fd") != std::string::npos &&
         extensions.find("cl_khr_device_uuid") != std::string::npos;
}

std::shared_ptr<const cuda::Block> peer_block(const DeviceInfo& info, const cl::Device& device,
                                              std::size_t bytes) {
  return cuda::Block::make(gpu_of(info, device), bytes);
}

PeerBuffer buffer_on(const std::shared_ptr<const cuda::Block>& block, const cl::Device& device,
                     const cl::Context& context) {
  // Part of OpenCL 3.0: a loader may be older than its runtimes.
  static auto* const create =
      reinterpret_cast<CreateBuffer*>(dlsym(RTLD_DEFAULT, "clCreateBufferWithProperties"));
  auto* const acquire = extension(device, "clEnqueueAcquireExternalMemObjectsKHR");
  auto* const release = extension(device, "clEnqueueReleaseExternalMemObjectsKHR");
  if (create == nullptr || acquire == nullptr || release == nullptr) {
    throw environment_failure("the OpenCL loader does not know memory of other libraries",
                              "install ocl-icd 2.3 or newer, or use --memory buffer and --transport host");
  }
  const auto lock = setup_lock();
  FileDescriptor file = block->file();
  const std::array<cl_ulong, 3> properties{kOpaqueFile, static_cast<cl_ulong>(file.number()), 0};
  cl_int code = CL_SUCCESS;
  cl::Buffer memory(create(context(), properties.data(), CL_MEM_READ_WRITE, block->bytes(), nullptr, &code));
  cl::detail::errHandler(code, "clCreateBufferWithProperties");
  static_cast<void>(file.release());  // the runtime's from here on
  // It is OpenCL's for good: CUDA copies from and to it only between its commands. NVIDIA's runtime never
  // ends where it has not been given back before the context goes.
  cl::CommandQueue queue(context, device);
  cl::detail::errHandler(acquire(queue(), 1, &memory(), 0, nullptr, nullptr),
                         "clEnqueueAcquireExternalMemObjectsKHR");
  queue.finish();
  return {memory, std::shared_ptr<void>(memory(), [memory, queue, block, release](void*) mutable {
            const auto lock_at_end = setup_lock();  // while other ranks make queues
            release(queue(), 1, &memory(), 0, nullptr, nullptr);
            clFinish(queue());
            const cl::Buffer released(std::move(memory));
            const cl::CommandQueue ended(std::move(queue));
          })};
}

}  // namespace fabricmark::device::opencl
