#pragma once

#include <memory>
#include <string_view>

#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "board/links/kernel_links.hpp"
#include "network/topology.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::board {

/// What the modelled time of a timed region is.
enum class Counted {
  kAll,      ///< from the host's first start to the end of all: what a program that starts them waits for
  kKernels,  ///< from the first kernel's start to the last one's end: of what goes on inside kernels that run
             ///< for long, so that their starts are no part of it
};

/// The emulated board of a rank: a device of a described system, whose dataflow kernels run natively and take
/// modelled time, and its way to the boards of the other ranks, as the parameter `transport` says: direct
/// links or an engine of messages. What a benchmark's dataflow kernels run on. Over a transport between
/// memories each board is alone: its kernels run, and their time says nothing.
///
/// Modelled time of a timed region is added to the simulated clock of the context. Faults of messages
/// (`--inject-fault`) are made here, on the first link or message of a part.
class Board {
 public:
  /// Collective. Throws Error (2) where no system is named, or one for a board that is alone, it has not that
  /// transport or too few ports, and, with both ends, for a cable that leads elsewhere.
  Board(const runtime::Context& context, const Joining& joining);
  /// `circuits`: the cables that the design needs over direct links.
  Board(const runtime::Context& context, const network::Topology& circuits,
        Clocked clocked = Clocked::kAsEngine)
      : Board(context, Joining{.circuits = circuits, .clocked = clocked}) {}
  ~Board();

  /// Over a transport between engines.
  [[nodiscard]] accl::Accl& engine() { return links_->engine(); }
  [[nodiscard]] bool is_called_by_logic() const { return links_->is_called_by_logic(); }
  [[nodiscard]] bool is_streaming() const { return links_->is_streaming(); }
  [[nodiscard]] dataflow::Host& host() { return links_->host(); }
  [[nodiscard]] const dataflow::DeviceCost& cost() const { return links_->cost(); }
  [[nodiscard]] const network::Topology& topology() const { return *links_->fabric().settings().topology; }
  /// Of direct links: clock, width, latency.
  [[nodiscard]] const dataflow::LinkCost& link_cost() const { return links_->fabric().settings().link; }
  /// Bytes a second that each carries of long streams.
  [[nodiscard]] double link_rate() const { return links_->fabric().link_rate(); }
  /// False where only time is asked for: kernels then pass words without looking at any data.
  [[nodiscard]] bool computes() const { return context_.computes(); }

  /// Both directions of the link at a port, for words of a type. `word_bytes`: what a word stands for, where
  /// that is more or less than it is; 0: its size.
  template <typename T>
  dataflow::Link<T> open(int port, std::size_t word_bytes = 0) {
    links_->opened(port);
    return links_->fabric().template open<T>({host().device(), port}, word_bytes);
  }

  /// What a timed region does: `work` starts kernels or calls the engine. Returns when these have ended, and
  /// adds their modelled time, as `counted` says. Collective. Throws Error (1) for a deadlock, words or
  /// messages left over, and calls that failed.
  template <typename Work>
  void run(Work&& work, Counted counted = Counted::kAll) {
    begin_part();
    work();
    end_part(counted);
  }
  /// The same as a timed region, `times` in a row.
  template <typename Work>
  void time(runtime::TimedRegions& regions, std::string_view name, Work&& work, std::size_t times = 1,
            Counted counted = Counted::kAll) {
    regions.time(
        name, [&] { run(work, counted); }, times);
  }

  /// What makes collective calls of all boards over what joins them, which nobody else uses then.
  [[nodiscard]] std::unique_ptr<collectives::Caller> make_collective_caller() {
    return links_->make_collective_caller();
  }

 private:
  void begin_part();
  void end_part(Counted counted);
  void tell_timeline(const dataflow::Span& part);

  const runtime::Context& context_;
  const runtime::TransportSpec& transport_;
  std::unique_ptr<KernelLinks> links_;
  dataflow::Time begin_ = 0;  // of the current region
};

}  // namespace fabricmark::board
