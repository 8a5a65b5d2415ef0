// Receive buffers, and messages that find too few of them free.
#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "board/accl/engine.hpp"

namespace fabricmark::accl {

void Engine::release(Message& message, Time at) {
  const std::size_t buffers = std::exchange(message.buffers, 0);
  if (buffers == 0) return;
  timers_.at(at, [this, buffers](Time now) {
    free_buffers_ += buffers;
    if (free_buffers_ > settings_.rx_buffers) throw std::logic_error("a receive buffer was given back twice");
    give_free_buffers(now);
  });
}

void Engine::give_free_buffers(Time at) {
  for (;;) {
    const auto oldest = std::ranges::find_if(lacking_, &Message::is_complete);
    if (oldest == lacking_.end()) return;
    const std::size_t needed = buffers_for((*oldest)->payload.bytes.size());
    // Smaller ones that came later do not pass it: it would wait as long as there are such.
    if (needed > free_buffers_) return;
    (*oldest)->buffers = needed;
    free_buffers_ -= needed;
    give_credit(MessagePtr(*oldest), at);
  }
}

void Engine::give_credit(const MessagePtr& message, Time at) {
  std::erase(lacking_, message);
  message->room = Room::kGiven;
  ++came_again_;
  message->is_complete = false;
  message->lost_bytes = 0;
  message->holes.clear();
  Header credit = message->header;
  credit.kind = MessageKind::kCredit;
  credit.from = device_;
  credit.piece = 0;
  credit.receiver = next_credit_++;
  credits_.emplace(credit.receiver, message);
  const std::optional<CreditFault> fault = std::exchange(credit_fault_, std::nullopt);
  if (fault == CreditFault::kLost) return;
  for (int times = fault == CreditFault::kTwice ? 2 : 1; times > 0; --times)
    post(message->header.from, credit, {}, at, std::nullopt);
}

/// What the sender has kept: of the receiver's, which came the first time, nothing is looked at before.
void Engine::send_again(const Message& credit, Time at) {
  if (credit.lost_bytes > 0 || broken(credit.header.communicator) != nullptr) return;
  Header header = credit.header;
  const int to = header.from;
  header.kind = MessageKind::kAgain;
  header.from = device_;
  const std::size_t bytes = header.count * travelling_bytes(header);
  fabric_.network().send(
      {at, device_, to, 0, bytes + buffers_for(bytes) * settings_.header_bytes, bytes_of(header), {}});
}

Engine::MessagePtr Engine::coming_again(const network::Stack::Arrival& arrival, const Header& header) {
  const std::tuple key(arrival.from, false, arrival.id);
  if (const auto begun = coming_.find(key); begun != coming_.end()) return begun->second;
  auto credit = credits_.extract(header.receiver);
  if (!credit.empty()) return coming_.emplace(key, std::move(credit.mapped())).first->second;
  if (broken(header.communicator) == nullptr) {
    spread(arrival.time, header.communicator, {header.from},
           {Code::kCreditsDiffer,
            fmt::format("a message of {} elements from device {} came again to device {}, which has given no "
                        "credit for it; this is a fault of the engine: tell its authors",
                        header.count, header.from, device_)});
  }
  return nullptr;
}

/// Nothing of the communicator is received any more.
void Engine::forget_credits(std::uint32_t communicator, Time at) {
  const auto is_of_it = [&](const MessagePtr& message) {
    return message->header.communicator == communicator;
  };
  std::erase_if(lacking_, is_of_it);
  std::erase_if(credits_, [&](const auto& credit) {
    if (!is_of_it(credit.second)) return false;
    release(*credit.second, at);
    return true;
  });
}

}  // namespace fabricmark::accl
