#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"

namespace fabricmark::runtime {

/// A wrong result made on purpose, to prove that the check finds it.
struct Fault {
  enum class Kind {
    kElement,  ///< one element times (1 + 100 epsilon)
    kScale,    ///< every element times 1.5
    kZeros,    ///< every element zero
    kStale,    ///< the contents from before the repetition
    kLost,     ///< a message that is not sent, a copy that is not made
    kLate,     ///< a message with the contents of an earlier one
    kBlank,    ///< messages of nothing but zeros
    kHalf,     ///< messages of which only the first half of the bytes is moved
    kFlipped,  ///< a message with one bit changed
    kDead,     ///< a link or an engine that passes nothing any more; of emulated fabrics
    kSwapped,  ///< messages to each other's receivers; of values, the first and the last quarter exchanged
    kThrow,    ///< a rank that throws in a step
    kHang,     ///< a rank that never leaves a step
    kStop,     ///< a process that is stopped in a step (SIGSTOP)
    kKill,     ///< a process that is killed in a step (SIGKILL)
  };
  Kind kind = Kind::kElement;
  /// What is changed, in the benchmark's own names, or the step of a rank that fails; empty: its first.
  std::string target{};
  std::optional<int> rank{};  ///< the only rank that is changed; absent: all
  /// The only counted repetition that is changed, from 0; absent: of messages all, of values the last.
  std::optional<int> repetition{};
};

/// Reads KIND[:TARGET][@RANK][#REPETITION], or of a rank that fails KIND:STEP@RANK. Throws Error (bad use)
/// naming the kinds or the steps.
Fault parse_fault(const std::string& text);

/// True for a rank that fails, which shows in how the ranks end; false for a wrong result.
bool is_failing_rank(const Fault& fault);

/// Throws Error (bad use) where the fault names a rank that is not one of `ranks`, or would stop or kill one
/// that is no process.
void check_rank_of(const std::optional<Fault>& fault, int ranks, bool are_processes);

/// To be called in each step on each rank: fails as the fault says where step and rank are its own.
void fail_in_step(const std::optional<Fault>& fault, const std::string& step, int rank);

/// Changes `values` as the fault says; `stale` holds what they were before. T multiplies with double.
template <typename T>
void corrupt(std::span<T> values, std::span<const T> stale, Fault::Kind kind, double epsilon) {
  switch (kind) {
    case Fault::Kind::kElement: {
      T& element = values[values.size() / 2];
      element = static_cast<T>(static_cast<double>(element) * (1 + 100 * epsilon));
      return;
    }
    case Fault::Kind::kScale:
      for (T& value : values) value = static_cast<T>(static_cast<double>(value) * 1.5);
      return;
    case Fault::Kind::kZeros:
      for (T& value : values) value = static_cast<T>(0.0);
      return;
    case Fault::Kind::kStale:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = stale[i];
      return;
    case Fault::Kind::kSwapped: {
      const std::size_t quarter = (values.size() + 3) / 4;
      std::swap_ranges(values.begin(), values.begin() + quarter, values.end() - quarter);
      return;
    }
    default:  // faults of messages, which are not made on values
      throw bad_use("this benchmark has no messages to corrupt",
                    "use element, scale, zeros, stale or swapped");
  }
}

}  // namespace fabricmark::runtime
