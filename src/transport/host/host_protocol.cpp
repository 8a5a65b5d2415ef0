#include "transport/host/host_protocol.hpp"

#include <fmt/format.h>

#include <array>

#include "base/error.hpp"

namespace fabricmark::transport {

namespace {

constexpr std::size_t kShortestOfHost = std::size_t{64} << 10;
/// What is longer takes so long to copy that a few commands more or less do not show.
constexpr std::size_t kLongestEager = std::size_t{64} << 10;
constexpr std::array<std::size_t, 4> kPieces{2, 4, 8, 16};

}  // namespace

StagingUse staging_use(const std::string& name) {
  if (name == "measured") return StagingUse::kMeasured;
  if (name == "private") return StagingUse::kPrivate;
  if (name == "shared") return StagingUse::kShared;
  throw bad_use("--staging '" + name + "' is unknown", "use measured, private or shared");
}

std::string in_words(const HostProtocol& protocol) {
  if (protocol.is_mapped) return "mapped memory";
  if (protocol.is_eager) return "eager";
  std::string cut =
      protocol.piece_bytes == 0 ? "whole" : fmt::format("in chunks of {} bytes", protocol.piece_bytes);
  if (!protocol.is_shared) return cut;
  if (protocol.piece_bytes == 0 || protocol.slots == 0) return cut + " through shared memory";
  return cut + fmt::format(" through {} slots of shared memory", protocol.slots);
}

std::vector<HostProtocol> protocols_to_try(std::size_t bytes, const HostChoice& choice) {
  std::vector<HostProtocol> protocols;
  if (choice.staging != StagingUse::kShared || !choice.may_share) {
    protocols.push_back({});
    if (choice.may_map) protocols.push_back({.is_mapped = true});
    if (bytes <= kLongestEager) protocols.push_back({.is_eager = true});
    for (const std::size_t count : kPieces) {
      if (count < kPieces.back() && bytes / count >= kShortestOfHost) {
        protocols.push_back({.piece_bytes = bytes / count});
      }
    }
  }
  if (choice.staging == StagingUse::kPrivate || !choice.may_share) return protocols;
  protocols.push_back({.is_shared = true});
  for (const std::size_t count : kPieces) {
    if (bytes / count < kShortestOfHost) continue;
    protocols.push_back({.piece_bytes = bytes / count, .is_shared = true, .slots = kUsualSlots});
    if (count > 2 * kUsualSlots) {
      protocols.push_back({.piece_bytes = bytes / count, .is_shared = true, .slots = 2 * kUsualSlots});
    }
  }
  return protocols;
}

}  // namespace fabricmark::transport
