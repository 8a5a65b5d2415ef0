#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "device/opencl/nvidia.hpp"
#include "device/opencl/opencl.hpp"
#include "device/xclbin.hpp"

namespace fabricmark::device::opencl {

namespace {

/// OpenCL returns texts with the zero byte at their end.
std::string without_zero(std::string text) {
  std::erase(text, '\0');
  return text;
}

std::string space_name(cl_kernel_arg_address_qualifier space) {
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      return "global";
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return "local";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return "constant";
    default:
      return "";
  }
}

class Kernel : public backend::Kernel {
 public:
  /// `is_on_card`: of the emulated card.
  Kernel(cl::Kernel kernel, bool is_on_card) : kernel_(std::move(kernel)), is_on_card_(is_on_card) {}
  void set_memory(unsigned index, const backend::Memory& memory) override {
    const Watched watched(Awaiting::kDevice);
    try {
      static_cast<const Memory&>(memory).set_argument(kernel_, index);
    } catch (const cl::Error& error) {
      // XRT gives a buffer its place when it becomes an argument.
      if (error.err() != CL_MEM_OBJECT_ALLOCATION_FAILURE && error.err() != CL_OUT_OF_RESOURCES) throw;
      throw environment_failure(
          "the memory that argument " + std::to_string(index) + " of the kernel '" +
              without_zero(kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>()) +
              "' is connected to has no room for its buffer, or is not where it lies (" +
              error_name(error.err()) + ")",
          "choose a smaller size, or connect the argument to more memory");
    }
  }
  void set_number(unsigned index, const void* value, std::size_t bytes) override {
    kernel_.setArg(index, bytes, value);
  }
  void start(backend::Queue& queue, const Geometry& geometry, const Events* after,
             Event* done) const override {
    if (is_on_card_ && geometry.global != 1) {  // XRT would start it once for each work-group
      throw bad_use("the emulated card starts kernels of one work-item, and '" +
                        without_zero(kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>()) + "' was to have " +
                        std::to_string(geometry.global),
                    "use --variant base");
    }
    const cl::NDRange local =
        geometry.local == Geometry::kAnyLocal ? cl::NullRange : cl::NDRange(geometry.local);
    const std::vector<cl::Event> waits = after != nullptr ? handles(*after) : std::vector<cl::Event>();
    try {
      with_event(queue, done, [&](cl::Event* event) {
        handle(queue).enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(geometry.global), local,
                                           waits.empty() ? nullptr : &waits, event);
      });
    } catch (const cl::Error& error) {
      if (error.err() != CL_INVALID_WORK_GROUP_SIZE && error.err() != CL_INVALID_WORK_ITEM_SIZE) throw;
      throw bad_use("the device refused work-groups of " + std::to_string(geometry.local) +
                        " work-items of the kernel '" +
                        without_zero(kernel_.getInfo<CL_KERNEL_FUNCTION_NAME>()) + "', which takes at most " +
                        std::to_string(most_work_items().value_or(1)),
                    "choose what makes smaller work-groups (such as --work-group-size or --group-side), or "
                    "another --variant");
    }
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override {
    return kernel_.getInfo<CL_KERNEL_NUM_ARGS>();
  }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override {
    std::vector<TakenArgument> arguments;
    try {
      for (cl_uint i = 0; i < kernel_.getInfo<CL_KERNEL_NUM_ARGS>(); ++i) {
        arguments.push_back({space_name(kernel_.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(i)),
                             without_zero(kernel_.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(i)),
                             without_zero(kernel_.getArgInfo<CL_KERNEL_ARG_NAME>(i))});
      }
    } catch (const cl::Error&) {
      return std::nullopt;
    }
    return arguments;
  }

  [[nodiscard]] std::optional<std::size_t> most_work_items() const override {
    std::size_t most = 0;
    // Without naming the device: a context has one.
    const cl_int code =
        clGetKernelWorkGroupInfo(kernel_(), nullptr, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, nullptr);
    if (code != CL_SUCCESS || most == 0) return std::nullopt;
    return most;
  }

  [[nodiscard]] cl_kernel object() const { return kernel_(); }

 private:
  cl::Kernel kernel_;
  bool is_on_card_;
};

class Program : public backend::Program {
 public:
  explicit Program(cl::Program program, bool is_on_card = false)
      : program_(std::move(program)), is_on_card_(is_on_card) {}
  [[nodiscard]] std::unique_ptr<backend::Kernel> kernel(const std::string& name) const override {
    try {
      return std::make_unique<Kernel>(cl::Kernel(program_, name.c_str()), is_on_card_);
    } catch (const cl::Error&) {
      return nullptr;
    }
  }
  [[nodiscard]] std::string kernel_names() const override {
    return without_zero(program_.getInfo<CL_PROGRAM_KERNEL_NAMES>());
  }
  [[nodiscard]] std::string binary() const override {
    const std::vector<std::vector<unsigned char>> binaries = program_.getInfo<CL_PROGRAM_BINARIES>();
    for (const std::vector<unsigned char>& binary : binaries) {
      if (!binary.empty()) return {binary.begin(), binary.end()};
    }
    return {};
  }

 private:
  cl::Program program_;
  bool is_on_card_;
};

std::shared_ptr<const Program> assembled(const cl::Device& device, const cl::Context& context,
                                         const std::string& binary, const bool is_on_card = false) {
  try {
    const std::vector<unsigned char> bytes(binary.begin(), binary.end());
    cl::Program program(context, {device}, {bytes});
    program.build({device});
    return std::make_shared<Program>(program, is_on_card);
  } catch (const cl::Error& error) {
    throw BuildFailure(error_name(error.err()));
  }
}

}  // namespace

cl_kernel handle(const backend::Kernel& kernel) { return static_cast<const Kernel&>(kernel).object(); }

std::shared_ptr<const backend::Program> build(const cl::Device& device, const cl::Context& context,
                                              const std::string& source, const std::string& options) {
  cl::Program program(context, source);
  try {
    program.build({device}, options.c_str());
  } catch (const cl::Error& error) {
    throw BuildFailure(error_name(error.err()), program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device));
  }
  auto built = std::make_shared<Program>(program);
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  if (platform.getInfo<CL_PLATFORM_NAME>().find("NVIDIA") == std::string::npos) return built;
  const std::string ptx = built->binary(), hopper = with_hopper_instructions(ptx);
  return hopper == ptx ? built : assembled(device, context, hopper);
}

std::shared_ptr<const backend::Program> load(const DeviceInfo& info, const cl::Device& device,
                                             const cl::Context& context, const std::string& binary) {
  if (info.is_of_xrt()) {
    if (const std::string fault = fault_of_xclbin(binary, info); !fault.empty()) throw BuildFailure(fault);
  }
  return assembled(device, context, binary, info.is_of_xrt() && is_of_emulated_card(binary));
}

}  // namespace fabricmark::device::opencl
