#pragma once

#include <memory>
#include <vector>

#include "benchmarks/ptrans/execution.hpp"
#include "benchmarks/ptrans/kernel_pair.hpp"
#include "board/board.hpp"
#include "board/dataflow/host.hpp"

namespace fabricmark::ptrans {

/// A, B and C in memory of this process, and the pairs of dataflow kernels that make C. How words and blocks
/// get to other ranks is another one's of these.
class DataflowExecution : public Execution {
 public:
  void write_a(std::span<const std::byte> blocks) override { write(a_, blocks); }
  void write_b(std::span<const std::byte> blocks) override { write(b_, blocks); }
  void write_c(std::span<const std::byte> blocks) override { write(c_, blocks); }
  void read_c(std::span<std::byte> blocks) override { std::ranges::copy(c_, blocks.begin()); }
  void poison_arrived(std::span<const std::byte> /*blocks*/) override {}

 protected:
  /// `is_coarse`: where only time is asked for, many words pass as one.
  DataflowExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                    bool is_coarse);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  [[nodiscard]] std::vector<std::byte>& a() { return a_; }
  [[nodiscard]] bool computes() const { return computes_; }
  [[nodiscard]] int pair_count() const { return static_cast<int>(pairs_.size()); }
  [[nodiscard]] KernelPair& pair(int number) { return *pairs_[static_cast<std::size_t>(number)]; }
  /// Starts all pairs on blocks of A in `a`, one after the other, as the host does: each takes `launch`.
  /// `interval`: of the sending kernels [cycles for a word].
  device::Events start_pairs(dataflow::Host& host, network::Time launch, const std::vector<PairTasks>& tasks,
                             const std::vector<std::byte>& a, double interval = 1);

 private:
  void write(std::vector<std::byte>& memory, std::span<const std::byte> blocks) const;

  const Plan& plan_;
  std::size_t block_bytes_;
  bool computes_;
  std::vector<std::byte> a_, b_, c_;
  std::vector<std::unique_ptr<KernelPair>> pairs_;
};

/// The same on an emulated board of a described system.
class BoardExecution : public DataflowExecution {
 public:
  void time_run(runtime::TimedRegions& regions) override;

 protected:
  BoardExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes, bool is_coarse,
                 const network::Topology& circuits);

  /// Has all blocks exchanged and all kernels started.
  virtual void start_all() = 0;

  [[nodiscard]] board::Board& board() { return board_; }
  device::Events start_on_board(const std::vector<PairTasks>& tasks, const std::vector<std::byte>& a,
                                double interval = 1);

 private:
  double start_seconds_;  ///< of the whole, as fitted to a bitstream
  board::Board board_;
};

/// Blocks that arrive in memory, round by round as planned, for kernels that find all of theirs on the
/// device: those that stay first, then each round's while the next one is in progress.
class Rounds {
 public:
  /// `block_bytes` 0: nothing arrives, only its time passes.
  Rounds(const Plan& plan, std::size_t block_bytes, int pairs);

  /// `exchange(round)` returns when the blocks of a round are in arrived(); `start(tasks, arrived or not)`
  /// starts kernels.
  template <typename Exchange, typename StartPairs>
  void run(Exchange&& exchange, StartPairs&& start) {
    std::vector<device::Events> busy(kSlots);  // with blocks of the slot
    start(staying_, false);
    for (std::size_t number = 0; number < tasks_.size(); ++number) {
      const Round& round = plan_.rounds[number];
      for (const device::Event& event : busy[round.slot]) event.wait();
      exchange(round);
      busy[round.slot] = start(tasks_[number], true);
    }
  }
  [[nodiscard]] std::vector<std::byte>& arrived() { return arrived_; }

 private:
  const Plan& plan_;
  std::vector<std::byte> arrived_;
  std::vector<PairTasks> staying_;
  std::vector<std::vector<PairTasks>> tasks_;  ///< [round]
};

}  // namespace fabricmark::ptrans
