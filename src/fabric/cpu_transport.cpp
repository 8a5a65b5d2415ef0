#include "fabric/cpu_transport.hpp"

#include <algorithm>

#include "device/memory.hpp"
#include "fabric/messages.hpp"

namespace fabricmark::fabric {

namespace {

constexpr std::size_t kLongMessage = std::size_t{32} << 10;

class HostBuffer : public MessageBuffer {
 public:
  explicit HostBuffer(std::size_t bytes) : memory_(bytes) {}
  void write(std::size_t offset, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), memory_.data() + offset);
  }
  void read(std::size_t offset, std::span<std::byte> bytes) override {
    std::copy_n(memory_.data() + offset, bytes.size(), bytes.begin());
  }
  std::span<std::byte> part(const Message& message) {
    return memory_.span().subspan(message.offset, message.bytes);
  }

 private:
  device::HostArray<std::byte> memory_;
};

std::span<std::byte> memory_of(const Message& message) {
  return static_cast<HostBuffer*>(message.buffer)->part(message);
}

}  // namespace

std::unique_ptr<MessageBuffer> CpuTransport::allocate(std::size_t bytes) {
  return std::make_unique<HostBuffer>(bytes);
}

void CpuTransport::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  Messages messages(ranks_, timeout_);
  for (const Message& message : receives) messages.receive(message.peer, memory_of(message), message.tag);
  for (const Message& message : sends) {
    const std::size_t position = messages.send(message.peer, memory_of(message), message.tag);
    // Long messages leave one after the other: side by side they only take the memory from each other. All
    // ranks have posted their receives by then, so that none waits for another in a circle.
    if (message.bytes >= kLongMessage) messages.wait(position);
  }
  messages.wait_all();
}

}  // namespace fabricmark::fabric
