// Programs and kernels of the SYCL plugin: OpenCL C, built by OpenCL for SYCL's own context, whose kernels
// SYCL takes over; or SYCL C++, which SYCL itself builds at run time (libsycl-jit) into a program of OpenCL;
// or a library of kernels that was compiled ahead of time.
#include <cstring>
#include <memory>
#include <sstream>
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
  auto made = std::make_unique<Program>(on, std::vector<cl_program>{program});
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

/// What the options of SYCL C++ begin with; the others are its compiler's.
constexpr const char* kSyclOption = "-fsycl";
/// What SYCL puts before the names of free functions that are kernels.
const std::string kSyclPrefix = "__sycl_kernel_";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Outcome build_sycl(const Device& device, const char* source, std::vector<std::string> options,
                   Program** program) {
  namespace experimental = sycl::ext::oneapi::experimental;
  options.erase(options.begin());
  std::string log;
  try {
    auto given = experimental::create_kernel_bundle_from_source(
        device.context, experimental::source_language::sycl, std::string(source));
    const auto made = experimental::build(
        given, std::vector<sycl::device>{device.device},
        experimental::properties{experimental::build_options{options}, experimental::save_log{&log}});
    *program = new Program(device, sycl::get_native<kBackend>(made));
    return kDone;
  } catch (const std::exception& error) {
    return failed(kDoesNotBuild, log.empty() ? error.what() : log);
  }
}

Outcome build(Device* device, const char* source, const char* options, Program** program) {
  std::vector<std::string> words = words_of(options);
  if (!words.empty() && words.front() == kSyclOption)
    return build_sycl(*device, source, std::move(words), program);
  return made_program(device, options, program, [&](const Native& native, cl_int* code) {
    return clCreateProgramWithSource(native.context, 1, &source, nullptr, code);
  });
}

// Binaries of several programs begin with this word, their number and the bytes of each.
const std::string kSeveral = "fabricmark-programs";

/// The parts of what `binary` has put together; all of it where that is of one program.
std::vector<std::string> parts_of(const std::string& binary) {
  std::istringstream stream(binary);
  std::string word;
  std::size_t count = 0;
  if (!(stream >> word >> count) || word != kSeveral || count == 0 || count > binary.size()) return {binary};
  std::vector<std::size_t> sizes(count);
  for (std::size_t& size : sizes) stream >> size;
  stream.get();
  std::vector<std::string> parts;
  for (const std::size_t size : sizes) {
    if (size > binary.size()) return {binary};
    parts.emplace_back(size, '\0');
    stream.read(parts.back().data(), static_cast<std::streamsize>(size));
  }
  return stream ? parts : std::vector{binary};
}

/// A library of kernels; kThereIsNone where the bytes are something else.
Outcome load_library(const Device& device, const std::string& bytes, Program** program) {
  try {
    const std::shared_ptr<const Library> library = Library::from(bytes);
    if (!library) return failed(kThereIsNone, "no library");
    if (!library->is_emulated() && !device.device.is_accelerator())
      return failed(kDoesNotBuild, "its kernels are for an FPGA, and the device is none");
    *program = new Program(device, {});
    (*program)->library = library;
    (*program)->binary = bytes;
    return kDone;
  } catch (const std::exception& error) {
    return failed(kDoesNotBuild, error.what());
  }
}

Outcome load(Device* device, const void* binary, std::size_t bytes, Program** program) {
  const std::string given(static_cast<const char*>(binary), bytes);
  const Outcome of_library = load_library(*device, given, program);
  if (of_library != kThereIsNone) return of_library;
  auto all = std::make_unique<Program>(*device, std::vector<cl_program>{});
  for (const std::string& part : parts_of(given)) {
    Program* one = nullptr;
    const Outcome outcome = made_program(device, "", &one, [&](const Native& native, cl_int* code) {
      const std::size_t size = part.size();
      const auto* data = reinterpret_cast<const unsigned char*>(part.data());
      return clCreateProgramWithBinary(native.context, 1, &native.device, &size, &data, nullptr, code);
    });
    if (outcome != kDone) return outcome;
    const std::unique_ptr<Program> made(one);
    all->handles.insert(all->handles.end(), made->handles.begin(), made->handles.end());
    made->handles.clear();  // which `all` releases now
  }
  *program = all.release();
  return kDone;
}

void release_program(Program* program) { delete program; }

// The context may have several devices; the program is of one.
Outcome binary_of(cl_program handle, std::string* found) {
  std::size_t size = 0;
  cl_int code = clGetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr);
  if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
  found->resize(size);
  char* data = found->data();
  code = clGetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr);
  return code == CL_SUCCESS ? kDone : refused("clGetProgramInfo", code);
}

