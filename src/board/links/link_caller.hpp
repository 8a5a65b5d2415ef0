#pragma once

#include <cstddef>
#include <map>
#include <memory>

#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/costs.hpp"
#include "collectives/operation.hpp"
#include "collectives/replay/caller.hpp"
#include "collectives/replay/over_networks.hpp"
#include "network/topology.hpp"

namespace fabricmark::collectives {

/// What moves take over direct links, for `choose`.
Costs costs_of_links(const dataflow::LinkCost& link, const dataflow::DeviceCost& device);

/// Collective calls between devices over direct links, such as circuits and channels, in modelled time: the
/// ranks are the devices. A call is kernels: one that runs the algorithm, and for each neighbour one that
/// sends and one that receives, in words of 64 bytes, a word a cycle at most; so all directions are used at
/// the same time. What is received is combined as it comes. The kernels hear of messages by streams, and of
/// their ends.
///
/// A message has no header: it is as long as its receiver expects, and at least a word. Of parallel cables
/// to a neighbour the one at the sender's lowest port is used.
class LinkCaller final : public Caller {
 public:
  /// Opens the links of the host's device to its neighbours, which nobody else opens. Both must live as
  /// long as this; this as long as kernels may run. Throws Error (bad use) for a topology that no algorithm
  /// knows.
  LinkCaller(dataflow::Fabric& fabric, dataflow::Host& host);
  ~LinkCaller() override;

  [[nodiscard]] const Place& place() override { return place_; }
  using Caller::run;
  /// As collectives::run, in modelled time of the host: hosts that are to begin together agree on a time
  /// before (Host::pass_until). Throws Error (bad use) where the algorithm sends to a device without a link,
  /// and what Host throws. Operands without data only take their time.
  void run(const Algorithm& algorithm, const Call& call) override;

  /// Most messages to or from a neighbour that are in flight at a time: another one waits for the first.
  static constexpr int kInFlight = 1024;

 private:
  class OwnMoves;
  struct Link;
  struct Lane;

  [[nodiscard]] Link& link(const network::Port& port);

  dataflow::Host& host_;
  Place place_;
  std::map<int, std::unique_ptr<Link>> links_;  // by port
  // By neighbour.
  std::map<int, std::unique_ptr<Lane>> sends_;
  std::map<int, std::unique_ptr<Lane>> receives_;
};

}  // namespace fabricmark::collectives
