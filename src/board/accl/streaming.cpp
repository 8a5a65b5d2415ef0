// Messages whose elements come from a stream while they leave, or go to one while they come.
#include <algorithm>
#include <utility>

#include "board/accl/engine.hpp"
#include "collectives/elements.hpp"

namespace fabricmark::accl {

std::optional<Time> Arriving::since(const View& part) const {
  const std::byte* const end = elements_.data + elements_.bytes();
  if (part.count == 0 || part.data < elements_.data || part.data >= end) return 0;
  const auto needed = static_cast<std::size_t>(part.data - elements_.data) + part.bytes();
  const auto found = times_.lower_bound(needed);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

void Arriving::add(Time at, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, elements_.data + came_);
  came_ += bytes.size();
  times_.emplace(came_, at);
  watchers_.remove_if([](const auto& look) { return look(); });
}

std::size_t Engine::piece_bytes(bool has_header) const {
  constexpr std::uint64_t kWithoutFrames = 65536;
  const std::uint64_t mtu = fabric_.settings().network->costs.mtu_bytes;
  const std::uint64_t most = mtu == 0 ? kWithoutFrames : mtu;
  const std::uint64_t header = has_header ? settings_.header_bytes : 0;
  return most > header + kWordBytes ? (most - header) / kWordBytes * kWordBytes : kWordBytes;
}

/// Each piece is a letter; the last one's end is that of the message.
void Engine::leave(int to, const Header& message, const View& elements, Time at,
                   const std::shared_ptr<Arriving>& arriving) {
  const auto more = [this, to, message, elements, at, arriving, left = std::size_t{0}]() mutable {
    const std::size_t width = travelling_bytes(message);
    while (left < elements.count) {
      const std::size_t count = std::min(piece_bytes(left == 0) / width, elements.count - left);
      const View part = elements.part(left, count);
      const std::optional<Time> since = arriving->since(part);
      if (!since) return false;
      Header header = message;
      if (header.kind == MessageKind::kPut) {
        header.first += left;
        header.count = count;
      } else {
        header.first = left;
        header.piece = count;
      }
      // A header for each receive buffer that it begins.
      const std::size_t begun = left == 0 ? 0 : buffers_for(left * width);
      left += count;
      const bool is_last = left == elements.count;
      post(to, header, travelling(header, part, /*stays=*/false), std::max(at, *since),
           is_last ? std::optional(message.sender) : std::nullopt, buffers_for(left * width) - begun);
    }
    return true;
  };
  auto look = std::function<bool()>(more);
  if (!look()) arriving->watch(std::move(look));
}

std::vector<std::byte> Engine::words_of(const Message& message, std::uint64_t first,
                                        std::uint64_t end) const {
  const Header& header = message.header;
  if (!settings_.moves_elements)
    return std::vector<std::byte>((end - first) * collectives::bytes_of(header.type));
  const std::size_t travelling = travelling_bytes(header);
  const auto came = message.payload.bytes.subspan(first * travelling, (end - first) * travelling);
  std::vector<std::byte> bytes(came.begin(), came.end());
  // What will not come is zero, so that the rest is in its place.
  for (const auto& [offset, lost] : message.holes) {
    const std::uint64_t begin = std::clamp(offset, first * travelling, end * travelling);
    const std::uint64_t last = std::clamp(offset + lost, first * travelling, end * travelling);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin - first * travelling), last - begin,
                std::byte{0});
  }
  if (!header.is_compressed) return bytes;
  std::vector<std::byte> whole((end - first) * collectives::bytes_of(header.type));
  collectives::float16_to_float32(bytes.data(), whole.data(), end - first);
  return whole;
}

/// So many bytes have come: whole words go on to the stream that they are for.
void Engine::give(Message& message, std::uint64_t bytes, Time at) {
  const Header& header = message.header;
  const Posted* posted = message.posted ? &*message.posted : nullptr;
  if (header.kind == MessageKind::kData) {
    const auto granted = granted_.find(header.receiver);
    if (granted != granted_.end()) posted = &granted->second;
  }
  if (posted == nullptr || !posted->destination.words || message.room == Room::kLacks ||
      difference(*posted, header).has_value()) {
    return;
  }
  const std::uint64_t in_word = kWordBytes / collectives::bytes_of(header.type);
  const std::uint64_t whole = bytes / travelling_bytes(header) / in_word * in_word;
  if (whole <= message.given) return;
  posted->destination.words(at, words_of(message, message.given, whole), /*is_last=*/false);
  message.given = whole;
}

}  // namespace fabricmark::accl
