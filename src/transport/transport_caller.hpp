#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"
#include "collectives/replay/caller.hpp"
#include "device/memory.hpp"
#include "transport/device_arithmetic.hpp"
#include "transport/memory.hpp"
#include "transport/transport.hpp"

namespace fabricmark::collectives {

/// Collective calls between the ranks of a transport, in wall time. Elements lie in memory that the
/// transport serves best, of the host or of a device, and messages leave from there and arrive there. What is
/// combined or copied is so where it lies; but without a device that can, by the host, which reads it from
/// the device's memory and writes it back.
class TransportCaller final : public Caller {
 public:
  /// `transport` and `device`, which may be null, have to live as long; nobody else sends with tags below
  /// kTags meanwhile.
  explicit TransportCaller(transport::Transport& transport, const device::Device* device = nullptr);

  [[nodiscard]] transport::Transport& transport() const { return transport_; }
  /// What moves take is measured when it is first asked for (measured_costs.hpp).
  [[nodiscard]] const Place& place() override;

  /// Memory for operands. The elements of a device's are seen by the host as they were when it last called
  /// `read` or `write`. Throws as Transport::allocate.
  View allocate(std::size_t count, Type type);
  /// Elements in memory that is there already, which has to live until `release`: at a multiple of the
  /// type's bytes.
  View adopt(const transport::Region& region, Type type);
  /// Gives memory back, all that was allocated or adopted at once.
  void release(const View& elements);
  /// Brings what the host has written to the elements to where messages leave from.
  void write(const View& elements);
  /// Brings elements to where the host sees them.
  void read(const View& elements);

  using Caller::run;
  /// Operands lie in memory of this, or are none; the result is there for `read`. Throws what the transport
  /// throws, and Error (bad use) for other memory. Memory that algorithms need is kept for the next call.
  void run(const Algorithm& algorithm, const Call& call) override;

  /// What a call does after each look at a message that is not there yet; null: it waits. So a call can be
  /// left in its middle, and gone on with.
  void set_pause(std::function<void()> pause) { pause_ = std::move(pause); }

  static constexpr int kTags = 1 << 12;  ///< collectives of transports have those from here on

 private:
  class OwnMoves;
  struct Area {
    transport::Region region;                  // bytes
    std::unique_ptr<transport::Memory> owned;  // of what was allocated
    std::shared_ptr<void> seen;                // by the host, of a device's memory
  };

  [[nodiscard]] transport::Region region(const View& elements);
  View scratch(std::size_t count, Type type);

  transport::Transport& transport_;
  std::optional<Place> place_;
  std::function<void()> pause_;
  std::optional<DeviceArithmetic> arithmetic_;
  bool is_on_host_ = true;
  std::map<const std::byte*, Area> areas_;  // by their first bytes, as the host sees them
  View nothing_{};                          // what messages without elements consist of
  View unread_{};  // where such messages arrive: another rank may still read what was sent
  std::vector<View> scratch_;
  std::size_t scratch_used_ = 0;  // by this call
  // Messages with each rank so far: by their tags both ends know which one is which.
  std::vector<int> sent_;
  std::vector<int> received_;
};

}  // namespace fabricmark::collectives
