#include "fabric/host_transport.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include "base/error.hpp"

namespace fabricmark::fabric {

namespace {

class DeviceBuffer : public MessageBuffer {
 public:
  DeviceBuffer(const device::Device& device, std::size_t bytes, device::MemoryKind kind)
      : queue_(device.queue()), memory_(device, bytes, kind) {}
  void write(std::size_t offset, std::span<const std::byte> bytes) override {
    memory_.write(queue_, bytes.data(), bytes.size(), offset);
    queue_.finish();
  }
  void read(std::size_t offset, std::span<std::byte> bytes) override {
    memory_.read(queue_, bytes.data(), bytes.size(), offset);
    queue_.finish();
  }
  device::Buffer* device_memory() override { return &memory_; }

 private:
  device::Queue queue_;
  device::Buffer memory_;
};

device::Buffer& memory_of(const Message& message) { return *message.buffer->device_memory(); }

std::size_t total_bytes(std::span<const Message> messages) {
  return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
                         [](std::size_t sum, const Message& message) { return sum + message.bytes; });
}

/// Messages in the host's view of the device's memory. Those that lie one behind the other are mapped at
/// once: a command costs a runtime more than a short message.
class Mapping {
 public:
  Mapping(std::span<const Message> messages, const device::Queue& queue, bool for_writing) : queue_(queue) {
    std::vector<std::size_t> run_of;
    for (const Message& message : messages) {
      const bool goes_on = !runs_.empty() && runs_.back().buffer == message.buffer &&
                           runs_.back().offset + runs_.back().bytes == message.offset;
      if (!goes_on) runs_.push_back({message.buffer, message.offset, 0, 0, 0});
      runs_.back().bytes += message.bytes;
      run_of.push_back(runs_.size() - 1);
    }
    for (const Message& run : runs_) {
      data_.push_back(run.bytes == 0 ? nullptr
                                     : memory_of(run).map(queue, for_writing, run.bytes, run.offset));
    }
    queue.finish();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      std::byte* const start = data_[run_of[i]];
      std::byte* const data =
          message.bytes == 0 ? nullptr : start + (message.offset - runs_[run_of[i]].offset);
      messages_.push_back({{data, message.bytes}, message.peer, message.tag});
    }
  }
  [[nodiscard]] std::span<const HostMessage> messages() const { return messages_; }
  void unmap() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (data_[i] != nullptr) memory_of(runs_[i]).unmap(queue_, data_[i]);
    }
    queue_.finish();
  }

 private:
  const device::Queue& queue_;
  std::vector<Message> runs_;     // with neither peer nor tag
  std::vector<std::byte*> data_;  // [run]; null where it is empty
  std::vector<HostMessage> messages_;
};

}  // namespace

HostTransport::HostTransport(const runtime::Context& context, std::size_t chunk_bytes, bool zero_copy,
                             Waiting waiting)
    : ranks_(context.ranks()),
      device_(context.device()),
      timeout_(context.conditions().timeout_seconds),
      waiting_(waiting),
      memory_(context.conditions().memory),
      chunk_bytes_(chunk_bytes),
      zero_copy_(zero_copy),
      shares_memory_(device_.info().is_in_host_memory()),
      reads_(device_.queue()),
      writes_(device_.queue()) {}

std::unique_ptr<MessageBuffer> HostTransport::allocate(std::size_t bytes) {
  return std::make_unique<DeviceBuffer>(device_, bytes, memory_);
}

void HostTransport::reserve(std::size_t outgoing_bytes, std::size_t incoming_bytes) {
  if (outgoing_.bytes() < outgoing_bytes) outgoing_ = device::PinnedMemory(device_, outgoing_bytes);
  if (incoming_.bytes() < incoming_bytes) incoming_ = device::PinnedMemory(device_, incoming_bytes);
}

std::span<std::byte> HostTransport::staged_sends(std::size_t bytes) {
  reserve(bytes, 0);
  return {outgoing_.data(), bytes};
}

std::span<std::byte> HostTransport::staged_receives(std::size_t bytes) {
  reserve(0, bytes);
  return {incoming_.data(), bytes};
}

std::vector<HostTransport::Chunk> HostTransport::chunks(std::span<const Message> messages,
                                                        std::size_t chunk_bytes) const {
  std::vector<Chunk> all;
  std::vector<std::size_t> bases;
  std::size_t staged = 0;
  std::size_t longest = 0;
  for (const Message& message : messages) {
    bases.push_back(staged);
    staged += message.bytes;
    longest = std::max(longest, message.bytes);
  }
  const std::size_t step = chunk_bytes == 0 ? std::max<std::size_t>(longest, 1) : chunk_bytes;
  // The first chunks of all messages come before the second ones, so that both directions start at once.
  for (std::size_t start = 0; start == 0 || start < longest; start += step) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      if (start >= message.bytes) continue;
      all.push_back({&message, start, std::min(step, message.bytes - start), bases[i] + start});
    }
  }
  return all;
}

