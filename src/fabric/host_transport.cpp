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

/// The pieces that this rank asks of each rank, and each rank of it: of two the larger one counts. A rank
/// that maps its memory, or copies whole messages, can take any.
std::vector<std::size_t> agreed_pieces(runtime::Communicator& ranks, std::size_t own) {
  std::vector<std::size_t> agreed;
  for (const std::vector<double>& other : ranks.all_gather_numbers({static_cast<double>(own)})) {
    agreed.push_back(std::max(own, static_cast<std::size_t>(other.at(0))));
  }
  return agreed;
}

/// Messages in the host's view of the device's memory. Those that lie one behind the other are mapped at
/// once: a command costs a runtime more than a short message.
class Mapping {
 public:
  /// `pieces[peer]`: bytes of a piece, 0: whole.
  Mapping(std::span<const Message> messages, const std::vector<std::size_t>& pieces,
          const device::Queue& queue, bool for_writing)
      : queue_(queue) {
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
      if (message.bytes == 0) continue;
      std::byte* const data = data_[run_of[i]] + (message.offset - runs_[run_of[i]].offset);
      const std::size_t piece = pieces[static_cast<std::size_t>(message.peer)];
      const std::size_t step = piece == 0 ? message.bytes : piece;
      for (std::size_t at = 0; at < message.bytes; at += step) {
        messages_.push_back({{data + at, std::min(step, message.bytes - at)}, message.peer, message.tag});
      }
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
      pieces_(agreed_pieces(ranks_, is_mapped() ? 0 : chunk_bytes)),
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

std::vector<HostTransport::Chunk> HostTransport::chunks(std::span<const Message> messages, bool whole) const {
  std::vector<Chunk> all;
  std::vector<std::size_t> bases;
  std::size_t staged = 0;
  for (const Message& message : messages) {
    bases.push_back(staged);
    staged += message.bytes;
  }
  // The first chunks of all messages come before the second ones, so that both directions start at once.
  for (std::size_t round = 0, found = 1; found != all.size(); ++round) {
    found = all.size();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      const std::size_t step = whole || !is_cut(message) ? std::max<std::size_t>(message.bytes, 1)
                                                         : pieces_[static_cast<std::size_t>(message.peer)];
      const std::size_t start = round * step;
      if (start >= message.bytes) continue;
      all.push_back({&message, start, std::min(step, message.bytes - start), bases[i] + start});
    }
  }
  return all;
}

bool HostTransport::is_cut(const Message& message) const {
  const std::size_t piece = pieces_[static_cast<std::size_t>(message.peer)];
  return piece > 0 && message.bytes > piece;
}

void HostTransport::read_step(std::span<const Message> sends, std::size_t staged) {
  reserve(staged + total_bytes(sends), 0);
  for (const Chunk& chunk : chunks(sends, /*whole=*/true)) {
    memory_of(*chunk.message)
        .read(reads_, outgoing_.data() + staged + chunk.staged, chunk.bytes, chunk.message->offset);
  }
  reads_.finish();
}

void HostTransport::message_step(std::span<const Message> sends, std::span<const Message> receives,
                                 std::size_t staged) {
  reserve(staged + total_bytes(sends), staged + total_bytes(receives));
  Messages messages(ranks_, timeout_, waiting_);
  for (const Chunk& chunk : chunks(receives, /*whole=*/true)) {
    messages.receive(chunk.message->peer, {incoming_.data() + staged + chunk.staged, chunk.bytes},
                     chunk.message->tag);
  }
  for (const Chunk& chunk : chunks(sends, /*whole=*/true)) {
    messages.send(chunk.message->peer, {outgoing_.data() + staged + chunk.staged, chunk.bytes},
                  chunk.message->tag);
  }
  messages.wait_all();
}

void HostTransport::write_step(std::span<const Message> receives, std::size_t staged) {
  reserve(0, staged + total_bytes(receives));
  for (const Chunk& chunk : chunks(receives, /*whole=*/true)) {
    memory_of(*chunk.message)
        .write(writes_, incoming_.data() + staged + chunk.staged, chunk.bytes, chunk.message->offset);
  }
  writes_.finish();
}

void HostTransport::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  const auto any = [&](const auto& is) {
    return std::ranges::any_of(sends, is) || std::ranges::any_of(receives, is);
  };
  const auto is_long = [&](const Message& message) { return message.bytes > chunk_bytes_; };
  if (is_mapped() && any(is_long)) return exchange_mapped(sends, receives);
  if (any([&](const Message& message) { return is_cut(message); }))
    return exchange_in_chunks(sends, receives);
  read_step(sends);
  message_step(sends, receives);
  write_step(receives);
}

void HostTransport::exchange_mapped(std::span<const Message> sends, std::span<const Message> receives) {
  Mapping out(sends, pieces_, reads_, false);
  Mapping in(receives, pieces_, writes_, true);
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
  const std::vector<Chunk> out = chunks(sends, /*whole=*/false);
  const std::vector<Chunk> in = chunks(receives, /*whole=*/false);
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
