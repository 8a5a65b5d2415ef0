#pragma once

#include <memory>
#include <vector>

#include "transport/transfer.hpp"

namespace fabricmark::transport {

/// Messages of one exchange that go in two ways: some through memory that their ranks share, the others not.
class MixedTransfer : public Transfer {
 public:
  /// What goes which way, and the ways' transfers.
  struct Part {
    std::shared_ptr<Transfer> transfer;
    std::vector<Message> sends, receives;
  };
  /// To be called before each start, of whose messages these are.
  void set(Part one, Part other) {
    one_ = std::move(one);
    other_ = std::move(other);
  }

 private:
  void begin() override {
    one_.transfer->start(one_.sends, one_.receives, {}, /*is_timed=*/false);
    other_.transfer->start(other_.sends, other_.receives, {}, /*is_timed=*/false);
  }
  [[nodiscard]] bool advance() override {
    const bool has_one = one_.transfer->has_ended();
    return other_.transfer->has_ended() && has_one;
  }
  void idle() override {
    one_.transfer->rest();
    other_.transfer->rest();
  }
  void give_up() noexcept override {
    try {
      one_.transfer->cancel();
      other_.transfer->cancel();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
    }
  }

  Part one_, other_;
};

}  // namespace fabricmark::transport
