#pragma once

#include <vector>

#include "benchmarks/b_eff/content.hpp"
#include "runtime/communicator.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport::test_support {

/// The messages of one exchange in a ring of ranks: to both neighbours, one of each size.
class Ring {
 public:
  static constexpr std::size_t kGuardBytes = 64;  // behind the messages; nothing may write there

  Ring(Transport& transport, runtime::Communicator& ranks, const std::vector<std::size_t>& sizes,
       int first_tag = 0)
      : transport_(transport), ranks_(ranks), sizes_(sizes), first_tag_(first_tag) {
    for (const std::size_t bytes : sizes) room_ += 2 * bytes;
    outgoing_ = transport.allocate(room_ + kGuardBytes);
    incoming_ = transport.allocate(room_ + kGuardBytes);
  }

  /// Fills what is sent and poisons what is received.
  void prepare(std::uint32_t round) {
    round_ = round;
    std::vector<std::byte> all(room_ + kGuardBytes, b_eff::kPoison);
    incoming_->write(0, all);
    each([&](std::size_t direction, std::size_t i, std::size_t offset) {
      b_eff::fill(std::span(all).subspan(offset, sizes_[i]), content(ranks_.rank(), direction, i));
    });
    outgoing_->write(0, all);
  }
  [[nodiscard]] std::vector<Message> sends() const { return messages(*outgoing_, 0); }
  [[nodiscard]] std::vector<Message> receives() const { return messages(*incoming_, 1); }
  void exchange() { transport_.exchange(sends(), receives()); }

  /// Number of bytes that are not what the neighbours sent, or that changed behind the messages.
  [[nodiscard]] std::size_t count_wrong() const {
    std::vector<std::byte> all(room_ + kGuardBytes);
    incoming_->read(0, all);
    std::size_t wrong = 0;
    each([&](std::size_t direction, std::size_t i, std::size_t offset) {
      const int sender = neighbour(1 - direction);
      b_eff::compare(std::span(all).subspan(offset, sizes_[i]), content(sender, direction, i), wrong);
    });
    for (std::size_t i = room_; i < all.size(); ++i) wrong += all[i] != b_eff::kPoison ? 1 : 0;
    return wrong;
  }
  [[nodiscard]] std::size_t bytes() const { return room_; }

 private:
  [[nodiscard]] int neighbour(std::size_t direction) const {
    return (ranks_.rank() + (direction == 0 ? 1 : ranks_.size() - 1)) % ranks_.size();
  }
  [[nodiscard]] b_eff::Content content(int sender, std::size_t direction, std::size_t i) const {
    return {static_cast<std::uint32_t>(sender), static_cast<std::uint32_t>(direction), round_,
            static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(sizes_[i])};
  }
  template <typename Action>
  void each(Action&& action) const {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      for (std::size_t direction = 0; direction < 2; ++direction) {
        action(direction, i, offset);
        offset += sizes_[i];
      }
    }
  }
  /// What is sent to the right arrives from the left, so that receives have their neighbours the other way.
  [[nodiscard]] std::vector<Message> messages(Memory& buffer, std::size_t turn) const {
    std::vector<Message> all;
    each([&](std::size_t direction, std::size_t i, std::size_t offset) {
      const int peer = neighbour(turn == 0 ? direction : 1 - direction);
      all.push_back({{&buffer, offset, sizes_[i]}, peer, first_tag_ + static_cast<int>(2 * i + direction)});
    });
    return all;
  }

  Transport& transport_;
  runtime::Communicator& ranks_;
  std::vector<std::size_t> sizes_;
  int first_tag_ = 0;
  std::size_t room_ = 0;
  std::uint32_t round_ = 0;
  std::unique_ptr<Memory> outgoing_;
  std::unique_ptr<Memory> incoming_;
};

}  // namespace fabricmark::transport::test_support
