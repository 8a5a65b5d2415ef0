#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "card/kernels.hpp"
#include "card/memory.hpp"
#include "card/wire.hpp"

namespace fabricmark::card {

/// What goes wrong on purpose when the first kernel is started: for tests of who waits for the card.
enum class Fault {
  kNone,
  kSignal,   ///< the card dies by a signal
  kExit,     ///< a kernel calls exit, as if all were well
  kSilence,  ///< it answers no more
  kEndless,  ///< the kernel never ends
  kMeeting,  ///< no kernel ends before all compute units have been started
  kFlipped,  ///< of the first word of the first stream a bit is flipped
  kLost,     ///< that word is lost
};
/// By the name that FABRICMARK_CARD_FAULT has. Throws Error (bad use) for another one.
Fault fault_of(const std::string& name);

/// What the card does with the runtime's calls.
class Service {
 public:
  Service(Sharing sharing, Fault fault, CablePlace cables = {})
      : memory_(sharing, "."), fault_(fault), cables_(std::move(cables)) {}
  /// The answer to one call. Throws Error (bad use) for what a program or a bitstream has wrong, Malformed
  /// for what is none of the protocol's.
  std::string answer(std::uint32_t call, const Fields& fields);
  /// Whether the runtime has closed the card.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// As those of Bitstream; may be called by another thread than the rest.
  [[nodiscard]] std::string running_for(double seconds) const;
  [[nodiscard]] std::string failure() const;

 private:
  void load(const Fields& fields);
  std::string allocate(const Fields& fields);
  std::string read_memory(const Fields& fields);
  void write_memory(const Fields& fields);
  void write_registers(std::uint64_t address, std::string_view bytes);
  [[nodiscard]] std::string read_registers(std::uint64_t address, std::uint64_t bytes) const;
  void copy_to_file(const Fields& fields) const;
  void copy_from_file(const Fields& fields) const;
  [[nodiscard]] const Bitstream& bitstream() const;

  Memory memory_;
  Fault fault_;
  CablePlace cables_;
  /// Of which bitstream it is. Who looks at it from another thread holds this, so that only the thread which
  /// loads the next one ends its kernels, and before that: two bitstreams would share the card's cables.
  mutable std::mutex mutex_;
  std::unique_ptr<const Bitstream> bitstream_;
  bool is_closed_ = false;
};

}  // namespace fabricmark::card
