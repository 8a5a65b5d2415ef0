#include "fabric/host/host_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "fabric/host/host_steps.hpp"
#include "fabric/host/mapped_transfer.hpp"
#include "fabric/host/staged_transfer.hpp"
#include "fabric/registry.hpp"
#include "fabric/tuning.hpp"

namespace fabricmark::fabric {

namespace {

constexpr std::size_t kUsualChunk = std::size_t{256} << 10;
constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

/// The pieces that this rank asks of each rank, and each rank of it: of two the larger one counts. A rank
/// that maps its memory, or copies whole messages, can take any.
std::vector<std::size_t> agreed_pieces(runtime::Communicator& ranks, std::size_t own) {
  std::vector<std::size_t> agreed;
  for (const std::vector<double>& other : ranks.all_gather_numbers({static_cast<double>(own)})) {
    agreed.push_back(std::max(own, static_cast<std::size_t>(other.at(0))));
  }
  return agreed;
}

std::string in_words(const HostWay& way) {
  if (way.is_mapped) return "from mapped memory";
  return way.piece_bytes == 0 ? "whole" : fmt::format("in chunks of {} bytes", way.piece_bytes);
}

}  // namespace

HostTransport::HostTransport(const runtime::Context& context, std::int64_t chunk_bytes, bool zero_copy,
                             Waiting waiting)
    : Transport(context.ranks()),
      device_(context.device()),
      timeout_(context.conditions().timeout_seconds),
      waiting_(waiting),
      is_timed_(context.timeline().enabled()),
      memory_(context.conditions().memory),
      chunk_bytes_(chunk_bytes),
      zero_copy_(zero_copy),
      shares_memory_(device_.info().is_in_host_memory()),
      pieces_(agreed_pieces(ranks(), shares_memory_ && zero_copy ? 0 : way(kEndless).piece_bytes)),
      reads_(device_.uncharged_queue()),
      writes_(device_.uncharged_queue()) {
  may_map_ = ranks().all_reduce_max(shares_memory_ && zero_copy_ ? 1 : 0) != 0;
}

std::unique_ptr<Memory> HostTransport::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(device_, bytes, memory_);
}

HostWay HostTransport::way(std::size_t bytes) const {
  if (!measured_.empty()) return measured_[std::min(size_class(bytes), measured_.size() - 1)];
  const std::size_t chunk = is_measured() ? kUsualChunk : static_cast<std::size_t>(chunk_bytes_);
  if (chunk == 0 || bytes <= chunk) return {};
  return {.piece_bytes = chunk, .is_mapped = zero_copy_};
}

std::size_t HostTransport::piece_bytes(const Message& message) const {
  const std::size_t agreed =
      measured_.empty() ? pieces_[static_cast<std::size_t>(message.peer)] : way(message.bytes).piece_bytes;
  return agreed == 0 ? message.bytes : std::min(agreed, message.bytes);
}

device::Event HostTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                   const device::Events& after) {
  std::size_t longest = 0;
  for (const Message& message : sends) longest = std::max(longest, message.bytes);
  for (const Message& message : receives) longest = std::max(longest, message.bytes);
  const auto begin = [&](auto transfer) {
    transfer->start(sends, receives, after, is_timed_);
    return device::Event(std::move(transfer));
  };
  if (shares_memory_ && way(longest).is_mapped) {
    return begin(transfers_.free<MappedTransfer>([&] { return std::make_shared<MappedTransfer>(*this); }));
  }
  return begin(transfers_.free<StagedTransfer>([&] { return std::make_shared<StagedTransfer>(*this); }));
}

std::vector<HostWay> HostTransport::ways_to_try(std::size_t bytes, bool may_map) {
  constexpr std::size_t kShortestPiece = std::size_t{64} << 10;
  std::vector<HostWay> ways{{}};
  if (may_map) ways.push_back({.is_mapped = true});
  for (const std::size_t count : {2U, 4U, 8U}) {
    if (bytes / count >= kShortestPiece) ways.push_back({.piece_bytes = bytes / count});
  }
  return ways;
}

std::vector<std::string> HostTransport::ways(std::size_t bytes) const {
  std::vector<std::string> names;
  if (!is_measured()) return names;
  for (const HostWay& way : ways_to_try(bytes, may_map_)) names.push_back(in_words(way));
  return names;
}

void HostTransport::take(std::size_t size_class, const std::string& way) {
  const std::vector<HostWay> known = ways_to_try(tuned_sizes(kEndless).at(size_class), may_map_);
  const auto found = std::ranges::find_if(known, [&](const HostWay& one) { return in_words(one) == way; });
  if (found == known.end()) throw std::logic_error("the host has no way '" + way + "'");
  measured_.resize(size_class + 1);
  measured_[size_class] = *found;
}

std::unique_ptr<Steps> HostTransport::steps() { return std::make_unique<HostSteps>(*this); }

namespace host {

std::unique_ptr<Transport> make(const runtime::Context& context, const TransportUse& use) {
  const auto chunk_bytes = context.parameters().integer("chunk_bytes");
  const bool may_map = context.parameters().flag("map_memory");
  // Each chunk is a copy and a message: with so many a run takes hours, and looks like one that hangs.
  constexpr std::size_t kMostChunks = std::size_t{1} << 18;
  const bool maps = may_map && context.device().info().is_in_host_memory();
  if (chunk_bytes > 0 && !maps && use.largest_bytes / static_cast<std::size_t>(chunk_bytes) > kMostChunks) {
    throw bad_use(fmt::format("messages of {} bytes in chunks of {} bytes would take hours",
                              use.largest_bytes, chunk_bytes),
                  "give a larger --chunk-bytes, or 0 for whole messages");
  }
  return std::make_unique<HostTransport>(context, chunk_bytes, may_map, use.waiting);
}

}  // namespace host

}  // namespace fabricmark::fabric
