#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "board/board.hpp"
#include "codec/form.hpp"
#include "codec/gain.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/context.hpp"
#include "stencil/cascade.hpp"
#include "stencil/problem.hpp"

namespace fabricmark::stencil {

/// Cells are compressed before each link of a ring and come out behind it: a pass is a frame of the codec.
struct Compression {
  std::string name;         ///< of the predictor, as the user says it
  codec::Form form{};       ///< of cells as they are; its flits are those of the link
  std::size_t cells = 0;    ///< of a frame
  double word_bytes = 0;    ///< of a word as the design has it
  double ratio = 0;         ///< where only time is asked for; 0: of the bits
  double supply = 1;        ///< flits that a link takes in a cycle of the kernels
  std::size_t elastic = 0;  ///< flits of the FIFO before a link
  double kernel_hz = 0;     ///< of the cycles

  [[nodiscard]] std::size_t flit_bytes() const { return form.flit_bits / 8; }
  /// Whether cells are compressed; else only time is asked for, with the ratio that was given.
  [[nodiscard]] bool has_bits() const { return ratio == 0; }
  /// Whole flits of the first words of a frame, where there is a ratio.
  [[nodiscard]] std::uint64_t whole_flits(std::uint64_t words) const;
  /// And those that hold all bits of them.
  [[nodiscard]] std::uint64_t all_flits(std::uint64_t words) const;
};

/// Of a compressor and a decompressor together [cycles], as the models have it: the depth of half of it is
/// each one's.
inline constexpr double kCodecCycles = 20;

/// What the parameters say; absent where cells go over links as they are, and on a board that is alone.
/// Throws Error (bad use) for what is not compressed, and for a ratio that is missing or too many.
std::optional<Compression> compression_of(const runtime::Context& context, const Problem& problem,
                                          const Cascade& cascade, const board::Board& board);

/// What went over the link behind a compressor, pass by pass.
struct LinkUse {
  std::uint64_t flits = 0;
  std::uint64_t words = 0;
  double elastic_flits = 0;             ///< the most that any pass asks for
  std::vector<double> cycles;           ///< [pass]: what the gain law says
  std::vector<double> cycles_in_order;  ///< [pass]: and for words in their order

  void add(const codec::Gain& pass);
};

/// How much shorter compression made the bytes of all links. Only of cells that were compressed; collective.
runtime::DerivedMetric compression_metric(runtime::Communicator& ranks, const Compression& how,
                                          const LinkUse& own);

/// What became of the bytes of all links, beside the cycles of the clock. Collective where there are bits.
std::string compression_note(runtime::Communicator& ranks, const Compression& how, const LinkUse& own,
                             double clock_cycles);

}  // namespace fabricmark::stencil
