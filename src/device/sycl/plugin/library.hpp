#pragma once

#include <memory>
#include <string>
#include <sycl/sycl.hpp>

#include "common/entry_points.hpp"

namespace fabricmark::sycl_plugin {

/// Kernels of a board (or of Intel's FPGA emulator) that were compiled ahead of time into a shared library.
class Library {
 public:
  using Start = fm::Start<sycl::queue, sycl::event>;

  /// Loads it; null where `bytes` are no library of kernels.
  /// Throws std::runtime_error where they are one that does not load, as for another version of SYCL, or that
  /// lacks a part.
  static std::shared_ptr<const Library> from(const std::string& bytes);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// With a semicolon between two.
  [[nodiscard]] std::string kernel_names() const;
  /// Null where it has no kernel of this name.
  [[nodiscard]] const fm::EntryPoint* find(const std::string& name) const;
  /// Of one of its entries. Throws std::runtime_error where the library lacks it.
  [[nodiscard]] Start start(const fm::EntryPoint& entry) const;
  [[nodiscard]] bool is_emulated() const { return is_emulated_; }

 private:
  Library(int file, void* handle) : file_(file), handle_(handle) {}

  int file_;  ///< in memory; open as long as the library is, which the loader knows by its number
  void* handle_;
  const fm::EntryPoint* entries_ = nullptr;
  unsigned count_ = 0;
  bool is_emulated_ = false;
};

}  // namespace fabricmark::sycl_plugin
