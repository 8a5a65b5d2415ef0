#include "benchmarks/host_transfer/rig.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"
#include "base/random_bits.hpp"

namespace fabricmark::host_transfer {

namespace {

using device::kPageBytes;

// Pageable memory starts off a page, as an array from new or malloc does.
constexpr std::size_t kOffPage = 64;

std::size_t largest_transfer(const std::vector<Case>& cases) {
  std::size_t bytes = kPageBytes;
  for (const Case& one : cases) bytes = std::max(bytes, one.bytes_each_way());
  return bytes;
}

std::uint32_t* word(std::byte* memory, std::size_t page) {
  return reinterpret_cast<std::uint32_t*>(memory + page * kPageBytes);
}

std::size_t count_different(const std::byte* found, const std::byte* wanted, std::size_t bytes) {
  if (std::memcmp(found, wanted, bytes) == 0) return 0;
  std::size_t different = 0;
  for (std::size_t i = 0; i < bytes; ++i) different += found[i] != wanted[i] ? 1 : 0;
  return different;
}

device::HostArray<std::byte> random_bytes(std::size_t bytes, int threads) {
  device::HostArray<std::byte> random(bytes);
  auto* const words = reinterpret_cast<std::uint32_t*>(random.data());
  parallel_for(bytes / sizeof(std::uint32_t), threads, kWorthAThread,
               [&](std::size_t start, std::size_t end) {
                 for (std::size_t i = start; i < end; ++i)
                   words[i] = mixed_bits_32(static_cast<std::uint32_t>(i));
               });
  return random;
}

std::uint32_t pages(std::size_t bytes) { return static_cast<std::uint32_t>(bytes / kPageBytes); }

}  // namespace

Rig::Rig(const runtime::Context& context, const std::vector<Case>& cases)
    : touch_(context.replications(1, 0)),
      count_(context.replications(1, 1)),
      wrong_(context.device(), sizeof(std::uint32_t)),
      writes_(context.device().queue()),
      reads_(context.device().queue()),
      windows_(cases.size() + 1) {
  const std::size_t largest = largest_transfer(cases);
  for (auto* memory : {&source_pageable_, &source_aligned_, &target_pageable_, &target_aligned_}) {
    *memory = device::HostArray<std::byte>(largest + kPageBytes);
    std::fill(memory->span().begin(), memory->span().end(), std::byte{1});
  }
  contents_ = random_bytes(largest + (windows_ + 1) * kPageBytes, runtime::host_threads(context.ranks()));
  source_pinned_ = device::PinnedMemory(context.device(), largest);
  target_pinned_ = device::PinnedMemory(context.device(), largest);
  std::memset(source_pinned_.data(), 1, largest);
  std::memset(target_pinned_.data(), 1, largest);
  for (const Case& one : cases) {
    Buffers& set = buffers_[shape(one)];
    const auto kind = one.is_migration() ? device::MemoryKind::kHostPointer : device::MemoryKind::kBuffer;
    const auto fill = [&](std::vector<device::Buffer>& list) {
      while (list.size() < one.buffers) {
        // A sub-buffer is a view of the first half of a larger buffer.
        const std::size_t room = one.method == "sub-buffer" ? 2 * one.buffer_bytes() : one.buffer_bytes();
        const device::Buffer whole(context.device(), room, kind);
        list.push_back(one.method == "sub-buffer" ? whole.part(0, one.buffer_bytes()) : whole);
      }
    };
    if (one.writes()) fill(set.written);
    if (one.reads()) fill(set.read);
  }
}

std::tuple<std::size_t, std::size_t, bool> Rig::shape(const Case& one) {
  // Migrations have buffers of their own; a sub-buffer's are told apart by an odd key.
  return {one.buffer_bytes() + (one.method == "sub-buffer" ? 1 : 0), one.buffers, one.is_migration()};
}

std::byte* Rig::host(const Case& one, device::HostArray<std::byte>& pageable,
                     device::HostArray<std::byte>& aligned, device::PinnedMemory& pinned) {
  if (one.memory == "pageable") return pageable.data() + kOffPage;
  return one.memory == "pinned" ? pinned.data() : aligned.data();
}

void Rig::touch(device::Buffer& buffer, std::size_t bytes, std::uint32_t value) {
  touch_.set(0, {{"words", buffer}, {"pages", pages(bytes)}, {"value", value}});
  touch_.run("touch", {{}});
}

void Rig::fill_sources(const Case& one, std::uint32_t value) {
  window_ = (window_ + 1) % windows_;
  const std::size_t bytes = one.buffer_bytes();
  for (const bool writing : {true, false}) {
    for (std::size_t i = 0; i < one.buffers; ++i) {
      for (std::uint32_t page = 0; page < pages(bytes); ++page) {
        *word(wanted(writing) + i * bytes, page) = value + page;
      }
      if (!writing && one.reads()) buffers(one).read[i].write(writes_, wanted(false) + i * bytes, bytes);
    }
  }
  if (one.writes()) std::memcpy(source(one), wanted(true), one.bytes_each_way());
  writes_.finish();
}

void Rig::mark(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  if (!one.is_migration()) fill_sources(one, value);
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.writes()) {
      touch(buffers(one).written[i], bytes, ~value);
      if (one.is_migration()) {  // it moves what the host has written into its view of the buffer
        std::byte* const view = buffers(one).written[i].map(writes_, true, buffers(one).written[i].bytes());
        for (std::uint32_t page = 0; page < pages(bytes); ++page) *word(view, page) = value + page;
        buffers(one).mapped_to_write = view;
      }
    }
    if (one.reads()) {
      touch(buffers(one).read[i], bytes, value);
      if (one.is_migration()) continue;  // the host's side still has the marks of the repetition before
      std::byte* const memory = target(one) + i * bytes;
      for (std::uint32_t page = 0; page < pages(bytes); ++page) *word(memory, page) = ~value;
    }
  }
}

