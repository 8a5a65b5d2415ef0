#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "benchmarks/common/halo_message.hpp"
#include "benchmarks/common/halo_puts.hpp"
#include "benchmarks/common/halo_sums.hpp"
#include "runtime/context.hpp"
#include "transport/transport.hpp"

namespace fabricmark::common {

/// Halos of a rank, by kernels that work beside its steps: one packs what leaves, one message goes to each
/// neighbour and one comes from it, another one unpacks what came.
class HaloMessages {
 public:
  /// One that has no neighbours.
  HaloMessages() = default;
  /// Of kernels with these entry points, by messages in the order of their numbers in the packed memory,
  /// which have `number_bytes` each. Collective.
  struct Direction {
    std::size_t entry = 0;
    std::vector<HaloMessage> messages{};
  };
  HaloMessages(const runtime::Context& context, const Direction& sent, const Direction& received,
               std::size_t number_bytes, const HaloPuts::Use& use = {});

  [[nodiscard]] bool is_empty() const { return sent_ == nullptr; }
  /// The kernels, which have their arguments `packed` and `marks`.
  [[nodiscard]] device::Replications& pack() { return sent_->kernel; }
  [[nodiscard]] device::Replications& unpack() { return received_->kernel; }

  /// Their marks, by message and element.
  [[nodiscard]] const device::Buffer& sent_marks() const { return sent_->marks; }
  [[nodiscard]] const device::Buffer& received_marks() const { return received_->marks; }
  /// Null where halos go by messages; else in the place of `start` and `finish`.
  [[nodiscard]] HaloPuts* puts() { return puts_.get(); }
  [[nodiscard]] const HaloPuts* puts() const { return puts_.get(); }
  /// To be said with an exchange by `puts`.
  void note_exchange() { has_exchanged_ = true; }

  /// Queues what packs; its last command ends with the event.
  using Pack = std::function<void(device::Event* done)>;
  /// Has what is queued and `pack` done, and the messages started behind it.
  void start(const device::Queue& queue, const Pack& pack);
  /// Waits for them; what is queued next, finds what came.
  void finish(const device::Queue& queue);
  /// Of all exchanges so far, which have to be done.
  [[nodiscard]] HaloSums sums(const device::Queue& queue) const;

 private:
  /// All messages of one direction.
  struct Side {
    device::Replications kernel;
    device::Buffer marks;                       ///< what all exchanges have made of them
    std::unique_ptr<transport::Memory> memory;  ///< of the messages, where the transport reaches it
    std::vector<HaloMessage> parts;
    std::vector<transport::Message> messages{};
    std::optional<device::Buffer> own{};  ///< of the kernel, where that memory is not the device's
  };
  std::unique_ptr<Side> side(const runtime::Context& context, const Direction& direction, std::size_t longest,
                             std::size_t number_bytes);
  /// What the marks of a direction come to, by neighbour.
  [[nodiscard]] std::vector<unsigned long long> folded(const device::Queue& queue, const Side& side,
                                                       std::size_t& unchanged) const;
  [[nodiscard]] std::vector<std::int32_t> neighbours() const;

  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<Side> sent_, received_;
  std::unique_ptr<HaloPuts> puts_;
  device::Event in_flight_;
  bool has_exchanged_ = false;
};

}  // namespace fabricmark::common
