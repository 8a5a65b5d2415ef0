#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "fabric/dataflow/kernel.hpp"

namespace fabricmark::dataflow {

/// A stream or a link as a deadlock left it; kernels by `name (device n)`, empty where none has that end.
struct StreamState {
  std::string name;
  std::uint64_t fill = 0;
  std::uint64_t depth = 0;
  std::string writer;
  std::string reader;
};

/// A kernel that cannot go on.
struct StuckKernel {
  std::string name;
  Kernel::Waits waits = Kernel::Waits::kNot;
  std::string stream;
  Time clock = 0;
};

/// All of a run's, or of one process.
struct StuckState {
  std::vector<StuckKernel> kernels;
  std::vector<StreamState> streams;

  /// For other processes, and back.
  [[nodiscard]] std::string text() const;
  static StuckState from_texts(const std::vector<std::string>& texts);
};

std::string kernel_name(const Kernel& kernel);

/// What is printed: the cycle of kernels that wait for each other, or the kernel whose stream has no other
/// end; then the fill of all streams.
Error deadlock(const StuckState& state);

}  // namespace fabricmark::dataflow
