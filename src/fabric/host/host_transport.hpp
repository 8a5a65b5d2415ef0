#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/messages.hpp"
#include "fabric/transfer.hpp"
#include "fabric/transport.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::fabric {

/// How messages of a size travel over the host.
struct HostWay {
  std::size_t piece_bytes = 0;  ///< of the pieces, whose copies and transfers overlap; 0: whole
  bool is_mapped = false;       ///< from the host's view of memory that is its own anyway, without copies
};

/// Messages between the device memories of ranks over their hosts: device, host, MPI, host, device
/// (Meyer 2024, section 4.1.1.1). How a device is reached is each rank's own matter; in which pieces their
/// messages travel, two ranks agree when the transport is made, or by what all have measured in `tune`.
class HostTransport : public Transport {
 public:
  /// As measured by `tune`; before that, messages of more than 256 KiB in pieces or mapped.
  static constexpr std::int64_t kMeasured = -1;

  /// Messages longer than `chunk_bytes` go in chunks of so many bytes, or where the device's memory is the
  /// host's and `zero_copy` is set, from mapped memory; 0: all whole. Collective: the ranks tell each other
  /// the pieces that they need.
  HostTransport(const runtime::Context& context, std::int64_t chunk_bytes, bool zero_copy = true,
                Waiting waiting = Waiting::kSpin);
  [[nodiscard]] std::string name() const override { return "host"; }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation /*operation*/) const override {
    return device::is_on_device(from) && device::is_on_device(to);
  }
  [[nodiscard]] bool is_over_hosts() const override { return true; }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  [[nodiscard]] std::vector<std::string> ways(std::size_t bytes) const override;
  void take(std::size_t size_class, const std::string& way) override;
  [[nodiscard]] std::unique_ptr<Steps> steps() override;

  /// Bytes of the pieces that a message travels in: all of it, where it is not cut.
  [[nodiscard]] std::size_t piece_bytes(const Message& message) const;

 private:
  friend class StagedTransfer;
  friend class MappedTransfer;
  friend class HostSteps;
  [[nodiscard]] HostWay way(std::size_t bytes) const;
  [[nodiscard]] bool is_measured() const { return chunk_bytes_ < 0; }
  /// The ways that may be the fastest for a size; on all ranks the same.
  [[nodiscard]] static std::vector<HostWay> ways_to_try(std::size_t bytes, bool may_map);

  const device::Device& device_;
  double timeout_;
  Waiting waiting_;
  bool is_timed_;
  device::MemoryKind memory_;
  std::int64_t chunk_bytes_;
  bool zero_copy_;
  bool may_map_ = false;  ///< any rank may
  bool shares_memory_;    ///< the device's memory is the host's, and its copies run on the host's cores
  std::vector<HostWay>
      measured_;  ///< [size class]; empty before it was measured; `way`, which the next needs, looks at it
  std::vector<std::size_t> pieces_;  ///< bytes, agreed with each rank; 0: messages travel whole
  device::Queue reads_;
  device::Queue writes_;
  Transfers transfers_;
};

}  // namespace fabricmark::fabric
