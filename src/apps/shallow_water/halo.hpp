#pragma once

#include <cstdint>
#include <vector>

#include "apps/shallow_water/local_mesh.hpp"
#include "benchmarks/common/halo_messages.hpp"
#include "runtime/context.hpp"

namespace fabricmark::shallow_water {

/// What a rank exchanges with its neighbours in each stage: numbers of elements at their common edges.
class Halo {
 public:
  /// `numbers` of `number_bytes` of each element. Collective.
  Halo(const runtime::Context& context, const LocalMesh& local, std::size_t numbers,
       std::size_t number_bytes);
  /// Throws DeadlineError where a kernel has given up waiting for another rank; all has to be done.
  void check(const device::Queue& queue);
  /// Whether kernels write to other ranks' memory themselves.
  [[nodiscard]] bool is_one_sided() const { return messages_.puts() != nullptr; }

  [[nodiscard]] bool is_empty() const { return messages_.is_empty(); }
  /// Starts the exchange of a state, once what is queued is done.
  void start(const device::Queue& queue, const device::Buffer& state);
  /// Waits for it, and has what came put into the state.
  void finish(const device::Queue& queue, const device::Buffer& state);
  /// Of all exchanges so far, which have to be done.
  [[nodiscard]] common::HaloSums sums(const device::Queue& queue) const { return messages_.sums(queue); }

 private:
  /// Elements of all messages of one direction, for the kernel that packs or unpacks them.
  struct Elements {
    std::vector<device::Buffer> buffers{};
    std::size_t count = 0;
  };
  Elements set_elements(const runtime::Context& context, const LocalMesh& local, bool is_sent,
                        std::size_t numbers);
  static void set(device::Replications& kernel, const Elements& elements, std::size_t stride);
  void set_puts(const LocalMesh& local);
  [[nodiscard]] device::Geometry geometry(std::size_t count) const;
  void run(device::Replications& kernel, std::size_t count, const device::Queue& queue,
           const device::Buffer& state, device::Event* done) const;

  std::size_t work_group_;
  common::HaloMessages messages_;
  Elements sent_, received_;
  std::vector<device::Geometry> puts_;  // [message that leaves]
};

}  // namespace fabricmark::shallow_water
