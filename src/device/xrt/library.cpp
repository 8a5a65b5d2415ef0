#include "device/xrt/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::device::xrt {

namespace {

/// Of the functions that programs call: a library that was preloaded may stand before them.
void* const kAnywhere = RTLD_DEFAULT;
constexpr const char* kRemedy = "install XRT (Debian: libxrt1), or name its folder in XILINX_XRT";

/// The path of one of XRT's libraries, below XILINX_XRT where that is set; else where the system has it.
std::string path_of(const std::string& name) {
  const std::string root = environment("XILINX_XRT");
  return root.empty() ? name : root + "/lib/" + name;
}

void* loaded(const std::string& name) {
  void* const found = dlopen(path_of(name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (found != nullptr) return found;
  const char* const why = dlerror();
  throw environment_failure("AMD's runtime cannot be loaded (" +
                                std::string(why != nullptr ? why : "the system does not say why") + ")",
                            kRemedy);
}

template <typename Function>
void take(void* from, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(from, name));
  if (function == nullptr) {
    throw environment_failure(std::string("AMD's runtime has no ") + name,
                              "use --backend opencl, or XRT 2.13 or 2.25, of which it is known to have all");
  }
}

/// By XCL_EMULATION_MODE, as the library itself chooses it.
std::string driver_name() {
  const std::string mode = environment("XCL_EMULATION_MODE");
  if (mode == "sw_emu") return "libxrt_swemu.so.2";
  if (mode == "hw_emu") return "libxrt_hwemu.so.2";
  return mode == "noop" ? "libxrt_noop.so.2" : "libxrt_core.so.2";
}

std::string version_of(void* function) {
  Dl_info found{};
  if (dladdr(function, &found) == 0) return "";
  std::error_code ignored;
  const std::string file = std::filesystem::canonical(found.dli_fname, ignored).filename().string();
  const std::size_t ending = file.find(".so.");
  return ending == std::string::npos ? "" : file.substr(ending + 4);
}

Library load_all() {
  static_cast<void>(loaded("libxrt_coreutil.so.2"));
  void* const driver = loaded(driver_name());
  Library all{};
  take(kAnywhere, "xrtDeviceOpen", all.open);
  take(kAnywhere, "xrtDeviceClose", all.close);
  take(kAnywhere, "xrtDeviceLoadXclbin", all.load);
  take(kAnywhere, "xrtDeviceGetXclbinUUID", all.loaded_id);
  take(kAnywhere, "xrtDeviceToXclDevice", all.driver_handle);
  take(kAnywhere, "xrtPLKernelOpen", all.open_kernel);
  take(kAnywhere, "xrtKernelClose", all.close_kernel);
  take(kAnywhere, "xrtKernelArgGroupId", all.group_of_argument);
  take(kAnywhere, "xrtRunOpen", all.open_run);
  take(kAnywhere, "xrtRunClose", all.close_run);
  take(kAnywhere, "xrtRunSetArg", all.set_argument);
  take(kAnywhere, "xrtRunStart", all.start);
  take(kAnywhere, "xrtRunWait", all.wait);
  take(kAnywhere, "xrtBOAlloc", all.allocate);
  take(kAnywhere, "xrtBOSubAlloc", all.part);
  take(kAnywhere, "xrtBOFree", all.release);
  take(kAnywhere, "xrtBOAddress", all.address);
  take(kAnywhere, "xrtBOExport", all.export_buffer);
  take(kAnywhere, "xrtBOImport", all.import_buffer);
  take(kAnywhere, "xrtBOCopy", all.copy);
  take(kAnywhere, "xrtBOMap", all.map);
  take(kAnywhere, "xrtBOSync", all.synchronise);
  if (dlsym(driver, "xclGetDeviceInfo2") != nullptr) {
    take(driver, "xclProbe", all.count_devices);
    take(driver, "xclGetDeviceInfo2", all.facts);
  } else {
    take(kAnywhere, "_ZN3xrt6system17enumerate_devicesEv", all.count_devices);
    take(kAnywhere, "_ZN3xrt6deviceC1EPv", all.make_device);
    take(kAnywhere, "_ZN3xrt6deviceD1Ev", all.destroy_device);
    take(kAnywhere, "_ZNK3xrt6device12get_info_stdENS_4info6deviceERKNS_6detail3abiE", all.device_value);
  }
  all.version = version_of(reinterpret_cast<void*>(all.count_devices));
  // XRT 2.13 was seen to crash in what it does then (it closes a file), after a kernel was refused.
  leave_libraries_as_they_are();
  return all;
}

}  // namespace

const Library& library() {
  static const Library all = load_all();  // never closed: the library ends with the process
  return all;
}

std::pair<std::string, std::size_t> facts_of(void* device) {
  void* const driver_handle = library().driver_handle(device);
  if (library().facts != nullptr) {
    Library::DeviceFacts facts{};
    if (library().facts(driver_handle, &facts) != 0)
      throw environment_failure("XRT says nothing of a device (" + last_words() + ")", "see what it printed");
    return {facts.name, facts.memory_bytes};
  }
  // It holds one shared pointer (xrt_device.h).
  alignas(std::max_align_t) std::array<std::byte, 64> place{};
  try {
    library().make_device(place.data(), driver_handle);
    const Library::Abi abi;
    const std::any name = library().device_value(place.data(), Library::kName, &abi);
    library().destroy_device(place.data());
    return {std::any_cast<std::string>(name), 0};
  } catch (const std::exception& error) {
    throw environment_failure(std::string("XRT does not say a device's name (") + error.what() + ")",
                              "use --backend opencl");
  }
}

std::string last_words() { return errno == 0 ? "no reason given" : std::strerror(errno); }

}  // namespace fabricmark::device::xrt
