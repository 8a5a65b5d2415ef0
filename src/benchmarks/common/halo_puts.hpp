#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/common/halo_message.hpp"
#include "runtime/context.hpp"
#include "transport/transport.hpp"

namespace fabricmark::common {

/// Halos without messages, where kernels reach the memory of other ranks: the kernel `put` writes what leaves
/// where its receiver expects it, and raises a flag there; `take` waits for the flags of all messages and
/// unpacks them. The host starts both, and waits for nothing. Two slots in turn: a rank writes one only after
/// it has taken what its neighbours have sent after they had taken what was there.
class HaloPuts {
 public:
  /// Entry points, and whether they are wanted: "auto", "true" or "false".
  struct Use {
    std::size_t put = 0;
    std::size_t take = 0;
    std::string wanted = "false";
  };
  /// Null, on all ranks, where they are not wanted, or not possible. `numbers` of `number_bytes` each.
  /// Collective. Throws Error (bad use) where they must be, and are not possible.
  static std::unique_ptr<HaloPuts> make(const runtime::Context& context, transport::Transport& transport,
                                        const Use& use, const std::vector<HaloMessage>& sent,
                                        const std::vector<HaloMessage>& received, std::size_t number_bytes);

  /// The kernels, of whose arguments those stay to be set that say what goes where: `state`, `places`,
  /// `targets`, `spans`, `marks`, `count`, `stride`; of `put`, one for each message that leaves, also
  /// `first`.
  [[nodiscard]] std::vector<device::Replications>& puts() { return puts_; }
  [[nodiscard]] device::Replications& take() { return *take_; }
  /// Queue them; in the order of exchanges, which all ranks have in common. Geometries as of `puts`.
  void start(const device::Queue& queue, const std::vector<device::Geometry>& geometries);
  void finish(const device::Queue& queue, const device::Geometry& geometry);
  /// Throws DeadlineError where a kernel has given up waiting; what was queued has to be done.
  void check(const device::Queue& queue);

 private:
  /// How the memory of a rank for what arrives is laid out: a message of it.
  struct Arrival {
    std::int32_t from = 0;
    std::int32_t tag = 0;
    std::uint64_t first = 0;  ///< its first number
    std::uint64_t all = 0;    ///< numbers of all messages: a slot
  };
  /// Of a message that leaves.
  struct Target {
    std::int64_t shift = 0;  ///< from its place among what leaves to its place there, as 32 bits
    std::uint64_t slot = 0;  ///< numbers
  };

  HaloPuts(const runtime::Context& context, const Use& use, const std::vector<HaloMessage>& received);
  void set(const runtime::Context& context, const Use& use, const std::vector<HaloMessage>& sent,
           const std::vector<Arrival>& own);
  static std::vector<Arrival> arrivals(const std::vector<HaloMessage>& received);
  /// The number of the message in a rank's list. Throws Error (bad use) where there is none.
  static std::size_t place_of(const std::vector<Arrival>& theirs, int from, int tag);

  std::vector<HaloMessage> received_;
  runtime::Communicator& ranks_;
  std::unique_ptr<transport::Memory> memory_, flags_;
  std::vector<device::Buffer> reached_, reached_flags_;  // [rank]
  std::vector<device::Buffer> left_;                     // [message that leaves]
  std::unique_ptr<device::Buffer> late_;
  std::vector<device::Replications> puts_;
  std::unique_ptr<device::Replications> take_;
  std::vector<Target> targets_;
  std::uint64_t slot_ = 0;    ///< numbers that arrive in an exchange
  std::uint32_t number_ = 0;  ///< of the exchange that was started last
};

}  // namespace fabricmark::common
