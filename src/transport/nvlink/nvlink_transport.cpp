#include "transport/nvlink/nvlink_transport.hpp"

#include <cstring>
#include <set>

#include "base/error.hpp"
#include "transport/nvlink/nvlink_transfer.hpp"

namespace fabricmark::transport {

NvlinkTransport::NvlinkTransport(const runtime::Context& context, const TransportUse& use)
    : Transport(context.ranks()),
      device_(context.device()),
      timeout_(context.timeout_seconds()),
      waiting_(waiting(context, use)),
      is_timed_(context.timeline().enabled()),
      first_(device_, 1, device::MemoryKind::kPeer),
      blocks_(context.ranks(), first_.peer().block->gpu()),
      copies_(first_.peer().block->gpu()),
      incoming_(device_),
      outgoing_(device_) {}

std::unique_ptr<Memory> NvlinkTransport::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(device_, bytes, device::MemoryKind::kPeer);
}

device::Event NvlinkTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                     const device::Events& after) {
  auto transfer = transfers_.free<NvlinkTransfer>([&] { return std::make_shared<NvlinkTransfer>(*this); });
  transfer->start(sends, receives, after, is_timed_);
  return device::Event(std::move(transfer));
}

std::vector<device::Buffer> NvlinkTransport::reach(Memory& own) {
  device::Buffer& buffer = own.device();
  const device::cuda::PeerMemory memory = buffer.peer();
  if (ranks().all_reduce_min(memory.block ? 1 : 0) == 0) return {};
  std::vector<Grant> grants;
  for (int peer = 0; peer < ranks().size(); ++peer) {
    grants.push_back(blocks_.grant(peer, memory, buffer.bytes()));
  }
  std::vector<device::Buffer> all;
  for (const std::vector<std::byte>& of_rank : ranks().all_gather(std::as_bytes(std::span(grants)))) {
    const auto rank = static_cast<int>(all.size());
    if (rank == ranks().rank()) {
      all.push_back(buffer);
      continue;
    }
    Grant grant;
    std::memcpy(&grant, &of_rank.at(sizeof(Grant) * static_cast<std::size_t>(ranks().rank())), sizeof grant);
    all.push_back(device::buffer_over(device_, blocks_.memory(rank, grant), grant.bytes));
  }
  return all;
}

bool NvlinkTransport::has_own_devices() const {
  const device::cuda::Uuid& own = first_.peer().block->gpu()->uuid();
  const auto all = ranks().all_gather(std::as_bytes(std::span(own.bytes)));
  return std::set<std::vector<std::byte>>(all.begin(), all.end()).size() == all.size();
}

namespace nvlink {

std::unique_ptr<Transport> make(const runtime::Context& context, const TransportUse& use) {
  if (context.costs() != nullptr) throw no_costs_over("nvlink");
  if (context.device().info().is_of_xrt())
    throw bad_use("the transport nvlink joins GPUs", "use --transport host");
  if (context.memory_kind() == device::MemoryKind::kSvm) {
    throw bad_use("the transport nvlink does not move shared virtual memory", "use --memory peer or buffer");
  }
  return std::make_unique<NvlinkTransport>(context, use);
}

}  // namespace nvlink

}  // namespace fabricmark::transport
