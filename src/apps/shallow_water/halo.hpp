#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/shallow_water/local_mesh.hpp"
#include "benchmarks/common/halo_sums.hpp"
#include "runtime/context.hpp"
#include "transport/transport.hpp"

namespace fabricmark::shallow_water {

/// What a rank exchanges with its neighbours in each stage: kernels pack what leaves, one message goes to
/// each neighbour and comes from it, kernels unpack what came.
class Halo {
 public:
  /// `numbers` of `number_bytes` of each element. Collective.
  Halo(const runtime::Context& context, const LocalMesh& local, std::size_t numbers,
       std::size_t number_bytes);

  [[nodiscard]] bool is_empty() const { return messages_out_.empty(); }
  /// Starts the exchange of a state, once what is queued is done.
  void start(const device::Queue& queue, const device::Buffer& state);
  /// Waits for it, and has what came put into the state.
  void finish(const device::Queue& queue, const device::Buffer& state);
  /// Of all exchanges so far, which have to be done.
  [[nodiscard]] common::HaloSums sums(const device::Queue& queue) const;

 private:
  /// Elements of all messages of one direction, for the kernel that packs or unpacks them.
  struct Side {
    device::Replications kernel;
    device::Buffer places, targets, spans;
    device::Buffer marks;  ///< of each element, what all exchanges have made of it
    std::size_t count = 0;
    std::unique_ptr<transport::Memory> memory;  ///< of the messages, where the transport reaches it
    std::optional<device::Buffer> own{};        ///< of the kernel, where that is not the device's
    [[nodiscard]] const device::Buffer& packed() const { return own ? *own : memory->device(); }
  };
  std::unique_ptr<Side> side(const runtime::Context& context, std::size_t entry, bool is_sent);
  void run(Side& side, const device::Queue& queue, const device::Buffer& state, device::Event* done) const;

  const LocalMesh& local_;
  std::size_t numbers_;
  std::size_t number_bytes_;
  std::size_t work_group_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<Side> sent_, received_;
  std::vector<transport::Message> messages_out_, messages_in_;
  device::Event under_way_;
  bool has_exchanged_ = false;
};

}  // namespace fabricmark::shallow_water
