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

/// Of a repetition.
std::size_t transfers_of(const std::vector<Case>& cases) {
  std::size_t transfers = 0;
  for (const Case& one : cases) transfers += one.in_a_row();
  return transfers;
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

/// Bytes of the memory object of a buffer: a sub-buffer is a view of the first half of a larger one.
std::size_t object_bytes(const Case& one) { return one.buffer_bytes() * (one.is_part() ? 2 : 1); }

}  // namespace

Rig::Rig(const runtime::Context& context, const std::vector<Case>& cases, WorkItems work_items,
         const device::Placement& place, bool times_migrations)
    : computes_(context.computes()),
      timeline_(context.timeline()),
      times_migrations_(times_migrations),
      marks_(context, work_items),
      windows_(transfers_of(cases) + 1) {
  const std::size_t largest = largest_transfer(cases);
  for (auto* memory : {&source_pageable_, &source_aligned_, &target_pageable_, &target_aligned_}) {
    *memory = device::HostArray<std::byte>(largest + kPageBytes);
    if (computes_) std::fill(memory->span().begin(), memory->span().end(), std::byte{1});
  }
  if (computes_)
    contents_ = random_bytes(largest + (windows_ + 1) * kPageBytes, runtime::host_threads(context.ranks()));
  source_pinned_ = device::PinnedMemory(context.device(), largest);
  target_pinned_ = device::PinnedMemory(context.device(), largest);
  for (auto* memory : {&source_pinned_, &target_pinned_}) {
    if (computes_) std::memset(memory->data(), 1, largest);
  }
  for (const Case& one : cases) {
    while (writes_.size() < one.queues()) {
      writes_.push_back(context.device().queue(timeline_.enabled()));
      reads_.push_back(context.device().queue(timeline_.enabled()));
    }
    if (!one.is_ordered() && !unordered_) unordered_ = context.device().unordered_queue(timeline_.enabled());
    Buffers& known = buffers_[key(one)];
    Buffers made = make_buffers(context.device(), one, place);
    if (known.written.empty()) std::swap(known.written, made.written);
    if (known.read.empty()) std::swap(known.read, made.read);
    std::ranges::move(made.host, std::back_inserter(known.host));
    known.views_written.resize(one.buffers);
    known.views_read.resize(one.buffers);
  }
}

Rig::Buffers Rig::make_buffers(const device::Device& device, const Case& one,
                               const device::Placement& place) const {
  Buffers made;
  const auto known = buffers_.find(key(one));
  const auto make = [&]() -> device::Buffer {
    if (!one.is_in_place()) return {device, one.buffer_bytes(), device::MemoryKind::kBuffer, place};
    const std::size_t bytes = object_bytes(one);
    made.host.emplace_back(bytes + kOffPage);
    std::byte* const start = made.host.back().data() + (one.memory == "pageable" ? kOffPage : 0);
    if (computes_) std::memset(start, 1, bytes);
    const device::Buffer whole = device::buffer_over(device, {start, bytes}, place);
    return one.is_part() ? whole.part(0, one.buffer_bytes()) : whole;
  };
  while (one.writes() && known->second.written.empty() && made.written.size() < one.buffers) {
    made.written.push_back(make());
  }
  while (one.reads() && known->second.read.empty() && made.read.size() < one.buffers) {
    made.read.push_back(make());
  }
  return made;
}

double Rig::bytes_in_place(const std::vector<Case>& cases) {
  std::set<Key> seen;
  double bytes = 0;
  for (const Case& one : cases) {
    if (!one.is_in_place() || !seen.insert(key(one)).second) continue;
    bytes += 2.0 * static_cast<double>(one.buffers * object_bytes(one));
  }
  return bytes;
}

Rig::Key Rig::key(const Case& one) {
  const std::string under = one.is_part() ? one.method : one.is_in_place() ? one.memory : "";
  return {one.buffer_bytes(), one.buffers, under};
}

std::byte* Rig::host(const Case& one, device::HostArray<std::byte>& pageable,
                     device::HostArray<std::byte>& aligned, device::PinnedMemory& pinned) {
  if (one.memory == "pageable") return pageable.data() + kOffPage;
  return one.memory == "pinned" ? pinned.data() : aligned.data();
}

const device::Queue& Rig::queue(const Case& one, std::size_t buffer, bool writing) const {
  if (!one.is_ordered()) return *unordered_;
  return (writing ? writes_ : reads_)[buffer % one.queues()];
}

void Rig::finish(const Case& one) const {
  if (!one.is_ordered()) return unordered_->finish();
  for (std::size_t i = 0; i < one.queues(); ++i) {
    if (one.writes()) writes_[i].finish();
    if (one.reads()) reads_[i].finish();
  }
}

void Rig::fill_sources(const Case& one, std::uint32_t value) {
  window_ = (window_ + 1) % windows_;
  const std::size_t bytes = one.buffer_bytes();
  for (const bool writing : {true, false}) {
    for (std::size_t i = 0; i < one.buffers; ++i) {
      put_marks(wanted(writing) + i * bytes, bytes, value);
      if (!writing && one.reads()) buffers(one).read[i].write(writes_[0], wanted(false) + i * bytes, bytes);
    }
  }
  if (one.writes()) std::memcpy(source(one), wanted(true), one.bytes_each_way());
  writes_[0].finish();
}

