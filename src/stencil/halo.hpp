#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "benchmarks/common/halo_sums.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"
#include "transport/transport.hpp"

namespace fabricmark::stencil {

/// Ghost rows of a part, which come from the ranks below and above it in each launch: kernels pack whole
/// rows, one message goes to each neighbour and comes from it, kernels unpack what came.
class Halo {
 public:
  /// `rows` of so many bytes go each way; `pitch` columns of a row. Collective.
  Halo(const runtime::Context& context, const Problem& problem, const Part& part, std::size_t rows,
       std::size_t pitch, std::size_t number_bytes);

  /// Exchanges those of a state, once what is queued is done.
  void exchange(const device::Queue& queue, const device::Buffer& state);
  /// Of all exchanges so far, which have to be done.
  [[nodiscard]] common::HaloSums sums(const device::Queue& queue) const;

 private:
  /// A neighbour: the first row that goes to it, and the first one that comes from it, from the first ghost
  /// row.
  struct Neighbour {
    int rank = 0;
    std::size_t leaving = 0;
    std::size_t arriving = 0;
  };
  /// All messages of one direction.
  struct Side {
    device::Replications kernel;
    device::Buffer marks;
    std::unique_ptr<transport::Memory> memory;  ///< of the messages, where the transport reaches it
    std::optional<device::Buffer> own{};        ///< of the kernel, where that is not the device's
    [[nodiscard]] const device::Buffer& packed() const { return own ? *own : memory->device(); }
  };
  std::unique_ptr<Side> side(const runtime::Context& context, bool is_sent);
  void run(Side& side, const device::Queue& queue, const device::Buffer& state, bool is_sent) const;
  /// What the marks of a direction come to, by neighbour.
  [[nodiscard]] std::vector<unsigned long long> folded(const device::Queue& queue, const Side& side,
                                                       bool is_sent, std::size_t& unchanged) const;
  [[nodiscard]] std::vector<std::int32_t> ranks_beside() const;

  std::size_t rows_;
  std::size_t pitch_;
  std::size_t numbers_;  ///< of a message
  std::size_t number_bytes_;
  std::vector<Neighbour> neighbours_;  ///< below, above
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<Side> sent_, received_;
  std::vector<transport::Message> messages_out_, messages_in_;
  bool has_exchanged_ = false;
};

}  // namespace fabricmark::stencil
