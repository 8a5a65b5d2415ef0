#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transport/nvlink/nvlink_transport.hpp"

namespace fabricmark::transport {

/// Messages of one exchange, in pieces. The receiver grants a place, the sender copies there and says when it
/// has. Where other GPUs do not reach the receiver's memory, it grants a slot of its windows instead, but
/// only to a sender that is ready: slots are few, and nobody may hold one who waits for something else.
class NvlinkTransfer : public Transfer {
 public:
  explicit NvlinkTransfer(NvlinkTransport& transport) : transport_(transport) {}
  ~NvlinkTransfer() override { give_up(); }
  NvlinkTransfer(const NvlinkTransfer&) = delete;
  NvlinkTransfer& operator=(const NvlinkTransfer&) = delete;

 private:
  /// What a piece waits for.
  enum class Waits { kPeer, kSlot, kCopy, kWord, kNothing };
  struct Out {
    Message piece;
    Grant grant;
    runtime::Request request, ready;
    int own_tag = 0;         ///< of an answer to this piece alone
    int reply_to = 0;        ///< where the receiver awaits its word; 0: by the message's tag
    std::uint64_t copy = 0;  ///< its number
    std::optional<std::size_t> slot{};
    Waits waits = Waits::kPeer;
  };
  struct In {
    Message piece;
    Grant grant;
    int own_tag = 0;
    int reply_tag = 0;  ///< where the sender awaits its slot
    std::byte told{};
    std::optional<std::size_t> slot{};
    runtime::Request granted, ready, word;
    Waits waits = Waits::kWord;
  };

  void begin() override;
  [[nodiscard]] bool advance() override;
  void idle() override;
  void give_up() noexcept override;
  void receive(In& in);
  /// Whether it has moved.
  bool advance(Out& out);
  bool advance(In& in);
  bool ask_or_copy(Out& out);
  bool copy(Out& out);
  [[nodiscard]] runtime::DeadlineError stuck() const;

  NvlinkTransport& transport_;
  std::vector<Out> out_;
  std::vector<In> in_;
  std::optional<runtime::Patience> patience_;
};

}  // namespace fabricmark::transport
