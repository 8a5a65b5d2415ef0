#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/host_transfer/cases.hpp"
#include "benchmarks/host_transfer/marks.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

/// The device buffers and host memories of all cases, and the transfers between them. Everything is allocated
/// before the first timed region.
class Rig {
 public:
  /// `place` in the device's memory. `times_migrations`: whether their events
  /// have times, and so a place in a timeline.
  Rig(const runtime::Context& context, const std::vector<Case>& cases, WorkItems work_items,
      const device::Placement& place, bool times_migrations);
  /// Bytes of the buffers in place, and of as much memory of the host under them.
  static double bytes_in_place(const std::vector<Case>& cases);

  /// Gives the source of a case contents that its destination cannot have, and makes both differ in a mark of
  /// each page, by which the copy is known when it has arrived: the touch kernel on the device's side, the
  /// host on its own. Of what is in place the host maps the buffer to do so, and unmaps it but where that is
  /// what is measured; before a migration to the device the buffer is moved to the host, as unmapping it may
  /// have moved it already.
  void mark(const Case& one, std::uint32_t value);
  /// The transfer itself, complete when it returns. With `lose_one` the last buffer is left out.
  void transfer(const Case& one, bool lose_one);
  /// Number of pages in which the mark of `value` has not arrived, or which were not moved: the contents of a
  /// buffer in place are the same wherever it lies.
  std::size_t count_wrong(const Case& one, std::uint32_t value);
  /// Compares every byte that the transfer moved; returns the number of wrong ones. Of what is in place
  /// nothing: the marks of all its pages are compared.
  std::size_t compare_all(const Case& one);

 private:
  /// Device buffers of one size: those written to and those read from.
  struct Buffers {
    std::vector<device::HostArray<std::byte>> host;  ///< under those in place
    std::vector<device::Buffer> written;
    std::vector<device::Buffer> read;
    /// The host's views of those in place, while it has them.
    std::vector<std::byte*> views_written, views_read;
    std::size_t moved = 0;  ///< of those in place, each way
  };
  /// Cases with the same key share their buffers: bytes and number of them, and what lies under them.
  using Key = std::tuple<std::size_t, std::size_t, std::string>;
  static Key key(const Case& one);
  [[nodiscard]] Buffers make_buffers(const device::Device& device, const Case& one,
                                     const device::Placement& place) const;
  Buffers& buffers(const Case& one) { return buffers_.at(key(one)); }
  /// Host memory that a case writes from or reads into.
  std::byte* source(const Case& one) { return host(one, source_pageable_, source_aligned_, source_pinned_); }
  std::byte* target(const Case& one) { return host(one, target_pageable_, target_aligned_, target_pinned_); }
  static std::byte* host(const Case& one, device::HostArray<std::byte>& pageable,
                         device::HostArray<std::byte>& aligned, device::PinnedMemory& pinned);
  /// What the transfer in flight moves to the device, or from it: windows of their own.
  std::byte* wanted(bool writing) {
    return contents_.data() + window_ * device::kPageBytes + (writing ? 0 : device::kPageBytes / 2);
  }
  [[nodiscard]] const device::Queue& queue(const Case& one, std::size_t buffer, bool writing) const;
  void finish(const Case& one) const;
  void fill_sources(const Case& one, std::uint32_t value);
  void mark_in_place(const Case& one, std::uint32_t value);
  std::size_t count_wrong_in_place(const Case& one, std::uint32_t value);
  void copy(const Case& one, std::size_t i, bool writing);
  void migrate(const Case& one, std::size_t count, bool writing);
  void map(const Case& one, std::size_t i, bool writing);
  /// Where the command's event goes when a timeline is kept, else nowhere.
  [[nodiscard]] device::Event* event() { return timeline_.enabled() ? &event_ : nullptr; }
  void note(const Case& one, const char* command, std::size_t buffer);

  bool computes_;  ///< else nothing is moved, and there is nothing to mark
  device::Timeline& timeline_;
  bool times_migrations_;
  device::Event event_;
  DeviceMarks marks_;
  std::vector<device::Queue> writes_, reads_;
  std::optional<device::Queue> unordered_;
  std::map<Key, Buffers> buffers_;
  device::HostArray<std::byte> source_pageable_, source_aligned_, target_pageable_, target_aligned_;
  /// Random bytes. What a transfer moves is a window of them, and the windows of as many transfers in a row
  /// as a repetition has differ, so that all that a destination can still hold is wrong.
  device::HostArray<std::byte> contents_;
  std::size_t windows_;
  std::size_t window_ = 0;  ///< of the transfer in flight
  device::PinnedMemory source_pinned_, target_pinned_;
};

}  // namespace fabricmark::host_transfer
