#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace fabricmark::device {

/// While it lives, a library that ends the program by a signal, as a vendor's driver may while it is loaded,
/// leaves one line that names the library and the remedy, and exit code 3. What the library itself prints
/// stands before it. With the set-up lock: one at a time.
class CrashLine {
 public:
  /// `step`: what is done meanwhile, such as "the OpenCL runtimes were loaded".
  explicit CrashLine(const std::string& step);
  ~CrashLine();
  CrashLine(const CrashLine&) = delete;
  CrashLine& operator=(const CrashLine&) = delete;

 private:
  struct Kept {
    int signal;
    struct sigaction before;
  };
  std::vector<Kept> kept_;
};

/// The library that OpenCL's functions come from; empty where nobody knows.
std::string opencl_loader();

/// What it was told to load, for messages: the files of its folder of vendors, or what a variable names.
std::string vendors_text();

}  // namespace fabricmark::device
