#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabricmark::device {

namespace backend {
class Kernel;
}

/// The memory of a board, as a system file has it.
struct BoardMemory {
  enum class Kind { kUnknown, kDdr, kHbm, kHost };
  /// Who chooses the bank of a buffer.
  enum class Choice {
    kUnknown,
    kInterleaved,  ///< nobody: banks take turns, unless the design says otherwise
    kKernel,       ///< the design, for each argument of a kernel
    kHost,         ///< the host, for each buffer
  };
  Kind kind = Kind::kUnknown;
  Choice choice = Choice::kUnknown;
  int banks = 0;                 ///< 0: not known
  std::uint64_t bank_bytes = 0;  ///< of one; 0: not known
  int index_offset = 0;          ///< number of the first bank in the vendor's list of memories

  /// Banks over which only the host can spread an array; 0 where something else does, or cannot.
  [[nodiscard]] int separate_banks() const { return choice == Choice::kHost ? banks : 0; }
  /// `bank` modulo what there is; negative stays negative.
  [[nodiscard]] int within(int bank) const { return bank < 0 || banks == 0 ? bank : bank % banks; }
};

/// As system files have them.
const std::map<std::string, BoardMemory::Kind>& memory_kinds();
const std::map<std::string, BoardMemory::Choice>& memory_choices();

/// Where a buffer is to lie.
struct Placement {
  int bank = -1;           ///< from 0; negative: nobody chooses
  bool is_spread = false;  ///< one of several buffers of the same argument, each in a bank of its own
  BoardMemory memory{};
  const backend::Kernel* kernel =
      nullptr;  ///< that takes it as its argument number `argument`; null: not said
  unsigned argument = 0;
};

/// What lies in each bank of a board's own memory, so that a plan that does not fit is refused before a
/// runtime does.
class BankUse {
 public:
  BankUse() = default;
  explicit BankUse(const BoardMemory& memory);

  /// Adds so many bytes to a bank (modulo what there is), or where it is negative to what lies anywhere.
  void add(int bank, std::uint64_t bytes);
  /// Throws Error (bad use) where a bank, or all of them, have no room for what was added.
  void require_room() const;
  /// The bank with the least in it; negative where banks are not known.
  [[nodiscard]] int emptiest() const;
  /// Both; what finds no room is not added.
  void take(int bank, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used(int bank) const { return used_.at(static_cast<std::size_t>(bank)); }
  /// For the notes of a result: how full the fullest bank is. Empty where nothing is known of them.
  [[nodiscard]] std::string note() const;

 private:
  BoardMemory memory_;
  std::vector<std::uint64_t> used_;  // [bank]
  std::uint64_t anywhere_ = 0;
};

}  // namespace fabricmark::device
