#include "fabric/cpu_transport.hpp"

#include <algorithm>
#include <vector>

#include "device/memory.hpp"

namespace fabricmark::fabric {

namespace {

class HostBuffer : public MessageBuffer {
 public:
  explicit HostBuffer(std::size_t bytes) : memory_(bytes) {}
  void write(std::size_t offset, std::span<const std::byte> bytes) override {
    std::ranges::copy(bytes, memory_.data() + offset);
  }
  void read(std::size_t offset, std::span<std::byte> bytes) override {
    std::copy_n(memory_.data() + offset, bytes.size(), bytes.begin());
  }
  std::span<std::byte> host_memory() override { return memory_.span(); }

 private:
  device::HostArray<std::byte> memory_;
};

/// `result` is filled anew; it keeps its memory from exchange to exchange.
void to_host_memory(std::span<const Message> messages, std::vector<HostMessage>& result) {
  result.clear();
  for (const Message& message : messages) {
    result.push_back(
        {message.buffer->host_memory().subspan(message.offset, message.bytes), message.peer, message.tag});
  }
}

}  // namespace

std::unique_ptr<MessageBuffer> CpuTransport::allocate(std::size_t bytes) {
  return std::make_unique<HostBuffer>(bytes);
}

void CpuTransport::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  to_host_memory(sends, sends_);
  to_host_memory(receives, receives_);
  exchange_host_messages(ranks_, timeout_, waiting_, sends_, receives_);
}

}  // namespace fabricmark::fabric
