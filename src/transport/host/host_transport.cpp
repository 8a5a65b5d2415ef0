#include "transport/host/host_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "transport/host/host_steps.hpp"
#include "transport/host/mapped_transfer.hpp"
#include "transport/host/mixed_transfer.hpp"
#include "transport/host/near_ranks.hpp"
#include "transport/host/shared_transfer.hpp"
#include "transport/host/staged_transfer.hpp"
#include "transport/registry.hpp"
#include "transport/tuning.hpp"

namespace fabricmark::transport {

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

}  // namespace

HostTransport::HostTransport(runtime::Communicator& all, const device::Device& device, const Use& use)
    : Transport(all),
      device_(device),
      timeout_(use.timeout_seconds),
      waiting_(use.waiting),
      is_timed_(use.is_timed),
      memory_(use.memory),
      chunk_bytes_(use.chunk_bytes),
      zero_copy_(use.zero_copy),
      staging_(use.staging),
      slots_(use.slots),
      shares_memory_(device_.info().is_in_host_memory()),
      pieces_(agreed_pieces(ranks(), shares_memory_ && zero_copy_ ? 0 : protocol(kEndless).piece_bytes)),
      reads_(device_.untimed_queue()),
      writes_(device_.untimed_queue()) {
  choice_ = {.may_map = ranks().all_reduce_max(shares_memory_ && zero_copy_ ? 1 : 0) != 0,
             .staging = staging_};
  if (staging_ == StagingUse::kPrivate || (staging_ == StagingUse::kMeasured && !is_measured())) return;
  near_ = near_ranks(ranks(), device_);
  const auto of_node = ranks().all_reduce_max(std::ranges::count(near_, true));
  choice_.may_share = of_node > (ranks().size() > 1 ? 1 : 0);
  if (staging_ == StagingUse::kShared && !choice_.may_share) {
    throw environment_failure("no two ranks can have staging memory in common",
                              "start them on one node, or use --staging private");
  }
}

std::unique_ptr<Memory> HostTransport::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(device_, bytes, memory_);
}

HostProtocol HostTransport::protocol(std::size_t bytes) const {
  if (!measured_.empty()) return measured_[std::min(size_class(bytes), measured_.size() - 1)];
  const std::size_t chunk = is_measured() ? kUsualChunk : static_cast<std::size_t>(chunk_bytes_);
  const std::size_t piece = bytes <= chunk ? 0 : chunk;
  if (staging_ == StagingUse::kShared) {
    const std::size_t slots = slots_ < 0 ? kUsualSlots : static_cast<std::size_t>(slots_);
    return {.piece_bytes = piece, .is_shared = true, .slots = slots};
  }
  if (piece == 0) return {};
  return {.piece_bytes = piece, .is_mapped = zero_copy_};
}

bool HostTransport::is_shared(const Message& message) const {
  return !near_.empty() && near_[static_cast<std::size_t>(message.peer)] && protocol(message.bytes).is_shared;
}

std::size_t HostTransport::piece_bytes(const Message& message) const {
  const std::size_t agreed = measured_.empty() ? pieces_[static_cast<std::size_t>(message.peer)]
                                               : protocol(message.bytes).piece_bytes;
  return agreed == 0 ? message.bytes : std::min(agreed, message.bytes);
}

std::vector<Message> HostTransport::in_pieces(std::span<const Message> messages) const {
  std::vector<Message> pieces;
  for_each_piece(messages,
                 [&](const Message& message, std::size_t /*base*/, std::size_t start, std::size_t bytes) {
                   Message piece = message;
                   piece.offset += start;
                   piece.bytes = bytes;
                   pieces.push_back(piece);
                 });
  return pieces;
}

std::shared_ptr<SharedStaging> HostTransport::staging_of(int peer, std::uint64_t transfer,
                                                         const SharedAddress& address, std::size_t lanes) {
  std::shared_ptr<SharedStaging>& found = others_[{peer, transfer}];
  if (!found || found->address() != address) found = SharedStaging::open(device_, address, lanes);
  if (!found) {
    throw environment_failure(fmt::format("rank {} has given up a message that it had begun", peer),
                              "see why, or use --staging private");
  }
  return found;
}

std::shared_ptr<Transfer> HostTransport::transfer_for(std::span<const Message> sends,
                                                      std::span<const Message> receives, bool is_shared) {
  if (is_shared) {
    return transfers_.free<SharedTransfer>(
        [&] { return std::make_shared<SharedTransfer>(*this, shared_transfers_++); });
  }
  std::size_t longest = 0;
  for (const Message& message : sends) longest = std::max(longest, message.bytes);
  for (const Message& message : receives) longest = std::max(longest, message.bytes);
  const HostProtocol fastest = protocol(longest);
  if (shares_memory_ && fastest.is_mapped) {
    return transfers_.free<MappedTransfer>([&] { return std::make_shared<MappedTransfer>(*this); });
  }
  auto staged = transfers_.free<StagedTransfer>([&] { return std::make_shared<StagedTransfer>(*this); });
  staged->set_eager(fastest.is_eager);
  return staged;
}

