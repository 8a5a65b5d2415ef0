#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "board/dataflow/kernel.hpp"
#include "runtime/activity.hpp"

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
/// end; then the fill of all streams and a note.
Error deadlock(const StuckState& state, const std::string& note = "");

/// Until when a timeline shows waits that have no end: a twentieth of the run beyond what happened last.
Time end_of_waits(const StuckState& state);

/// Writes the log as a timeline; returns a note of where it is, or why not.
std::string write_deadlock(const std::filesystem::path& path, const runtime::ActivityLog& log);

}  // namespace fabricmark::dataflow
