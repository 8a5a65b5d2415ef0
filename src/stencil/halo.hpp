#pragma once

#include <vector>

#include "benchmarks/common/halo_messages.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"

namespace fabricmark::stencil {

/// Ghost rows of a part, which come from the ranks below and above it in each launch, as whole rows.
class Halo {
 public:
  /// `rows` of so many bytes a number go each way; `pitch` columns of a row. Collective.
  Halo(const runtime::Context& context, const Problem& problem, const Part& part, std::size_t rows,
       std::size_t pitch, std::size_t number_bytes);

  /// Exchanges those of a state behind what is queued; what is queued next has them.
  void exchange(const device::Queue& queue, const device::Buffer& state);
  /// Of all exchanges so far, which have to be done.
  [[nodiscard]] common::HaloSums sums(const device::Queue& queue) const { return messages_.sums(queue); }

 private:
  /// A neighbour: the first row that goes to it, and the first one that comes from it, from the first ghost
  /// row.
  struct Neighbour {
    int rank = 0;
    std::size_t leaving = 0;
    std::size_t arriving = 0;
    [[nodiscard]] bool is_below() const { return arriving == 1; }
  };
  static std::vector<Neighbour> neighbours_of(const runtime::Context& context, const Problem& problem,
                                              const Part& part, std::size_t rows);
  /// Queues the kernel once for each neighbour. `done`: of the last one; may be null.
  void run(device::Replications& kernel, std::size_t Neighbour::*row, const device::Queue& queue,
           const device::Buffer& state, device::Event* done) const;

  std::size_t pitch_;
  std::size_t numbers_;                ///< of a message
  std::vector<Neighbour> neighbours_;  ///< below, above
  common::HaloMessages messages_;
};

}  // namespace fabricmark::stencil
