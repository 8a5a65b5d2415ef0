#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/interface.hpp"

namespace fabricmark::network {

/// What keeps the sender of a link from sending more than its receiver can store.
struct FlowSettings {
  enum class Kind {
    kNone,       ///< nothing: what finds no place is lost
    kCredit,     ///< a word leaves against a credit, which comes back when the word was taken
    kXonXoff,    ///< the receiver says stop at `high` words and go at `low`
    kCreditLink  ///< packets whose headers carry credits, cycle by cycle (src/network/credit_link/)
  };
  Kind kind = Kind::kCredit;
  std::size_t places = 0;    ///< kNone: of the receiver's buffer
  std::size_t credits = 0;   ///< kCredit: places and credits; 0: as many as keep the link busy
  std::size_t high = 0;      ///< kXonXoff [words]
  std::size_t low = 0;       ///< kXonXoff [words]
  std::size_t headroom = 0;  ///< kXonXoff: places above `high`, for words that are in flight
  /// kCreditLink, in flits and cycles; 0: as the link has it otherwise.
  struct OfCreditLink {
    std::size_t packet = 0;    ///< D, data flits of a packet
    std::size_t receive = 0;   ///< RX, depth of the receive buffer
    std::size_t update = 0;    ///< D_CU: credits come back when so many were freed
    std::size_t timeout = 0;   ///< an open packet closes so many cycles after its last word
    std::size_t overhead = 0;  ///< k: cycles of a packet beside its data; 0: its header
    /// Of the cycles, that full packets carry data in (Mondigo 2020, eq. 2.3).
    [[nodiscard]] double share() const {
      return packet == 0 ? 1
                         : static_cast<double>(packet) /
                               static_cast<double>(packet + std::max<std::size_t>(overhead, 1));
    }
    /// These, and what `other` says in place of zeros.
    [[nodiscard]] OfCreditLink or_else(const OfCreditLink& other) const {
      const auto first = [](std::size_t own, std::size_t rest) { return own > 0 ? own : rest; };
      return {first(packet, other.packet), first(receive, other.receive), first(update, other.update),
              first(timeout, other.timeout), first(overhead, other.overhead)};
    }
  } credit_link{};  ///< of a link that is one by its system also where `kind` is kCredit
};

/// Reads "none:PLACES", "credit", "credit:N", "xon-xoff:HIGH,LOW,HEADROOM" or
/// "credit-link[:D,RX,DCU[,TIMEOUT]]". Throws Error (2) with these forms.
FlowSettings flow_settings(const std::string& text);

/// Flow control of one direction of a link: its sender's and its receiver's end, each stepped by the cycles
/// of the link. A cycle in which nothing is valid, arrives, is taken or heard changes nothing, and may be
/// left out. A model in RTL can take its place.
class FlowControl : public Interface {
 public:
  /// What goes back from the receiver in one cycle.
  struct Feedback {
    std::int32_t credits = 0;
    bool stop = false;
    bool go = false;
    [[nodiscard]] bool says_something() const { return credits != 0 || stop || go; }
  };
  explicit FlowControl(std::size_t places) : places_(places) {}

  /// The sender hears `feedback` and has a word when `valid`. True: the word leaves in this cycle.
  virtual bool step_sender(const Feedback& feedback, bool valid) = 0;
  /// Whether a valid word would leave, as far as the sender has heard.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  // The receiver's cycle: arrive, take, end_cycle, each where it is so.

  /// A word comes. One that finds all places taken is lost: false.
  bool arrive();
  /// The receiver's user takes a word: false where there is none.
  bool take();
  /// What goes back after all that was in this cycle.
  Feedback end_cycle();

  [[nodiscard]] std::size_t places() const { return places_; }
  [[nodiscard]] std::size_t fill() const { return fill_; }
  [[nodiscard]] std::uint64_t overruns() const { return overruns_; }

 protected:
  /// After a cycle in which `taken` words (0 or 1) were taken, and `fill` are left in the buffer.
  virtual Feedback feedback(std::size_t fill, std::int32_t taken) = 0;

 private:
  std::size_t places_;
  std::size_t fill_ = 0;
  std::int32_t taken_ = 0;
  std::uint64_t overruns_ = 0;
};

/// Throws Error (2) for settings that cannot work, such as a low mark above the high one, and for a credit
/// link, whose two directions are one machine.
std::unique_ptr<FlowControl> make_flow_control(const FlowSettings& settings);

}  // namespace fabricmark::network