void Rig::enqueue(const Case& one, std::size_t i, bool writing) {
  const std::size_t bytes = one.buffer_bytes();
  Buffers& set = buffers(one);
  device::Buffer& buffer = writing ? set.written[i] : set.read[i];
  const device::Queue& queue = writing ? writes_ : reads_;
  if (one.is_migration()) {
    if (writing) buffer.unmap(queue, std::exchange(set.mapped_to_write, nullptr));
    buffer.migrate(queue, !writing);
    if (!writing) set.mapped_to_read = buffer.map(queue, false, buffer.bytes());
  } else if (writing) {
    buffer.write(queue, source(one) + i * bytes, bytes);
  } else {
    buffer.read(queue, target(one) + i * bytes, bytes);
  }
  queue.flush();
}

void Rig::transfer(const Case& one, bool lose_one) {
  const std::size_t count = one.buffers - (lose_one ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (one.writes()) enqueue(one, i, true);
    if (one.reads()) enqueue(one, i, false);
    if (one.method != "blocking") continue;
    writes_.finish();
    reads_.finish();
  }
  writes_.finish();
  reads_.finish();
}

std::size_t Rig::count_on_device(device::Buffer& buffer, std::size_t bytes, std::uint32_t value) {
  count_.set(0, {{"words", buffer}, {"pages", pages(bytes)}, {"value", value}, {"wrong", wrong_}});
  count_.run("count_wrong", {{}});
  std::uint32_t found = 0;
  wrong_.read(count_.queue(0), &found, sizeof(found));
  count_.queue(0).finish();
  return found;
}

std::size_t Rig::count_wrong(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  Buffers& set = buffers(one);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.reads()) {
      std::byte* const memory = one.is_migration() ? set.mapped_to_read : target(one) + i * bytes;
      for (std::uint32_t page = 0; page < pages(bytes); ++page) {
        wrong += memory == nullptr || *word(memory, page) != value + page ? 1 : 0;
      }
    }
    if (set.mapped_to_read != nullptr) set.read[i].unmap(reads_, std::exchange(set.mapped_to_read, nullptr));
    reads_.finish();
    if (set.mapped_to_write != nullptr) {  // a fault: it was never sent
      set.written[i].unmap(writes_, std::exchange(set.mapped_to_write, nullptr));
      writes_.finish();
      wrong += pages(bytes);
    } else if (one.writes()) {
      wrong += count_on_device(set.written[i], bytes, value);
    }
  }
  return wrong;
}

std::size_t Rig::compare_all(const Case& one) {
  if (one.is_migration()) return 0;
  const std::size_t bytes = one.buffer_bytes();
  std::size_t wrong = one.reads() ? count_different(target(one), wanted(false), one.bytes_each_way()) : 0;
  for (std::size_t i = 0; one.writes() && i < one.buffers; ++i) {
    device::Buffer& buffer = buffers(one).written[i];
    std::byte* const arrived = buffer.map(reads_, false, bytes);
    reads_.finish();
    wrong += count_different(arrived, wanted(true) + i * bytes, bytes);
    buffer.unmap(reads_, arrived);
    reads_.finish();
  }
  return wrong;
}

}  // namespace fabricmark::host_transfer
