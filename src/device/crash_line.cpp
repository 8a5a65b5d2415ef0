#include "device/crash_line.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::device {

namespace {

namespace fs = std::filesystem;

constexpr std::array kSignals{SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr int kFrames = 64;

constexpr const char* kUsualVendors = "/etc/OpenCL/vendors";

struct Icd {
  std::string file;
  std::string library;
};

/// What is ready before the signal comes, after which nothing may be allocated.
struct Words {
  std::string step;
  std::string remedy;
  std::vector<Icd> icds;
};

Words& words() {
  static Words ready;
  return ready;
}

/// The .icd files of a folder, or a file alone.
std::vector<fs::path> icd_files(const fs::path& place) {
  std::error_code ignored;
  if (!fs::is_directory(place, ignored)) return {place};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (entry.path().extension() == ".icd") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::vector<Icd> icds() {
  const std::string given = environment("OCL_ICD_VENDORS");
  std::vector<Icd> found;
  for (const fs::path& file : icd_files(given.empty() ? kUsualVendors : given)) {
    const bool is_icd = file.extension() == ".icd";
    found.push_back({file.string(), is_icd ? first_line(file) : file.string()});
  }
  return found;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 6> kOthers{"libc.so",       "ld-linux",  "libOpenCL.so",
                                                    "libpthread.so", "libstdc++", "libgcc_s"};
  const std::string_view name = file_name(path);
  return path.empty() || std::ranges::any_of(kOthers, [&](auto other) { return name.starts_with(other); });
}

/// The library whose code the signal met, or that called what it met.
const char* library_at_fault() {
  std::array<void*, kFrames> frames{};
  const int count = backtrace(frames.data(), kFrames);
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&library_at_fault), &own);
  const char* first = nullptr;
  for (int i = 0; i < count; ++i) {
    Dl_info found{};
    if (dladdr(frames.at(static_cast<std::size_t>(i)), &found) == 0 || found.dli_fname == nullptr) continue;
    if (is_of_system(found.dli_fname) || found.dli_fbase == own.dli_fbase) continue;
    if (first == nullptr) first = found.dli_fname;
    const std::string_view name = file_name(found.dli_fname);
    if (std::ranges::any_of(words().icds, [&](const Icd& one) { return file_name(one.library) == name; }))
      return found.dli_fname;
  }
  return first;
}

void say(const char* text) {
  const std::size_t length = std::strlen(text);
  if (write(STDERR_FILENO, text, length) < 0) return;  // there is nobody to tell
}

/// Whether one lives. A runtime that put handlers of its own there calls what stood before them at any time.
std::atomic<bool> is_alive = false;

void end(int signal, siginfo_t* info, void* context) {
  if (!is_alive) {
    speak_of_crash(signal, info, context);
    return;
  }
  const char* const library = library_at_fault();
  say(program_invocation_short_name);
  say(": error: ");
  say(library != nullptr ? "the library '" : "an OpenCL runtime");
  if (library != nullptr) {
    say(library);
    say("'");
    for (const Icd& one : words().icds) {
      if (file_name(one.library) != file_name(library)) continue;
      say(" of '");
      say(one.file.c_str());
      say("'");
      break;
    }
  }
  say(" ended the program by signal ");
  const std::array<char, 3> digits{static_cast<char>('0' + signal / 10 % 10),
                                   static_cast<char>('0' + signal % 10), '\0'};
  say(signal < 10 ? &digits[1] : digits.data());
  say(" while ");
  say(words().step.c_str());
  say("; ");
  say(words().remedy.c_str());
  say("\n");
  _exit(static_cast<int>(ExitCode::kEnvironment));
}

std::string remedy() {
  std::string text =
      "repair that runtime, or leave it out: set OCL_ICD_VENDORS to a folder with the .icd files of "
      "the others only (here: " +
      vendors_text() + ")";
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    text += "; if its memory was too little, raise `ulimit -v`";
  return text;
}

}  // namespace

CrashLine::CrashLine(const std::string& step) {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // loads what it needs while that is allowed
  words() = {step, remedy(), icds()};
  is_alive = true;
  for (const int signal : kSignals) {
    struct sigaction own {};
    own.sa_sigaction = end;
    own.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_SIGINFO;
    Kept kept{signal, {}};
    if (sigaction(signal, &own, &kept.before) == 0) kept_.push_back(kept);
  }
}

CrashLine::~CrashLine() {
  is_alive = false;
  for (const Kept& kept : kept_) {
    struct sigaction now {};
    // A runtime may have put a handler of its own there.
    if (sigaction(kept.signal, nullptr, &now) == 0 && now.sa_sigaction == end)
      sigaction(kept.signal, &kept.before, nullptr);
  }
}

std::string opencl_loader() {
  Dl_info found{};
  // Not by its address: in a program that is one in the program.
  void* const function = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
  if (function == nullptr || dladdr(function, &found) == 0 || found.dli_fname == nullptr) return {};
  return found.dli_fname;
}

std::string vendors_text() {
  for (const char* variable : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"}) {
    if (const std::string given = environment(variable); !given.empty())
      return std::string(variable) + "=" + given;
  }
  std::string text;
  for (const fs::path& file : icd_files(kUsualVendors)) text += (text.empty() ? "" : ", ") + file.string();
  return text.empty() ? std::string(kUsualVendors) + " is empty" : text;
}

}  // namespace fabricmark::device
