#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "board/accl_driver/plugin/interface.hpp"
#include "collectives/moves.hpp"
#include "kernels/common/accl.hpp"
#include "runtime/context.hpp"

namespace fabricmark::accl {

/// Names the plugin, a library.
inline constexpr const char* kDriverVariable = "FABRICMARK_ACCL";
/// Names a file with the addresses of the ranks' cards, as hosts of ACCL take it: {"ips": ["10.10.10.1",
/// ...]}. Without it they are 10.10.10.1 and so on.
inline constexpr const char* kAddressesVariable = "FABRICMARK_ACCL_ADDRESSES";

/// The addresses of that file, or the usual ones; with their ports. Throws Error (bad use) for a file that
/// cannot be read, has another form, or too few of them.
std::vector<std::pair<std::string, std::int32_t>> card_addresses(int ranks);

/// ACCL's engine in the bitstream of this rank's card, set up by ACCL's own driver, so that kernels may call
/// it: a communicator of all ranks, receive buffers as the transport's parameters say, arithmetic. The driver
/// is a plugin, as programs are built without it. Never run on a card.
class CardEngine {
 public:
  /// Collective. Throws Error (environment) where there is no plugin or it fails, (bad use) for what it does
  /// not drive: another runtime than XRT natively, RDMA, calls of the host; for faults of messages.
  explicit CardEngine(const runtime::Context& context);

  /// What commands of kernels need to know. Throws Error (environment) where ACCL has no such arithmetic.
  [[nodiscard]] fm::accl_use use(collectives::Type type,
                                 std::uint32_t communicator = accl_driver::kAllRanks) const;
  /// Of some of the ranks, this one among them, in this order; all of them make it, and all communicators in
  /// the same order. Throws Error (environment) where ACCL refuses it.
  [[nodiscard]] std::uint32_t communicator(const std::vector<int>& ranks) const;

 private:
  const accl_driver::Functions* functions_;
  std::shared_ptr<accl_driver::Engine> engine_;
};

}  // namespace fabricmark::accl
