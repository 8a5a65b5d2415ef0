#pragma once

#include <cstddef>
#include <string>

#include "benchmarks/common/halo_sums.hpp"
#include "network/topology.hpp"
#include "runtime/context.hpp"
#include "stencil/problem.hpp"
#include "stencil/streamed.hpp"

namespace fabricmark::stencil {

/// Ports of a board in a ring.
inline constexpr int kFromBefore = 0;
inline constexpr int kToNext = 1;

/// The elements through which a grid streams in a pass, and those of this rank's board.
struct Cascade {
  std::size_t all = 1;
  std::size_t own = 1;
  std::size_t first = 0;       ///< the number of its first one
  double pipeline_cycles = 0;  ///< from a word into an element to the word that is made of it
  std::size_t cell_bytes = 0;  ///< as it streams
  std::size_t boards = 1;
  Streamed stream{};

  [[nodiscard]] std::string note() const;
};

/// Where the modelled time of a board's passes went [s].
struct PassTimes {
  double clock = 0;   ///< all of it
  double words = 0;   ///< a cycle for each word of each pass
  double links = 0;   ///< the last element had a word that the link did not take
  double memory = 0;  ///< that the memory alone takes beyond a cycle a word
};

/// Shares of the modelled time by phase of kernel.toml: the rest is the start of pipelines and links in each
/// pass. Collective.
std::string stalls_note(const runtime::Context& context, const PassTimes& own);

Cascade cascade_of(const runtime::Context& context, const Problem& problem);
/// A cable from each board to the next one.
network::Topology ring_of(int boards);
/// Throws Error (bad use) for what does not stream.
void require_cascade(const runtime::Context& context, const Problem& problem);

/// What the ends of a board's links made of all words.
struct RingMarks {
  unsigned long long sent = kFirst;
  unsigned long long received = kFirst;

  [[nodiscard]] common::HaloSums sums(const runtime::Communicator& ranks, std::size_t words) const;

 private:
  static constexpr unsigned long long kFirst = 0x9E3779B97F4A7C15ULL;
};

}  // namespace fabricmark::stencil
