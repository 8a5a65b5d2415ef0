#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "card/memory.hpp"
#include "card/streams.hpp"
#include "card/timing.hpp"

namespace fabricmark::card {

/// An argument in the register map of a compute unit.
struct Argument {
  std::string name;
  bool is_buffer = false;
  bool is_stream = false;          ///< without registers
  std::uint64_t offset = 0;        ///< of its registers
  std::uint64_t bytes = 0;         ///< that the kernel takes
  std::vector<std::size_t> banks;  ///< of a buffer, that it is connected to
};

/// By which protocol a kernel is started (AMD, UG1393, "Kernel Properties").
enum class Protocol {
  kHandshake,  ///< ap_ctrl_hs: one run after the other
  kChain,      ///< ap_ctrl_chain: a start may wait for the run before it; an end waits for ap_continue
  kNone,       ///< ap_ctrl_none: it runs by itself, again and again, and has streams only
};

/// What a bitstream for the card says of itself: memories, compute units, and the streams that join them.
struct Design {
  struct Bank {
    std::string name;
    std::uint64_t bytes = 0;
  };
  struct Unit {
    std::string kernel;
    std::string name;
    std::uint64_t base = 0;  ///< of its registers in the card's addresses
    Protocol protocol = Protocol::kHandshake;
    std::vector<Argument> arguments;
  };
  static constexpr std::uint64_t kVersion = 1;
  static constexpr std::uint64_t kRegisters = 0x10000;  ///< bytes of each unit's

  std::string platform;  ///< the name of the board's shell
  double clock_hz = 0;   ///< of its kernels
  std::vector<Bank> banks;
  std::vector<Unit> units;
  /// From an end that writes to one that reads: UNIT.ARGUMENT, or link_N.tx and link_N.rx, which a cable of
  /// the card comes to.
  struct Stream {
    std::string from;
    std::string to;
    std::size_t depth = 0;  ///< in words, of one inside of the card
  };
  std::vector<Stream> streams;
};

/// Where the cables of a card are: card 2n is joined with card 2n + 1, each port with that of its number.
struct CablePlace {
  std::filesystem::path folder;                  ///< of their sockets
  int card = -1;                                 ///< its number on the host; negative where it is not known
  std::shared_ptr<const Modelling> modelling{};  ///< null: words take no modelled time
};

/// Reads the description. Throws Error (bad use) for another form, for a protocol that there is not, for
/// kernels of more than one work-item, for registers outside of a unit's, and for a stream with an end that
/// there is not, or a stream of a unit that is joined to nothing or twice.
Design read_design(const std::string& text);
/// The bank of an address: banks follow each other from 0; their number where it lies in none.
std::size_t bank_of(const Design& design, std::uint64_t address);

/// A compute unit: registers that the host writes and reads, and a kernel in a thread of its own.
class ComputeUnit {
 public:
  /// `start` calls the kernel with a pointer to each argument.
  using Start = void (*)(void* const* arguments);
  enum Control : std::uint32_t { kStart = 1, kDone = 2, kIdle = 4, kContinue = 16 };
  using Ends = std::map<std::string, End*>;

  /// `ends`: of its streams, by the argument's name. One without a protocol runs at once, until its streams
  /// are stopped.
  ComputeUnit(Design::Unit unit, Start starter, Ends ends = {});
  ~ComputeUnit();
  ComputeUnit(const ComputeUnit&) = delete;
  ComputeUnit& operator=(const ComputeUnit&) = delete;

  [[nodiscard]] const Design::Unit& unit() const { return unit_; }
  /// Whether these bytes at this offset of the registers start the kernel.
  static bool starts(std::uint64_t offset, std::string_view bytes);
  /// Bytes from an offset of its registers. The start bit of the first one starts the kernel. Throws Error
  /// (bad use) for what is outside, a start too many, an argument that was never written, and a buffer that
  /// is in none of its banks.
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
  /// To be called at each end of its kernel, before the host can hear of it. Before the first start.
  void at_end(std::function<void()> call) { at_end_ = std::move(call); }
  /// Seconds since the kernel was started; 0 where it does not run.
  [[nodiscard]] double seconds() const;
  /// What it waits for, as ", which waits for a word of its stream a.b"; empty where it does not.
  [[nodiscard]] std::string waits() const;
  /// Why its kernel could not go on; empty where it could.
  [[nodiscard]] std::string failure() const;
  /// Which of its streams ended with the other card, where that is no failure; else empty.
  [[nodiscard]] std::string gone() const;

