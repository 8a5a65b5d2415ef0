#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "board/dataflow/stream.hpp"
#include "collectives/operation.hpp"
#include "collectives/reference.hpp"
#include "device/event.hpp"
#include "microbench/common/calls/options.hpp"

namespace fabricmark::microbench {

/// 512 bits: what a kernel hands the engine in one cycle.
struct Word {
  std::byte bytes[accl::kWordBytes];
};

/// What one rank does for one size: its calls of the engine, one after the other, and kernels where operands
/// are streams or calls come from logic.
class RankCase {
 public:
  /// Modelled time; absent where the rank has nothing to do.
  struct Times {
    std::optional<double> started;
    std::optional<double> ended;
  };

  /// `is_at_once`: all calls are made before any is waited for, as messages need that wait for their
  /// receiver.
  RankCase(const Options& options, std::size_t count, int rank, int ranks, bool is_at_once);

  /// Memory that rank 0 writes with `put`, and its number on rank 1.
  [[nodiscard]] std::uint64_t offer(accl::Accl& accl) const;
  /// Makes the calls and waits until they have ended. `remote`: what rank 1 has offered. Throws Error (1) for
  /// a call that failed.
  Times run(accl::Accl& accl, dataflow::Host& host, std::uint64_t remote);
  /// Of the result on this rank, all elements; after all ranks have finished. `with_fault` makes the last
  /// one wrong before.
  collectives::Comparison check(bool with_fault);
  /// Of a collective.
  [[nodiscard]] const collectives::Call& collective() const { return call_; }
  [[nodiscard]] bool has_result() const { return call_.result.count > 0; }

 private:
  struct State;

  [[nodiscard]] std::vector<accl::Call> calls(std::uint64_t remote) const;
  void connect_streams(accl::Accl& accl, dataflow::Host& host);
  Times call_from_host(accl::Accl& accl, std::uint64_t remote) const;
  Times call_from_logic(accl::Accl& accl, dataflow::Host& host, std::uint64_t remote);
  [[nodiscard]] bool reads_stream() const;

  Options options_;
  int rank_;
  int ranks_;
  std::size_t count_;
  bool is_at_once_;
  /// What is expected here; for messages as if it were a broadcast of their sender.
  collectives::Call call_;
  std::shared_ptr<State> state_;           // kernels use it, as long as the fabric
  std::optional<device::Event> taking_{};  // the kernel that reads the result
};

}  // namespace fabricmark::microbench
