#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "board/link_caller.hpp"
#include "network/topology.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::board {

/// What the modelled time of a timed part is.
enum class Counted {
  kAll,      ///< from the host's first start to the end of all: what a program that starts them waits for
  kKernels,  ///< from the first kernel's start to the last one's end: of what goes on inside kernels that run
             ///< for long, so that their starts are no part of it
};

/// Which clock the kernels beside an engine have.
enum class Clocked {
  kAsEngine,     ///< the engine's
  kAsBitstream,  ///< that of their own bitstream, where the system has one
};

/// The emulated board of a rank: a device of a described system, whose dataflow kernels run natively and take
/// modelled time, and its way to the boards of the other ranks, as the parameter `transport` says: direct
/// links (channels) or an engine of messages (accl-*). What a benchmark's dataflow kernels run on. Over any
/// other transport each board is alone: its kernels run, and their time says nothing.
///
/// Modelled time of a timed part is charged to the clock of the context. Faults of messages
/// (`--inject-fault`) are made here, on the first link or message of a part.
class Board {
 public:
  /// Collective. `circuits`: the cables that the design needs over direct links, for as many devices as
  /// ranks; where the user names a topology it has to have these. Throws Error (2) where no system is named,
  /// or one for a board that is alone, it has not that transport or too few ports, and, with both ends, for a
  /// cable that leads elsewhere.
  Board(const runtime::Context& context, const network::Topology& circuits,
        Clocked clocked = Clocked::kAsEngine);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] bool has_engine() const { return accl_ != nullptr; }
  /// Where has_engine().
  [[nodiscard]] accl::Accl& engine() { return *accl_; }
  [[nodiscard]] bool is_called_by_logic() const { return is_called_by_logic_; }
  [[nodiscard]] bool is_streaming() const { return is_streaming_; }
  [[nodiscard]] dataflow::Host& host() { return *host_; }
  [[nodiscard]] const network::Topology& topology() const { return *fabric_->settings().topology; }
  [[nodiscard]] const dataflow::DeviceCost& cost() const { return cost_; }
  /// Of the links: clock, width, latency.
  [[nodiscard]] const dataflow::LinkCost& link_cost() const { return link_; }
  /// False where only time is asked for: kernels then pass words without looking at any data.
  [[nodiscard]] bool computes() const { return context_.computes(); }

  /// Both directions of the link at a port, for words of a type. `word_bytes`: what a word stands for, where
  /// that is more or less than it is; 0: its size.
  template <typename T>
  dataflow::Link<T> open(int port, std::size_t word_bytes = 0) {
    if (first_port_ < 0) first_port_ = port;
    return fabric_->template open<T>({host_->device(), port}, word_bytes);
  }

  /// What a timed part does: `work` starts kernels or calls the engine. Returns when these have ended, and
  /// charges their modelled time, as `counted` says. Collective. Throws Error (1) for a deadlock, words or
  /// messages left over, and calls that failed.
  template <typename Work>
  void run(Work&& work, Counted counted = Counted::kAll) {
    begin_part();
    work();
    end_part(counted);
  }
  /// The same as a timed part, `times` in a row.
  template <typename Work>
  void time(runtime::Laps& laps, std::string_view name, Work&& work, std::size_t times = 1,
            Counted counted = Counted::kAll) {
    laps.time(
        name, [&] { run(work, counted); }, times);
  }

  /// What makes collective calls over the direct links of this board, which nobody else opens. Where
  /// !has_engine().
  [[nodiscard]] std::unique_ptr<collectives::LinkCaller> link_caller();

 private:
  void join_links(const network::Topology& circuits);
  void join_engine(Clocked clocked);
  void stay_alone();
  void begin_part();
  void end_part(Counted counted);
  void tell_timeline(const dataflow::Span& part);
  [[nodiscard]] bool is_faulty() const;

  const runtime::Context& context_;
  dataflow::DeviceCost cost_;
  dataflow::LinkCost link_;
  bool is_alone_ = false;
  bool is_called_by_logic_ = false;
  bool is_streaming_ = false;
  std::shared_ptr<dataflow::Fabric> fabric_;
  std::unique_ptr<dataflow::Host> host_;
  std::unique_ptr<accl::Accl> accl_;
  int first_port_ = -1;       // that was opened
  dataflow::Time begin_ = 0;  // of the part under way
};

/// A topology of `circuits` as the user names it, where it has all of their cables at the same ports. Throws
/// Error (2) with both ends of the first one that leads elsewhere.
network::Topology with_circuits(network::Topology named, const network::Topology& circuits);

}  // namespace fabricmark::board
