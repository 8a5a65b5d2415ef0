// Programs and kernels of the SYCL plugin: OpenCL C, built by OpenCL for SYCL's own context, whose kernels
// SYCL takes over.
#include <cstring>
#include <memory>
#include <stdexcept>

#include "plugin.hpp"

namespace fabricmark::sycl_plugin {

namespace {

/// A handle of OpenCL that SYCL lends; it is to be given back.
struct Native {
  explicit Native(const Device& device)
      : device(sycl::get_native<kBackend>(device.device)),
        context(sycl::get_native<kBackend>(device.context)) {}
  ~Native() {
    clReleaseContext(context);
    clReleaseDevice(device);
  }
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  cl_device_id device;
  cl_context context;
};

Outcome refused(const char* call, cl_int code) {
  return failed(kRefused, std::string(call) + " with OpenCL error " + std::to_string(code));
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  return log.c_str();  // without the zeros at its end
}

/// `program` is released with what is made of it.
Outcome built(const Device& on, cl_device_id device, cl_program program, const char* options,
              Program** result) {
  auto made = std::make_unique<Program>(on, program);
  const cl_int code = clBuildProgram(program, 1, &device, options, nullptr, nullptr);
  if (code != CL_SUCCESS) return failed(kDoesNotBuild, build_log(program, device));
  *result = made.release();
  return kDone;
}

/// Both come down to a program that is then built.
template <typename Make>
Outcome made_program(Device* device, const char* options, Program** result, const Make& make) {
  Outcome outcome = kDone;
  const Outcome thrown = guarded([&] {
    const Native native(*device);
    cl_int code = CL_SUCCESS;
    cl_program const program = make(native, &code);
    outcome = code != CL_SUCCESS ? failed(kDoesNotBuild, "OpenCL error " + std::to_string(code))
                                 : built(*device, native.device, program, options, result);
  });
  return thrown != kDone ? thrown : outcome;
}

Outcome build(Device* device, const char* source, const char* options, Program** program) {
  return made_program(device, options, program, [&](const Native& native, cl_int* code) {
    return clCreateProgramWithSource(native.context, 1, &source, nullptr, code);
  });
}

Outcome load(Device* device, const void* binary, std::size_t bytes, Program** program) {
  return made_program(device, "", program, [&](const Native& native, cl_int* code) {
    const auto* data = static_cast<const unsigned char*>(binary);
    return clCreateProgramWithBinary(native.context, 1, &native.device, &bytes, &data, nullptr, code);
  });
}

void release_program(Program* program) { delete program; }

Outcome binary(Program* program, Bytes* bytes) {
  // The context may have several devices; the program is of one.
  std::size_t size = 0;
  cl_int code = clGetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
  if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
  program->binary.resize(size);
  char* data = program->binary.data();
  code = clGetProgramInfo(program->handle, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr);
  if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
  *bytes = {program->binary.data(), program->binary.size()};
  return kDone;
}

Outcome kernel_names(Program* program, Bytes* names) {
  std::size_t size = 0;
  cl_int code = clGetProgramInfo(program->handle, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size);
  if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
  std::string text(size, '\0');
  code = clGetProgramInfo(program->handle, CL_PROGRAM_KERNEL_NAMES, size, text.data(), nullptr);
  if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
  program->names = text.c_str();
  *names = {program->names.data(), program->names.size()};
  return kDone;
}

Outcome make_kernel(Program* program, const char* name, Kernel** kernel) {
  cl_int code = CL_SUCCESS;
  cl_kernel const handle = clCreateKernel(program->handle, name, &code);
  if (code == CL_INVALID_KERNEL_NAME) return failed(kThereIsNone, name);
  if (code != CL_SUCCESS) return refused("clCreateKernel", code);
  const Outcome outcome = guarded([&] {
    // SYCL retains it, so that the handle is good for as long as the kernel lives.
    *kernel = new Kernel{sycl::make_kernel<kBackend>(handle, program->device.context), handle, {}};
  });
  clReleaseKernel(handle);
  return outcome;
}

void release_kernel(Kernel* kernel) { delete kernel; }

Outcome set(Kernel* kernel, std::uint32_t index, const Argument& argument) {
  return guarded([&] {
    if (kernel->arguments.size() <= index) kernel->arguments.resize(index + 1);
    kernel->arguments[index] = argument;
  });
}

Outcome set_memory(Kernel* kernel, std::uint32_t index, void* memory) {
  return set(kernel, index, {.is_memory = true, .memory = memory});
}

Outcome set_number(Kernel* kernel, std::uint32_t index, const void* value, std::size_t bytes) {
  Argument argument{.bytes = bytes};
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return failed(kRefused, "an argument of " + std::to_string(bytes) + " bytes");
  }
  std::memcpy(&argument.number, value, bytes);
  return set(kernel, index, argument);
}

Outcome count_arguments(Kernel* kernel, std::size_t* count) {
  return guarded([&] { *count = kernel->kernel.get_info<sycl::info::kernel::num_args>(); });
}

bool text_of(const Kernel& kernel, std::uint32_t index, cl_kernel_arg_info what, Text& text) {
  std::size_t bytes = 0;
  if (clGetKernelArgInfo(kernel.handle, index, what, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  std::string words(bytes, '\0');
  if (clGetKernelArgInfo(kernel.handle, index, what, bytes, words.data(), nullptr) != CL_SUCCESS)
    return false;
  put(text, words.c_str());
  return true;
}

Outcome describe_argument(Kernel* kernel, std::uint32_t index, ArgumentFacts* facts) {
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  const cl_int code = clGetKernelArgInfo(kernel->handle, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                         sizeof(space), &space, nullptr);
  if (code != CL_SUCCESS || !text_of(*kernel, index, CL_KERNEL_ARG_TYPE_NAME, facts->type) ||
      !text_of(*kernel, index, CL_KERNEL_ARG_NAME, facts->name)) {
    return failed(kThereIsNone, "nothing is known of the kernel's arguments");
  }
  put(facts->space, space == CL_KERNEL_ARG_ADDRESS_GLOBAL     ? "global"
                    : space == CL_KERNEL_ARG_ADDRESS_LOCAL    ? "local"
                    : space == CL_KERNEL_ARG_ADDRESS_CONSTANT ? "constant"
                                                              : "");
  return kDone;
}

/// The number's first bytes, as a type of that size: OpenCL below looks at nothing else.
template <typename Number>
void set_argument(sycl::handler& handler, int index, const Argument& argument) {
  Number number = 0;
  std::memcpy(&number, &argument.number, sizeof(number));
  handler.set_arg(index, number);
}

void set_argument(sycl::handler& handler, int index, const Argument& argument) {
  if (argument.is_memory) return handler.set_arg(index, argument.memory);
  switch (argument.bytes) {
    case 1:
      return set_argument<std::uint8_t>(handler, index, argument);
    case 2:
      return set_argument<std::uint16_t>(handler, index, argument);
    case 4:
      return set_argument<std::uint32_t>(handler, index, argument);
    case 8:
      return set_argument<std::uint64_t>(handler, index, argument);
    default:
      throw std::invalid_argument("argument " + std::to_string(index) + " of the kernel was never set");
  }
}

Outcome start(Queue* queue, Kernel* kernel, std::size_t global, std::size_t local, Event* const* after,
              std::size_t count, Event** done) {
  return guarded([&] {
    sycl::event ended = queue->queue.submit([&](sycl::handler& handler) {
      if (count > 0) handler.depends_on(all_of(after, count));
      int index = 0;
      for (const Argument& argument : kernel->arguments) set_argument(handler, index++, argument);
      if (local == 0) {
        handler.parallel_for(sycl::range<1>(global), kernel->kernel);
      } else {
        handler.parallel_for(sycl::nd_range<1>(global, local), kernel->kernel);
      }
    });
    hand_over(std::move(ended), done);
  });
}

}  // namespace

void add_kernels(Functions& functions) {
  functions.build = build;
  functions.load = load;
  functions.release_program = release_program;
  functions.binary = binary;
  functions.kernel_names = kernel_names;
  functions.make_kernel = make_kernel;
  functions.release_kernel = release_kernel;
  functions.set_memory = set_memory;
  functions.set_number = set_number;
  functions.count_arguments = count_arguments;
  functions.describe_argument = describe_argument;
  functions.start = start;
}

}  // namespace fabricmark::sycl_plugin