 private:
  /// An argument, or the address of a port, by position.
  using Slots = std::vector<std::uint64_t>;
  void start(const Design& design, const Memory& memory);
  /// Throws Error (bad use) where it cannot be started now.
  void require_idle() const;
  [[nodiscard]] Slots slots(const Design& design, const Memory& memory) const;
  [[nodiscard]] std::uint64_t port(const Argument& argument) const;
  [[nodiscard]] std::uint64_t address(const Argument& argument, const Design& design,
                                      const Memory& memory) const;
  [[nodiscard]] std::uint64_t value(const Argument& argument) const;
  void run(Slots slots);
  void run_freely();
  /// False where its kernel failed or was stopped.
  bool call(Slots& slots);
  /// The next start of a chain, where one waits.
  std::optional<Slots> end_run();

  Design::Unit unit_;
  Start start_;
  Ends ends_;
  std::string registers_ = std::string(Design::kRegisters, '\0');
  std::vector<bool> is_written_ = std::vector<bool>(Design::kRegisters);
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::uint32_t control_ = kIdle;
  bool is_running_ = false;
  bool is_closing_ = false;
  double started_ = 0;
  std::uint64_t starts_ = 0;
  std::optional<Slots> next_;  // of a chain: started, while the run before it has not ended
  std::string failure_;
  std::string gone_;
  std::function<bool(std::uint64_t start)> may_end_;
  std::function<void()> at_end_;
  std::thread thread_;
};

/// The library that a bitstream is, loaded, with its compute units.
class Bitstream {
 public:
  /// `meet`: no unit ends its n-th run before all have begun theirs. `memory`: for kernels that take
  /// addresses in words. Throws Error (bad use) for a file that is none of the card's.
  Bitstream(const std::filesystem::path& file, bool meet, const CablePlace& cables = {},
            WordFault fault = WordFault::kNone, const fabricmark_card::Memory* memory = nullptr);
  ~Bitstream();
  Bitstream(const Bitstream&) = delete;
  Bitstream& operator=(const Bitstream&) = delete;

  [[nodiscard]] const Design& design() const { return design_; }
  /// The unit whose registers hold the address. Throws Error (bad use) where none does.
  [[nodiscard]] ComputeUnit& unit_at(std::uint64_t address) const;
  /// The name of a kernel's unit that has run for longer than this, which stream it waits for, and which
  /// ended with the other card; empty where none has.
  [[nodiscard]] std::string running_for(double seconds) const;
  /// Why a kernel could not go on; empty where all could.
  [[nodiscard]] std::string failure() const;

 private:
  void join(const CablePlace& cables, WordFault fault);
  void keep_times(const CablePlace& cables);

  /// Kernels of a file. Each compute unit has its own: what a kernel keeps in __local memory, or in static
  /// variables of HLS C++, is a unit's alone.
  class Library {
   public:
    /// Throws Error (bad use) for a file that is none of the card's.
    explicit Library(const std::filesystem::path& file);
    Library(Library&& other) noexcept
        : copy_(std::move(other.copy_)), handle_(std::exchange(other.handle_, nullptr)) {}
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    Library& operator=(Library&&) = delete;
    ~Library();
    /// Null where it has no such name.
    [[nodiscard]] void* find(const std::string& name) const;

   private:
    FileDescriptor copy_;  // of the file, which the runtime writes anew before the next one is loaded
    void* handle_;
  };

  std::vector<Library> libraries_;  // the first for the description, then by compute unit
  Design design_;
  std::map<std::string, UnitClock> clocks_;  // by compute unit
  std::unique_ptr<TimesFile> times_;         // null where nothing is modelled
  std::vector<std::unique_ptr<Channel>> channels_;
  std::map<std::string, std::unique_ptr<End>> ends_;  // by UNIT.ARGUMENT
  std::vector<std::unique_ptr<ComputeUnit>> units_;
};

/// The name of the compute unit whose kernel this thread runs; null in other threads.
const char* unit_of_this_thread();

}  // namespace fabricmark::card
