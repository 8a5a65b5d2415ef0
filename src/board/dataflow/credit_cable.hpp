#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "board/dataflow/link_direction.hpp"
#include "network/credit_link/link_parameters.hpp"

namespace fabricmark::dataflow {

class Channel;
class Frames;

/// A cable with a credit link: both directions are one machine, as credits ride on the headers of the data
/// that go the other way. Each end is stepped by the cycles of the link in which something can change. The
/// link is up when the modelled time begins; nothing is lost on it.
class CreditCable {
 public:
  struct Cost {
    credit_link::LinkParameters link{};
    network::Time cycle = 0;    ///< of the link's clock
    std::uint64_t latency = 1;  ///< cycles: a flit that is on the wire in cycle t arrives in t + latency
    std::uint64_t gap = 0;      ///< cycles behind each packet in which the wire takes nothing
  };
  /// `frames`: packets travel as frames of this network, each when its last flit has left; null: flit by flit
  /// over a cable of their own. Throws Error (bad use) for parameters that cannot work.
  CreditCable(const Cost& cost, const Place& first, const Place& second, Frames* frames = nullptr);
  ~CreditCable();

  /// From the first (0) or the second place (1) to the other one, for words of so many flits; keeps the
  /// cable. Each once.
  static std::unique_ptr<LinkDirection> direction(const std::shared_ptr<CreditCable>& cable, std::size_t from,
                                                  Channel& channel, unsigned flits);

 private:
  class Bytes;
  struct OnWire;
  class End;
  class Direction;
  std::array<std::unique_ptr<End>, 2> ends_;  // null in another process
};

}  // namespace fabricmark::dataflow