void Rig::mark(const Case& one, std::uint32_t value) {
  if (one.is_in_place()) return mark_in_place(one, value);
  if (!computes_) return;
  const std::size_t bytes = one.buffer_bytes();
  fill_sources(one, value);
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.writes()) marks_.put(buffers(one).written[i], ~value);
    if (one.reads()) {
      marks_.put(buffers(one).read[i], value);
      put_marks(target(one) + i * bytes, bytes, ~value);
    }
  }
}

void Rig::mark_in_place(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  Buffers& set = buffers(one);
  set.moved = 0;
  for (std::size_t i = 0; i < one.buffers; ++i) {
    // The host's side of what is read still has the marks of the repetition before.
    if (one.reads()) marks_.put(set.read[i], value);
    if (!one.writes()) continue;
    marks_.put(set.written[i], ~value);
    std::byte* const view = set.written[i].map(writes_[0], /*for_writing=*/true, bytes);
    if (computes_) put_marks(view, bytes, value);
    if (one.is_map()) {
      set.views_written[i] = view;
    } else {
      set.written[i].unmap(writes_[0], view);
    }
  }
  writes_[0].finish();
  if (!one.is_migration() || !one.writes()) return;
  device::migrate(writes_[0], set.written, /*to_host=*/true);
  writes_[0].finish();
}

void Rig::note(const Case& one, const char* command, std::size_t buffer) {
  if (one.is_migration() && !times_migrations_) return;
  if (timeline_.enabled()) timeline_.add(one.name(), command, static_cast<int>(buffer), event_);
}

void Rig::copy(const Case& one, std::size_t i, bool writing) {
  const std::size_t bytes = one.buffer_bytes();
  Buffers& set = buffers(one);
  if (writing) {
    set.written[i].write(queue(one, i, true), source(one) + i * bytes, bytes, 0, event());
  } else {
    set.read[i].read(queue(one, i, false), target(one) + i * bytes, bytes, 0, event());
  }
  note(one, writing ? "write" : "read", i);
  queue(one, i, writing).flush();
}

void Rig::map(const Case& one, std::size_t i, bool writing) {
  Buffers& set = buffers(one);
  if (writing) {
    set.written[i].unmap(writes_[0], std::exchange(set.views_written[i], nullptr), event());
  } else {
    set.views_read[i] = set.read[i].map(reads_[0], /*for_writing=*/false, one.buffer_bytes(), 0, event());
  }
  note(one, writing ? "unmap" : "map", i);
  (writing ? writes_ : reads_)[0].flush();
}

void Rig::migrate(const Case& one, std::size_t count, bool writing) {
  if (count == 0) return;
  Buffers& set = buffers(one);
  const device::Queue& queue = (writing ? writes_ : reads_)[0];
  device::migrate(queue, {(writing ? set.written : set.read).data(), count}, /*to_host=*/!writing, event());
  note(one, writing ? "migrate to device" : "migrate to host", 0);
  queue.flush();
}

void Rig::transfer(const Case& one, bool lose_one) {
  const std::size_t count = one.buffers - (lose_one ? 1 : 0);
  if (one.is_migration()) {
    if (one.writes()) migrate(one, count, true);
    if (one.reads()) migrate(one, count, false);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      for (const bool writing : {true, false}) {
        if (!(writing ? one.writes() : one.reads())) continue;
        one.is_map() ? map(one, i, writing) : copy(one, i, writing);
      }
      if (one.method == "blocking") finish(one);
    }
  }
  finish(one);
  if (one.is_in_place()) buffers(one).moved = count;
}

std::size_t Rig::count_wrong(const Case& one, std::uint32_t value) {
  if (one.is_in_place()) return count_wrong_in_place(one, value);
  const std::size_t bytes = one.buffer_bytes();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < one.buffers; ++i) {
    if (one.reads()) wrong += count_wrong_marks(target(one) + i * bytes, bytes, value);
    if (one.writes()) wrong += marks_.count_wrong(buffers(one).written[i], value);
  }
  return wrong;
}

std::size_t Rig::count_wrong_in_place(const Case& one, std::uint32_t value) {
  const std::size_t bytes = one.buffer_bytes();
  Buffers& set = buffers(one);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < one.buffers; ++i) {
    const bool is_moved = i < set.moved;
    if (one.writes()) {
      if (std::byte* const left = std::exchange(set.views_written[i], nullptr)) {
        set.written[i].unmap(writes_[0], left);
        writes_[0].finish();
      }
      wrong += is_moved ? marks_.count_wrong(set.written[i], value) : pages_of(bytes);
    }
    if (!one.reads()) continue;
    std::byte* view = std::exchange(set.views_read[i], nullptr);
    if (view == nullptr) view = set.read[i].map(reads_[0], /*for_writing=*/false, bytes);
    reads_[0].finish();
    wrong += is_moved ? count_wrong_marks(view, bytes, value) : pages_of(bytes);
    set.read[i].unmap(reads_[0], view);
    reads_[0].finish();
  }
  return wrong;
}

std::size_t Rig::compare_all(const Case& one) {
  if (one.is_in_place()) return 0;
  const std::size_t bytes = one.buffer_bytes();
  std::size_t wrong = one.reads() ? count_different(target(one), wanted(false), one.bytes_each_way()) : 0;
  for (std::size_t i = 0; one.writes() && i < one.buffers; ++i) {
    device::Buffer& buffer = buffers(one).written[i];
    std::byte* const arrived = buffer.map(reads_[0], false, bytes);
    reads_[0].finish();
    wrong += count_different(arrived, wanted(true) + i * bytes, bytes);
    buffer.unmap(reads_[0], arrived);
    reads_[0].finish();
  }
  return wrong;
}

}  // namespace fabricmark::host_transfer
