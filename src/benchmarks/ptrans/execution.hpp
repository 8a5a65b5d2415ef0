#pragma once

#include <memory>
#include <span>

#include "base/interface.hpp"
#include "benchmarks/ptrans/plan.hpp"
#include "benchmarks/ptrans/transposition.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::ptrans {

/// The matrices of one rank, and one way for blocks of A to get to the ranks that need them. Blocks are in
/// the order of the plan.
class Execution : public Interface {
 public:
  virtual void write_a(std::span<const std::byte> blocks) = 0;
  virtual void write_b(std::span<const std::byte> blocks) = 0;
  virtual void write_c(std::span<const std::byte> blocks) = 0;
  virtual void read_c(std::span<std::byte> blocks) = 0;
  /// Overwrites what earlier exchanges have left; `blocks` are as many as the rank has.
  virtual void poison_arrived(std::span<const std::byte> blocks) = 0;
  /// Messages of other memory between all ranks that exchange blocks, before the time is taken: links between
  /// GPUs that nothing has used for some milliseconds take 0.2 ms to wake up.
  virtual void wake_links() {}

  /// What a reader of its times should know.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }

  /// C = B + A^T, once, with exchange and transposition overlapped: the timed region "transpose".
  virtual void time_run(runtime::TimedRegions& regions) = 0;
};

/// One that can do the same in two steps: first all blocks to the devices that need them, then all kernels,
/// which find only the blocks of the last rounds: C is not right then.
class SteppedExecution : public Execution {
 public:
  virtual void exchange() = 0;
  virtual void transpose() = 0;
  /// What the last exchange has left: a block for each place of the plan.
  virtual void read_arrived(std::span<std::byte> blocks) = 0;
};

using MakeExecution = std::unique_ptr<Execution>(const runtime::Context& context, const Plan& plan,
                                                 std::size_t block_bytes, const WorkItems& work_items);

/// The executions, in files of their names. Over a transport between devices: A lies on the device, and its
/// blocks go to other devices.
MakeExecution make_between_devices;
/// Over one between hosts, as the base version of Meyer 2024 (section 4.1.2.1): A lies on the host; the hosts
/// exchange its blocks and write all that the kernels need to the device.
MakeExecution make_between_hosts;
/// Over direct links between dataflow kernels on emulated boards (section 4.1.2.2). Throws Error (bad use)
/// for a distribution in which a board has not one partner.
MakeExecution make_over_channels;
/// Over the engine of messages of each board: words from kernel to kernel (streaming, with a partner as
/// above), or blocks from memory to memory (buffered).
MakeExecution make_over_engines;
/// The same on cards, whose bitstream has ACCL's engine beside one pair of kernels. Throws Error (bad use) as
/// that, and for what accl::CardEngine does not drive.
MakeExecution make_on_cards;
/// The same kernels with blocks that come over another transport. Throws Error (bad use) where a system is
/// described.
MakeExecution make_local;
/// Over Intel's external channels between kernels of devices, as the source (section 4.1.2.2). Throws Error
/// (bad use) as the one above, for ranks that the channels do not join, and for faults of messages.
MakeExecution make_over_external_channels;

/// How the kernels of the variants are started, in files of their names. Throw Error (bad use) for parameters
/// that the device cannot run.
WorkItems base_work_items(const runtime::Context& context, std::size_t block_bytes);
WorkItems throughput_work_items(const runtime::Context& context, std::size_t block_bytes);
/// Dataflow kernels have no work-items.
inline WorkItems dataflow_work_items(const runtime::Context& /*context*/, std::size_t /*block_bytes*/) {
  return {};
}

/// An entry of the table: a variant's kernels over transports of a kind.
struct Kind {
  WorkItems (*work_items)(const runtime::Context& context, std::size_t block_bytes);
  MakeExecution* make;
  bool is_a_on_host = false;
  bool is_dataflow = false;     ///< kernels of the program itself, whose memory is that of the host
  bool moves_in_rounds = true;  ///< blocks go in the rounds of the plan, over a transport between memories
};

}  // namespace fabricmark::ptrans
