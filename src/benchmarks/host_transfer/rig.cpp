#include "benchmarks/host_transfer/rig.hpp"

#include <algorithm>
#include <cstring>

namespace fabricmark::host_transfer {

namespace {

// Pageable memory starts off a page, as an array from new or malloc does.
constexpr std::size_t kOffPage = 64;

std::size_t largest_transfer(const std::vector<Case>& cases) {
  std::size_t bytes = device::kPageBytes;
  for (const Case& one : cases) bytes = std::max(bytes, one.bytes_each_way());
  return bytes;
}

std::uint32_t* word(std::byte* memory, std::size_t page) {
  return reinterpret_cast<std::uint32_t*>(memory + page * device::kPageBytes);
}

std::byte content(std::size_t i, std::size_t salt) { return std::byte(((i + salt) * 31 + (i >> 9)) & 0xFF); }

cl_uint pages(std::size_t bytes) { return static_cast<cl_uint>(bytes / device::kPageBytes); }

}  // namespace

Rig::Rig(const harness::Context& context, const std::vector<Case>& cases)
    : context_(context),
      touch_(context.replications(1, 0)),
      count_(context.replications(1, 1)),
      wrong_(context.device(), sizeof(cl_uint)),
      writes_(context.device().queue()),
      reads_(context.device().queue()) {
  const std::size_t largest = largest_transfer(cases);
  for (auto* memory : {&source_pageable_, &source_aligned_, &target_pageable_, &target_aligned_}) {
    *memory = device::HostArray<std::byte>(largest + device::kPageBytes);
    std::fill(memory->span().begin(), memory->span().end(), std::byte{1});
  }
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
  buffer.set_argument(touch_.kernel(0), 0);
  touch_.kernel(0).setArg(1, pages(bytes));
  touch_.kernel(0).setArg(2, static_cast<cl_uint>(value));
  touch_.run("touch", {{}});
}

void Rig::mark(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.writes()) {
      touch(buffers(one).written[i], bytes, ~value);
      std::byte* const memory = source(one) + i * bytes;
      for (cl_uint page = 0; page < pages(bytes); ++page) *word(memory, page) = value + page;
      if (one.is_migration()) buffers(one).written[i].fill_host(memory, bytes);
    }
    if (one.reads()) {
      touch(buffers(one).read[i], bytes, value);
      std::byte* const memory = target(one) + i * bytes;
      for (cl_uint page = 0; page < pages(bytes); ++page) *word(memory, page) = ~value;
    }
  }
}

void Rig::enqueue(const Case& one, std::size_t i, bool writing) {
  const std::size_t bytes = one.buffer_bytes();
  device::Buffer& buffer = writing ? buffers(one).written[i] : buffers(one).read[i];
  const cl::CommandQueue& queue = writing ? writes_ : reads_;
  if (one.is_migration()) {
    buffer.migrate(queue, !writing);
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

std::size_t Rig::count_wrong(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.writes()) {
      buffers(one).written[i].set_argument(count_.kernel(0), 0);
      count_.kernel(0).setArg(1, pages(bytes));
      count_.kernel(0).setArg(2, static_cast<cl_uint>(value));
      wrong_.set_argument(count_.kernel(0), 3);
      count_.run("count_wrong", {{}});
      cl_uint found = 0;
      wrong_.read(count_.queue(0), &found, sizeof(found));
      count_.queue(0).finish();
      wrong += found;
    }
    if (one.reads()) {
      if (one.is_migration()) buffers(one).read[i].copy_host(target(one) + i * bytes, bytes);
      const std::byte* const memory = target(one) + i * bytes;
      for (cl_uint page = 0; page < pages(bytes); ++page) {
        wrong += *word(const_cast<std::byte*>(memory), page) != value + page ? 1 : 0;
      }
    }
  }
  return wrong;
}

std::size_t Rig::compare_all(const Case& one, bool lose_one) {
  if (one.is_migration()) return 0;  // the marks of every page were compared in each repetition
  const std::size_t bytes = one.buffer_bytes();
  const std::size_t total = one.bytes_each_way();
  std::vector<std::byte> other(total);
  for (std::size_t i = 0; i < total; ++i) {
    source(one)[i] = content(i, 1);
    target(one)[i] = std::byte{0};
    other[i] = content(i, 2);
  }
  for (std::size_t i = 0; one.reads() && i < one.buffers; ++i) {
    buffers(one).read[i].write(writes_, other.data() + i * bytes, bytes);
  }
  writes_.finish();
  transfer(one, lose_one);
  std::size_t wrong = 0;
  for (std::size_t i = 0; one.reads() && i < total; ++i) wrong += target(one)[i] != other[i] ? 1 : 0;
  if (!one.writes()) return wrong;
  for (std::size_t i = 0; i < one.buffers; ++i)
    buffers(one).written[i].read(reads_, other.data() + i * bytes, bytes);
  reads_.finish();
  for (std::size_t i = 0; i < total; ++i) wrong += other[i] != source(one)[i] ? 1 : 0;
  return wrong;
}

}  // namespace fabricmark::host_transfer
