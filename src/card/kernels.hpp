#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "card/memory.hpp"

namespace fabricmark::card {

/// An argument in the register map of a compute unit.
struct Argument {
  std::string name;
  bool is_buffer = false;
  std::uint64_t offset = 0;        ///< of its registers
  std::uint64_t bytes = 0;         ///< that the kernel takes
  std::vector<std::size_t> banks;  ///< of a buffer, that it is connected to
};

/// What a bitstream for the card says of itself: memories and compute units.
struct Design {
  struct Bank {
    std::string name;
    std::uint64_t bytes = 0;
  };
  struct Unit {
    std::string kernel;
    std::string name;
    std::uint64_t base = 0;  ///< of its registers in the card's addresses
    std::vector<Argument> arguments;
  };
  static constexpr std::uint64_t kVersion = 1;
  static constexpr std::uint64_t kRegisters = 0x10000;  ///< bytes of each unit's

  std::string platform;  ///< the name of the board's shell
  std::vector<Bank> banks;
  std::vector<Unit> units;
};

/// Reads the description. Throws Error (bad use) for another form, for units without the protocol ap_ctrl_hs
/// and for registers outside of a unit's.
Design read_design(const std::string& text);
/// The bank of an address: banks follow each other from 0; their number where it lies in none.
std::size_t bank_of(const Design& design, std::uint64_t address);

/// A compute unit: registers that the host writes and reads, and a kernel in a thread of its own.
class ComputeUnit {
 public:
  /// `start` calls the kernel with a pointer to each argument.
  using Start = void (*)(void* const* arguments);
  enum Control : std::uint32_t { kStart = 1, kDone = 2, kIdle = 4 };

  ComputeUnit(Design::Unit unit, Start starter) : unit_(std::move(unit)), start_(starter) {}
  ~ComputeUnit();
  ComputeUnit(const ComputeUnit&) = delete;
  ComputeUnit& operator=(const ComputeUnit&) = delete;

  [[nodiscard]] const Design::Unit& unit() const { return unit_; }
  /// Whether these bytes at this offset of the registers start the kernel.
  static bool starts(std::uint64_t offset, std::string_view bytes);
  /// Bytes from an offset of its registers. The start bit of the first one starts the kernel. Throws Error
  /// (bad use) for what is outside, an argument that was never written, and a buffer that is in none of its
  /// banks.
  void write(std::uint64_t offset, std::string_view bytes, const Design& design, const Memory& memory);
  /// Bytes from there; of the control register, which waits a little while the kernel runs.
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t bytes);
  /// How often the kernel was started.
  [[nodiscard]] std::uint64_t starts() const;
  /// A start ends only when this says so, too.
  void end_after(std::function<bool(std::uint64_t start)> condition) { may_end_ = std::move(condition); }
  /// From the next start on the kernel runs for ever: a fault that tests plant.
  void never_end() {
    end_after([](std::uint64_t) { return false; });
  }
  /// Seconds since the kernel was started; 0 where it does not run.
  [[nodiscard]] double seconds() const;

 private:
  void start(const Design& design, const Memory& memory);
  [[nodiscard]] std::uint64_t value(const Argument& argument) const;

  Design::Unit unit_;
  Start start_;
  std::string registers_ = std::string(Design::kRegisters, '\0');
  std::vector<bool> is_written_ = std::vector<bool>(Design::kRegisters);
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::uint32_t control_ = kIdle;
  double started_ = 0;
  std::uint64_t starts_ = 0;
  std::function<bool(std::uint64_t start)> may_end_;
  std::thread thread_;
};

/// The library that a bitstream is, loaded, with its compute units.
class Bitstream {
 public:
  /// `meet`: no unit ends its n-th run before all have begun theirs. Throws Error (bad use) for a file that
  /// is none of the card's.
  Bitstream(const std::filesystem::path& file, bool meet);
  ~Bitstream();
  Bitstream(const Bitstream&) = delete;
  Bitstream& operator=(const Bitstream&) = delete;

  [[nodiscard]] const Design& design() const { return design_; }
  /// The unit whose registers hold the address. Throws Error (bad use) where none does.
  [[nodiscard]] ComputeUnit& unit_at(std::uint64_t address) const;
  /// The name of a kernel's unit that has run for longer than this; empty where none has.
  [[nodiscard]] std::string running_for(double seconds) const;

 private:
  void* library_;
  Design design_;
  std::vector<std::unique_ptr<ComputeUnit>> units_;
};

/// The name of the compute unit whose kernel this thread runs; null in other threads.
const char* unit_of_this_thread();

}  // namespace fabricmark::card
