#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/host_transfer/cases.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

/// The device buffers and host memories of all cases, and the transfers between them. Everything is allocated
/// before the first timed part.
class Rig {
 public:
  Rig(const runtime::Context& context, const std::vector<Case>& cases);

  /// Gives the source of a case contents that its destination cannot have, and makes both differ in a word of
  /// each page, by which the copy is known when it has arrived: the touch kernel on the device's side, the
  /// host on its own.
  void mark(const Case& one, std::uint32_t value);
  /// The transfer itself, complete when it returns. With `lose_one` the last copy is left out.
  void transfer(const Case& one, bool lose_one);
  /// Number of pages in which the mark of `value` has not arrived.
  std::size_t count_wrong(const Case& one, std::uint32_t value);
  /// Compares every byte that the transfer moved; returns the number of wrong ones. Of migrations nothing:
  /// the marks of all their pages are compared.
  std::size_t compare_all(const Case& one);

 private:
  /// Device buffers of one size: those written to and those read from.
  struct Buffers {
    std::vector<device::Buffer> written;
    std::vector<device::Buffer> read;
    /// The host's views of the only buffers of a migration, while it has them.
    std::byte* mapped_to_write = nullptr;
    std::byte* mapped_to_read = nullptr;
  };
  static std::tuple<std::size_t, std::size_t, bool> shape(const Case& one);
  Buffers& buffers(const Case& one) { return buffers_.at(shape(one)); }
  /// Host memory that a case writes from or reads into.
  std::byte* source(const Case& one) { return host(one, source_pageable_, source_aligned_, source_pinned_); }
  std::byte* target(const Case& one) { return host(one, target_pageable_, target_aligned_, target_pinned_); }
  static std::byte* host(const Case& one, device::HostArray<std::byte>& pageable,
                         device::HostArray<std::byte>& aligned, device::PinnedMemory& pinned);
  /// What the transfer under way moves to the device, or from it: windows of their own.
  std::byte* wanted(bool writing) {
    return contents_.data() + window_ * device::kPageBytes + (writing ? 0 : device::kPageBytes / 2);
  }
  void fill_sources(const Case& one, std::uint32_t value);
  void enqueue(const Case& one, std::size_t i, bool writing);
  std::size_t count_on_device(device::Buffer& buffer, std::size_t bytes, std::uint32_t value);
  void touch(device::Buffer& buffer, std::size_t bytes, std::uint32_t value);

  device::Replications touch_;
  device::Replications count_;
  device::Buffer wrong_;
  device::Queue writes_;
  device::Queue reads_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, Buffers> buffers_;
  device::HostArray<std::byte> source_pageable_, source_aligned_, target_pageable_, target_aligned_;
  /// Random bytes. What a transfer moves is a window of them, and the windows of as many transfers in a row
  /// as there are cases differ, so that all that a destination can still hold is wrong.
  device::HostArray<std::byte> contents_;
  std::size_t windows_;
  std::size_t window_ = 0;  ///< of the transfer under way
  device::PinnedMemory source_pinned_, target_pinned_;
};

}  // namespace fabricmark::host_transfer
