#include "fabric/faulty_transport.hpp"

#include <vector>

namespace fabricmark::fabric {

void FaultyTransport::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  std::vector<Message> spoiled(sends.begin(), sends.end());
  if (spoiled.empty()) return transport_->exchange(sends, receives);
  switch (kind_) {
    case harness::Fault::Kind::kLost:
      spoiled.pop_back();
      break;
    case harness::Fault::Kind::kLate:
      // Messages of a series lie one behind the other: the one before was sent earlier.
      if (spoiled.back().offset >= spoiled.back().bytes) {
        spoiled.back().offset -= spoiled.back().bytes;
      } else if (spoiled.size() > 1 && spoiled[spoiled.size() - 2].bytes == spoiled.back().bytes) {
        spoiled.back().buffer = spoiled[spoiled.size() - 2].buffer;
        spoiled.back().offset = spoiled[spoiled.size() - 2].offset;
      }
      break;
    case harness::Fault::Kind::kSwapped:
      std::swap(spoiled.front().offset, spoiled.back().offset);
      std::swap(spoiled.front().buffer, spoiled.back().buffer);
      break;
    default:
      break;
  }
  transport_->exchange(spoiled, receives);
}

}  // namespace fabricmark::fabric
