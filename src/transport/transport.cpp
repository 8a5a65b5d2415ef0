#include "transport/transport.hpp"

#include <vector>

namespace fabricmark::transport {

namespace {

/// Tags of collectives' messages, above those of benchmarks.
enum Tag : int { kAllToAll = 1 << 12, kAllGather, kBroadcast };

Region part(const Region& region, int number, std::size_t bytes) {
  return {region.buffer, region.offset + static_cast<std::size_t>(number) * bytes, bytes};
}

}  // namespace

device::Event Transport::all_to_all(const Region& outgoing, const Region& incoming,
                                    const device::Events& after) {
  const std::size_t bytes = outgoing.bytes / static_cast<std::size_t>(ranks_.size());
  return with_all([&](int to) { return part(outgoing, to, bytes); }, incoming, bytes, kAllToAll, after);
}

device::Event Transport::all_gather(const Region& own, const Region& all, const device::Events& after) {
  return with_all([&](int /*to*/) { return own; }, all, own.bytes, kAllGather, after);
}

template <typename Sent>
device::Event Transport::with_all(const Sent& sent, const Region& incoming, std::size_t bytes, int tag,
                                  const device::Events& after) {
  const int size = ranks_.size();
  std::vector<Message> sends;
  std::vector<Message> receives;
  // Every rank begins with another receiver, so that not all send to the same one at once.
  for (int i = 0; i < size; ++i) {
    const int to = (ranks_.rank() + i) % size;
    const int from = (ranks_.rank() + size - i) % size;
    sends.push_back({sent(to), to, tag});
    receives.push_back({part(incoming, from, bytes), from, tag});
  }
  return start(sends, receives, after);
}

device::Event Transport::broadcast(const Region& region, int root, const device::Events& after) {
  const Message from_root{region, root, kBroadcast};
  if (ranks_.rank() != root) return receive(from_root, after);
  std::vector<Message> sends;
  for (int to = 0; to < ranks_.size(); ++to) {
    if (to != root) sends.push_back({region, to, kBroadcast});
  }
  return start(sends, {}, after);
}

}  // namespace fabricmark::transport
