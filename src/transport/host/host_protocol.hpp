#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fabricmark::transport {

/// Which staging memory the messages between ranks of one node go through.
enum class StagingUse {
  kMeasured,  ///< as is faster; where chunks are forced, of each rank its own
  kPrivate,   ///< of each rank its own, between which the communicator copies
  kShared,    ///< the sender's, from which the receiver's device writes
};
/// Reads "measured", "private" or "shared". Throws Error (bad use) otherwise.
StagingUse staging_use(const std::string& name);

/// How messages of a size travel over the host.
struct HostProtocol {
  std::size_t piece_bytes = 0;  ///< of the pieces, whose copies and transfers overlap; 0: whole
  bool is_mapped = false;       ///< from the host's view of memory that is its own anyway, without copies
  bool is_eager = false;        ///< whole, with the least commands, for which the host waits at once
  bool is_shared = false;       ///< between ranks of one node through memory that both devices reach
  std::size_t slots = 0;        ///< of a message in shared memory at a time; 0: one for each piece
  bool operator==(const HostProtocol&) const = default;
};

std::string in_words(const HostProtocol& protocol);

/// What there is to choose from.
struct HostChoice {
  bool may_map = false;
  bool may_share = false;
  StagingUse staging = StagingUse::kMeasured;
};

/// Slots of a message where nobody has measured or said how many.
inline constexpr std::size_t kUsualSlots = 4;

/// The protocols that may be the fastest for messages of `bytes`.
std::vector<HostProtocol> protocols_to_try(std::size_t bytes, const HostChoice& choice);

}  // namespace fabricmark::transport
