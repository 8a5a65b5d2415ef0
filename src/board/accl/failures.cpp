// Calls that differ and calls that fail, on all devices of a communicator.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "board/accl/engine.hpp"

namespace fabricmark::accl {

void Engine::begin_collective(Time at, std::uint32_t communicator, const std::vector<int>& devices,
                              std::uint64_t context, std::uint64_t signature, const std::string& what) {
  constexpr std::uint64_t kKept = 64;  // calls for whose stragglers it looks
  begun_[{communicator, context}] = {&devices, signature, what};
  if (context > kKept) begun_.erase({communicator, context - kKept});
  // One that differs ends the call, and the others with it.
  const auto other = std::ranges::find_if(unexpected_, [&](const MessagePtr& message) {
    const Header& header = message->header;
    return message->is_complete && header.communicator == communicator && header.context == context &&
           header.signature != signature;
  });
  if (other == unexpected_.end()) return;
  const Header header = (*other)->header;
  compare_calls(header, at);
}

void Engine::compare_calls(const Header& header, Time at) {
  const auto found = begun_.find({header.communicator, header.context});
  if (header.context == 0 || found == begun_.end() || found->second.signature == header.signature) return;
  const Begun& own = found->second;
  const auto rank = [&own](int device) {
    return std::ranges::find(*own.devices, device) - own.devices->begin();
  };
  const Result result{
      Code::kCallsDiffer,
      fmt::format("{} on rank {}: rank {} calls it with another operation, root, count, type, reduction or "
                  "algorithm; let all ranks call the same",
                  own.what, rank(device_), rank(header.from))};
  spread(at, header.communicator, *own.devices, result);
}

void Engine::end_all(std::uint32_t communicator, Time at, const Result& result) {
  // Nothing that comes later may touch the memory of a call that has ended.
  std::erase_if(posted_, [&](const Posted& posted) { return posted.expected.communicator == communicator; });
  forget_credits(communicator, at);
  std::erase_if(granted_, [&](const auto& one) { return one.second.expected.communicator == communicator; });
  std::erase_if(announced_, [&](const auto& one) { return one.second.header.communicator == communicator; });
  std::erase_if(unexpected_, [&](const MessagePtr& message) {
    const bool is_of_it = message->header.communicator == communicator;
    if (is_of_it && message->is_complete) release(*message, at);
    return is_of_it;
  });
  for (const auto& [key, message] : coming_) {
    if (message->posted && message->header.communicator == communicator) message->posted.reset();
  }
  for (auto& [id, ticket] : tickets_) {
    if (ticket.communicator == communicator && !ticket.has_ended) end_ticket(id, at, result);
  }
}

const Result* Engine::broken(std::uint32_t communicator) const {
  const auto found = broken_.find(communicator);
  return found == broken_.end() ? nullptr : &found->second;
}

void Engine::spread(Time at, std::uint32_t communicator, const std::vector<int>& devices,
                    const Result& result) {
  if (!broken_.emplace(communicator, result).second) return;
  const auto* const text = reinterpret_cast<const std::byte*>(result.text.data());
  const Payload payload(std::vector<std::byte>(text, text + result.text.size()));
  Header header;
  header.kind = MessageKind::kAbort;
  header.from = device_;
  header.communicator = communicator;
  for (const int device : devices) {
    if (device != device_) post(device, header, payload, at, std::nullopt);
  }
  end_all(communicator, at, result);
}

void Engine::take_abort(const Message& message, Time at) {
  const std::string text(reinterpret_cast<const char*>(message.payload.bytes.data()),
                         message.payload.bytes.size());
  const Result result{Code::kPeerFailed, text};
  const std::uint32_t communicator = message.header.communicator;
  if (!broken_.emplace(communicator, result).second) return;
  end_all(communicator, at, result);
}

}  // namespace fabricmark::accl
