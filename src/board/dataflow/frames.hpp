#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/interface.hpp"
#include "board/dataflow/link_direction.hpp"
#include "board/dataflow/network.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

/// The frames of credit links over a network of packets: brings each to the end that it is for.
class Frames {
 public:
  /// What takes frames at an end: its flits come out in the cycles from `at` on.
  class Sink : public Interface {
   public:
    virtual void take_frame(network::Time at, std::span<const std::byte> frame) = 0;
  };
  explicit Frames(Network& network);
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  /// The frames for a port of a device go to `sink` from now on.
  void attach(const Place& place, Sink& sink);
  void send(network::Time at, const Place& from, const Place& to, std::uint64_t wire_bytes,
            std::vector<std::byte> frame);

 private:
  class OfDevice;
  Network& network_;
  std::map<int, std::unique_ptr<OfDevice>> devices_;
};

}  // namespace fabricmark::dataflow