Outcome binary(Program* program, Bytes* bytes) {
  if (program->library) {
    *bytes = {program->binary.data(), program->binary.size()};
    return kDone;
  }
  std::vector<std::string> parts(program->handles.size());
  std::ostringstream heading;
  heading << kSeveral << ' ' << parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Outcome outcome = binary_of(program->handles[i], &parts[i]);
    if (outcome != kDone) return outcome;
    heading << ' ' << parts[i].size();
  }
  program->binary = parts.size() == 1 ? "" : heading.str() + '\n';
  for (const std::string& part : parts) program->binary += part;
  *bytes = {program->binary.data(), program->binary.size()};
  return kDone;
}

Outcome kernel_names(Program* program, Bytes* names) {
  program->names = program->library ? program->library->kernel_names() : "";
  for (cl_program const handle : program->handles) {
    std::size_t size = 0;
    cl_int code = clGetProgramInfo(handle, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size);
    if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
    std::string text(size, '\0');
    code = clGetProgramInfo(handle, CL_PROGRAM_KERNEL_NAMES, size, text.data(), nullptr);
    if (code != CL_SUCCESS) return refused("clGetProgramInfo", code);
    program->names += (program->names.empty() ? "" : ";") + std::string(text.c_str());
  }
  for (std::size_t at = 0; (at = program->names.find(kSyclPrefix)) != std::string::npos;)
    program->names.erase(at, kSyclPrefix.size());
  *names = {program->names.data(), program->names.size()};
  return kDone;
}

/// Null with the code where no program has it, by its name or by that which SYCL gives it.
cl_kernel find_kernel(const Program& program, const std::string& name, cl_int* code) {
  for (cl_program const handle : program.handles) {
    for (const std::string& one : {name, kSyclPrefix + name}) {
      cl_kernel const found = clCreateKernel(handle, one.c_str(), code);
      if (*code != CL_INVALID_KERNEL_NAME) return found;
    }
  }
  return nullptr;
}

Outcome make_kernel_of_library(std::shared_ptr<const Library> library, const char* name, Kernel** kernel) {
  const fm::EntryPoint* const entry = library->find(name);
  if (entry == nullptr) return failed(kThereIsNone, name);
  return guarded([&] {
    const Library::Start function = library->start(*entry);
    *kernel = new Kernel{.library = std::move(library), .entry = entry, .function = function};
  });
}

Outcome make_kernel(Program* program, const char* name, Kernel** kernel) {
  if (program->library) return make_kernel_of_library(program->library, name, kernel);
  cl_int code = CL_SUCCESS;
  cl_kernel const handle = find_kernel(*program, name, &code);
  if (code == CL_INVALID_KERNEL_NAME) return failed(kThereIsNone, name);
  if (code != CL_SUCCESS) return refused("clCreateKernel", code);
  const Outcome outcome = guarded([&] {
    // SYCL retains it, so that the handle is good for as long as the kernel lives.
    *kernel =
        new Kernel{.kernel = sycl::make_kernel<kBackend>(handle, program->device.context), .handle = handle};
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
  if (kernel->library) {
    *count = kernel->entry->argument_count;
    return kDone;
  }
  return guarded([&] { *count = kernel->kernel->get_info<sycl::info::kernel::num_args>(); });
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
  if (kernel->library) {
    const fm::Argument& argument = kernel->entry->arguments[index];
    const std::string kind = argument.kind;
    put(facts->space, kind == "buffer" ? "global" : "");
    put(facts->type, kind);
    put(facts->name, argument.name);
    return kDone;
  }
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

Outcome location(Kernel* kernel, std::uint32_t index, std::int32_t* location) {
  *location = kUsualMemory;
  if (kernel->library && index < kernel->entry->argument_count)
    *location = kernel->entry->arguments[index].location;
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

/// As the library submits it, which takes places of values.
sycl::event started_by_library(Queue& queue, const Kernel& kernel, std::size_t global,
                               const std::vector<sycl::event>& after) {
  if (global != 1)
    throw std::invalid_argument("a library's kernels have one work-item, and this one was to have more");
  std::vector<const void*> places;
  for (const Argument& argument : kernel.arguments)
    places.push_back(argument.is_memory ? static_cast<const void*>(&argument.memory) : &argument.number);
  if (places.size() != kernel.entry->argument_count)
    throw std::invalid_argument("not all arguments were set");
  sycl::event done;
  kernel.function(&queue.queue, after.data(), static_cast<unsigned>(after.size()), &done, places.data());
  return done;
}

Outcome start(Queue* queue, Kernel* kernel, std::size_t global, std::size_t local, Event* const* after,
              std::size_t count, Event** done) {
  return guarded([&] {
    if (kernel->library)
      return hand_over(started_by_library(*queue, *kernel, global, all_of(after, count)), done);
    sycl::event ended = queue->queue.submit([&](sycl::handler& handler) {
      if (count > 0) handler.depends_on(all_of(after, count));
      int index = 0;
      for (const Argument& argument : kernel->arguments) set_argument(handler, index++, argument);
      if (local == 0) {
        handler.parallel_for(sycl::range<1>(global), *kernel->kernel);
      } else {
        handler.parallel_for(sycl::nd_range<1>(global, local), *kernel->kernel);
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
  functions.location = location;
  functions.start = start;
}

}  // namespace fabricmark::sycl_plugin
