#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/board_memory.hpp"
#include "device/device_class.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// A buffer that a rank makes for an argument of its kernels.
struct PlannedBuffer {
  ArgumentPlace place;      ///< with its part, where it is one of several
  int bank = -1;            ///< of the board; negative: the runtime's choice
  std::uint64_t bytes = 0;  ///< at least one
};

/// What a plan of memory is for.
struct MemoryUser {
  device::DeviceClass device_class = device::DeviceClass::kCpu;
  std::int64_t cores = 1;  ///< compute units of the device
  int ranks = 1;
  device::BoardMemory memory{};
  std::map<std::string, double> given{};  ///< what only a run knows (KernelSpec::given)
};

/// What a rank keeps in its device's memory, by the formulas for `bytes` and `buffers` of kernel.toml: what
/// is allocated, what is refused and what predictions ask for.
class MemoryPlan {
 public:
  /// Of the rank that has most. An array that is divided among `buffers`, each in a bank of its own, has so
  /// many, or fewer, where with these all else finds no room in the banks. Throws Error (bad use) where a
  /// formula has no value. None where formulas name what is not given.
  MemoryPlan(const VariantSpec& variant, const Parameters& parameters, const MemoryUser& user);

  /// In the order of kernel.toml; none where it says nothing.
  [[nodiscard]] const std::vector<PlannedBuffer>& buffers() const { return buffers_; }
  /// Of an argument, one for each replica or part.
  [[nodiscard]] std::vector<PlannedBuffer> of(std::size_t entry, const std::string& argument) const;
  [[nodiscard]] double bytes() const;
  /// Of all buffers of this name.
  [[nodiscard]] double bytes(const std::string& argument) const;
  [[nodiscard]] double largest_bytes() const;
  /// Throws Error (bad use) where a bank, or all of them, have no such room.
  void require_banks() const;

 private:
  device::BoardMemory memory_;
  std::vector<PlannedBuffer> buffers_;
};

/// Names that formulas of `bytes` and `buffers` may use beside those of `numbers_of`: PARAMETER_is_VALUE, one
/// where a text has this value, else zero, with _ for - in it; `cores`, the device's compute units; `ranks`,
/// of which a grid has `process_rows` and `process_columns`; the number of this `replica` or `part`, and in
/// `bytes` how many `buffers` there are.
std::vector<std::string> memory_names(const KernelSpec& spec);

/// Says in each variant which of the numbers that only a run knows its formulas name.
void note_given(KernelSpec& spec);

/// The parameters that these formulas of a variant name.
std::vector<std::string> memory_parameters(const KernelSpec& spec, const VariantSpec& variant);

/// Throws Error (bad use) naming the file and the key of a formula that is none.
void check_memory(const KernelSpec& spec, const std::string& file);

}  // namespace fabricmark::runtime
