#include "transport/host/host_way.hpp"

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

std::string in_words(const HostWay& way) {
  if (way.is_mapped) return "from mapped memory";
  if (way.is_eager) return "whole with the fewest commands";
  std::string cut = way.piece_bytes == 0 ? "whole" : fmt::format("in chunks of {} bytes", way.piece_bytes);
  if (!way.is_shared) return cut;
  if (way.piece_bytes == 0 || way.slots == 0) return cut + " through shared memory";
  return cut + fmt::format(" through {} slots of shared memory", way.slots);
}

std::vector<HostWay> ways_to_try(std::size_t bytes, const HostChoice& choice) {
  std::vector<HostWay> ways;
  if (choice.staging != StagingUse::kShared || !choice.may_share) {
    ways.push_back({});
    if (choice.may_map) ways.push_back({.is_mapped = true});
    if (bytes <= kLongestEager) ways.push_back({.is_eager = true});
    for (const std::size_t count : kPieces) {
      if (count < kPieces.back() && bytes / count >= kShortestOfHost) {
        ways.push_back({.piece_bytes = bytes / count});
      }
    }
  }
  if (choice.staging == StagingUse::kPrivate || !choice.may_share) return ways;
  ways.push_back({.is_shared = true});
  for (const std::size_t count : kPieces) {
    if (bytes / count < kShortestOfHost) continue;
    ways.push_back({.piece_bytes = bytes / count, .is_shared = true, .slots = kUsualSlots});
    if (count > 2 * kUsualSlots) {
      ways.push_back({.piece_bytes = bytes / count, .is_shared = true, .slots = 2 * kUsualSlots});
    }
  }
  return ways;
}

}  // namespace fabricmark::transport
