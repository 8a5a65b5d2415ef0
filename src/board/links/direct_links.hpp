#pragma once

#include <memory>
#include <optional>

#include "board/dataflow/described.hpp"
#include "board/links/kernel_links.hpp"

namespace fabricmark::board {

/// Boards that direct links join, from stream to stream: for transports between streams.
class DirectLinks final : public KernelLinks {
 public:
  /// Collective. `system`: what boards and links cost, with the flow control of the links. Throws Error (bad
  /// use) for a topology of the user's in which a cable of the design leads elsewhere, with both ends, and
  /// for one that needs more ports than a board has.
  DirectLinks(const runtime::Context& context, const dataflow::Described& system, const Joining& joining);

  void opened(int port) override;
  void corrupt(const std::optional<network::MessageFault>& fault) override;
  void finish() override { host().finish(); }
  [[nodiscard]] std::unique_ptr<collectives::Caller> make_collective_caller() override;

 private:
  int first_port_ = -1;  ///< that was opened
};

/// What the system of the run has for its transport between streams, and its bitstream.
dataflow::Described described_links(const runtime::Context& context);

/// A topology of `circuits` as the user names it, where it has all of their cables at the same ports. Throws
/// Error (2) with both ends of the first one that leads elsewhere.
network::Topology with_circuits(network::Topology named, const network::Topology& circuits);

}  // namespace fabricmark::board
