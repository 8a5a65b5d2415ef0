#pragma once

#include <memory>
#include <optional>

#include "base/interface.hpp"
#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/replay/caller.hpp"
#include "network/message_fault.hpp"
#include "network/topology.hpp"
#include "runtime/context.hpp"

namespace fabricmark::accl {
class Accl;
}

namespace fabricmark::board {

/// Which clock the kernels beside an engine have.
enum class Clocked {
  kAsEngine,     ///< the engine's
  kAsBitstream,  ///< that of their own bitstream, where the system has one
};

/// What a benchmark says of the links that its kernels need.
struct Joining {
  /// The cables of its design over direct links, for as many devices as ranks.
  network::Topology circuits;
  Clocked clocked = Clocked::kAsEngine;
  /// False where any topology that the user names will do, and these are for where none is named.
  bool needs_circuits = true;
};

/// The board of a rank, and what joins it to those of the other ranks: a transport of kernels. Each folder
/// with a transport.toml between streams or engines makes one, by `make_links` in the namespace of its name.
class KernelLinks : public Interface {
 public:
  [[nodiscard]] dataflow::Fabric& fabric() { return *fabric_; }
  /// Starts the kernels of the board.
  [[nodiscard]] dataflow::Host& host() { return *host_; }
  [[nodiscard]] const dataflow::DeviceCost& cost() const { return cost_; }
  /// Of a transport between engines; throws std::logic_error for any other.
  [[nodiscard]] virtual accl::Accl& engine();
  /// Whether kernels call the engine, and whether its operands are in streams of kernels.
  [[nodiscard]] virtual bool is_called_by_logic() const { return false; }
  [[nodiscard]] virtual bool is_streaming() const { return false; }

  /// The next fault of a link strikes at the first port that was opened.
  virtual void opened(int /*port*/) {}
  /// The fault happens to what this board sends next; none: what was to happen does not.
  virtual void corrupt(const std::optional<network::MessageFault>& fault) = 0;
  /// Waits for all that was started, kernels and calls. Throws Error (1) for a deadlock, words or messages
  /// left over, and calls that failed.
  virtual void finish() = 0;
  /// What makes collective calls of all boards, within Board::run, whose end tells what has failed. Operands
  /// are memory that stays as long. Throws Error (bad use) for links that are wired in a way that no
  /// algorithm knows, and for operands that are not in memory.
  [[nodiscard]] virtual std::unique_ptr<collectives::Caller> make_collective_caller() = 0;

 protected:
  /// Joins the fabrics of all ranks. Collective.
  KernelLinks(const runtime::Context& context, const dataflow::DeviceCost& cost,
              dataflow::FabricSettings settings);
  /// A board that is alone.
  explicit KernelLinks(const dataflow::DeviceCost& cost);

  [[nodiscard]] const std::shared_ptr<dataflow::Fabric>& shared_fabric() const { return fabric_; }

 private:
  dataflow::DeviceCost cost_;
  std::shared_ptr<dataflow::Fabric> fabric_;
  std::unique_ptr<dataflow::Host> host_;
};

/// The system of the run. Throws Error (bad use) where none is named.
const runtime::SystemPlace& system_of(const runtime::Context& context);

/// The topology that the parameter `topology` names; absent where it leaves it to the design.
std::optional<network::Topology> named_topology(const runtime::Context& context);

}  // namespace fabricmark::board