void HostTransport::read_step(std::span<const Message> sends, std::size_t staged) {
  reserve(staged + total_bytes(sends), 0);
  for (const Chunk& chunk : chunks(sends, 0)) {
    memory_of(*chunk.message)
        .read(reads_, outgoing_.data() + staged + chunk.staged, chunk.bytes, chunk.message->offset);
  }
  reads_.finish();
}

void HostTransport::message_step(std::span<const Message> sends, std::span<const Message> receives,
                                 std::size_t staged) {
  reserve(staged + total_bytes(sends), staged + total_bytes(receives));
  Messages messages(ranks_, timeout_, waiting_);
  for (const Chunk& chunk : chunks(receives, 0)) {
    messages.receive(chunk.message->peer, {incoming_.data() + staged + chunk.staged, chunk.bytes},
                     chunk.message->tag);
  }
  for (const Chunk& chunk : chunks(sends, 0)) {
    messages.send(chunk.message->peer, {outgoing_.data() + staged + chunk.staged, chunk.bytes},
                  chunk.message->tag);
  }
  messages.wait_all();
}

void HostTransport::write_step(std::span<const Message> receives, std::size_t staged) {
  reserve(0, staged + total_bytes(receives));
  for (const Chunk& chunk : chunks(receives, 0)) {
    memory_of(*chunk.message)
        .write(writes_, incoming_.data() + staged + chunk.staged, chunk.bytes, chunk.message->offset);
  }
  writes_.finish();
}

void HostTransport::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  const auto is_long = [&](const Message& message) { return message.bytes > chunk_bytes_; };
  const bool in_chunks =
      chunk_bytes_ > 0 && (std::ranges::any_of(sends, is_long) || std::ranges::any_of(receives, is_long));
  if (in_chunks && zero_copy_ && shares_memory_) return exchange_mapped(sends, receives);
  if (in_chunks) return exchange_in_chunks(sends, receives);
  read_step(sends);
  message_step(sends, receives);
  write_step(receives);
}

void HostTransport::exchange_mapped(std::span<const Message> sends, std::span<const Message> receives) {
  Mapping out(sends, reads_, false);
  Mapping in(receives, writes_, true);
  const auto unmap_all = [&] {
    out.unmap();
    in.unmap();
  };
  try {
    exchange_host_messages(ranks_, timeout_, waiting_, out.messages(), in.messages());
  } catch (...) {
    unmap_all();
    throw;
  }
  unmap_all();
}

void HostTransport::exchange_in_chunks(std::span<const Message> sends, std::span<const Message> receives) {
  reserve(total_bytes(sends), total_bytes(receives));
  const std::vector<Chunk> out = chunks(sends, chunk_bytes_);
  const std::vector<Chunk> in = chunks(receives, chunk_bytes_);
  Messages messages(ranks_, timeout_, waiting_);
  std::vector<std::size_t> arriving;
  for (const Chunk& chunk : in) {
    arriving.push_back(messages.receive(chunk.message->peer, {incoming_.data() + chunk.staged, chunk.bytes},
                                        chunk.message->tag));
  }
  device::Events copied(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Chunk& chunk = out[i];
    memory_of(*chunk.message)
        .read(reads_, outgoing_.data() + chunk.staged, chunk.bytes, chunk.message->offset + chunk.start,
              &copied[i]);
  }
  reads_.flush();
  std::size_t sent = 0;
  std::size_t written = 0;
  // Whatever is ready goes on: a chunk that has left the device is sent, one that has arrived is written.
  while (sent < out.size() || written < in.size()) {
    bool is_idle = true;
    if (sent < out.size() && copied[sent].has_ended()) {
      const Chunk& chunk = out[sent++];
      messages.send(chunk.message->peer, {outgoing_.data() + chunk.staged, chunk.bytes}, chunk.message->tag);
      is_idle = false;
    }
    if (written < in.size() && messages.is_done(arriving[written])) {
      const Chunk& chunk = in[written++];
      memory_of(*chunk.message)
          .write(writes_, incoming_.data() + chunk.staged, chunk.bytes, chunk.message->offset + chunk.start);
      writes_.flush();
      is_idle = false;
    }
    if (is_idle && sent < out.size()) {
      // The threads of a CPU runtime copy on this core: let them, instead of asking whether they are done.
      if (shares_memory_) {
        copied[sent].wait();
      } else {
        std::this_thread::yield();
      }
    }
    if (is_idle && sent == out.size()) messages.check_deadline(arriving[written]);
  }
  writes_.finish();
  messages.wait_all();
}

}  // namespace fabricmark::fabric