std::shared_ptr<Transfer> HostTransport::mixed_transfer(std::span<const Message> sends,
                                                        std::span<const Message> receives) {
  MixedTransfer::Part shared;
  MixedTransfer::Part others;
  for (const Message& message : sends) (is_shared(message) ? shared : others).sends.push_back(message);
  for (const Message& message : receives) (is_shared(message) ? shared : others).receives.push_back(message);
  shared.transfer = transfer_for(shared.sends, shared.receives, /*is_shared=*/true);
  others.transfer = transfer_for(others.sends, others.receives, /*is_shared=*/false);
  auto mixed = transfers_.free<MixedTransfer>([] { return std::make_shared<MixedTransfer>(); });
  mixed->set(std::move(shared), std::move(others));
  return mixed;
}

std::shared_ptr<Transfer> HostTransport::transfer_of(std::span<const Message> sends,
                                                     std::span<const Message> receives) {
  const auto shared = [&](const Message& message) { return is_shared(message); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(sends, shared) +
                                              std::ranges::count_if(receives, shared));
  const bool is_mixed = count > 0 && count < sends.size() + receives.size();
  return is_mixed ? mixed_transfer(sends, receives) : transfer_for(sends, receives, count > 0);
}

device::Event HostTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                   const device::Events& after) {
  // A single rank has only itself to show the path over the host.
  OwnMessages::Split split = ranks().size() > 1 ? own_messages_.split(sends, receives) : OwnMessages::Split{};
  const bool has_others = !split.other_sends.empty() || !split.other_receives.empty();
  std::shared_ptr<Transfer> transfer;
  if (split.sends.empty()) {
    transfer = transfer_of(sends, receives);
  } else {
    transfer = transfers_.free<OwnTransfer>([&] { return std::make_shared<OwnTransfer>(writes_); });
  }
  if (!split.sends.empty() && has_others) {
    MixedTransfer::Part others{transfer_of(split.other_sends, split.other_receives),
                               std::move(split.other_sends), std::move(split.other_receives)};
    auto mixed = transfers_.free<MixedTransfer>([] { return std::make_shared<MixedTransfer>(); });
    mixed->set(std::move(others), {transfer, std::move(split.sends), std::move(split.receives)});
    transfer = mixed;
  }
  transfer->start(sends, receives, after, is_timed_);
  return device::Event(std::move(transfer));
}

std::vector<HostProtocol> HostTransport::open_protocols(std::size_t bytes) const {
  std::vector<HostProtocol> protocols = protocols_to_try(bytes, choice_);
  for (HostProtocol& protocol : protocols) {
    if (protocol.slots > 0 && slots_ >= 0) protocol.slots = static_cast<std::size_t>(slots_);
  }
  return protocols;
}

std::vector<std::string> HostTransport::protocols(std::size_t bytes) const {
  std::vector<std::string> names;
  if (!is_measured()) return names;
  for (const HostProtocol& protocol : open_protocols(bytes)) names.push_back(in_words(protocol));
  return names;
}

void HostTransport::take(std::size_t size_class, const std::string& protocol) {
  const std::vector<HostProtocol> known = open_protocols(tuned_sizes(kEndless).at(size_class));
  const auto found =
      std::ranges::find_if(known, [&](const HostProtocol& one) { return in_words(one) == protocol; });
  if (found == known.end()) throw std::logic_error("the host has no protocol '" + protocol + "'");
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
  StagingUse staging = staging_use(context.parameters().text("staging"));
  // Where nobody measures the protocols, there is no need to find out which ranks share memory.
  const bool is_measured = use.largest_bytes > 0 || use.leaves_protocols_open;
  if (staging == StagingUse::kMeasured && !is_measured) staging = StagingUse::kPrivate;
  return std::make_unique<HostTransport>(
      context.ranks(), context.device(),
      HostTransport::Use{.timeout_seconds = context.timeout_seconds(),
                         .is_timed = context.timeline().enabled(),
                         .memory = context.memory_kind(),
                         .chunk_bytes = chunk_bytes,
                         .zero_copy = may_map,
                         .waiting = waiting(context, use),
                         .staging = staging,
                         .slots = context.parameters().integer("staging_slots")});
}

}  // namespace host

}  // namespace fabricmark::transport
