#pragma once

#include <cstddef>
#include <cstdint>

namespace fabricmark::codec {

inline constexpr std::size_t kHeadBytes = 4;
/// Kernels may write and read so many bytes beyond the end of coded cells, and so many words beyond others.
inline constexpr std::size_t kSlack = 192;

/// The inner loops on `Word`s of 32 or 64 bits, of cells one after the other, channel by channel. `lag`:
/// words from a cell to the one that it is foretold from.
template <typename Word>
struct Kernels {
  /// From bytes of numbers to words that are ordered alike, and back.
  void (*map)(const std::byte* numbers, std::size_t count, bool is_float, bool swap, Word* words);
  void (*unmap)(const Word* words, std::size_t count, bool is_float, bool swap, std::byte* numbers);
  /// Second differences, in zigzag; before `words` lie 2 `lag` of the cells before.
  void (*line_residuals)(const Word* words, std::size_t count, std::size_t lag, Word* residuals);
  /// Differences of the order 1 or 2, as they are.
  void (*differences)(const Word* words, std::size_t count, std::size_t lag, int order, Word* made);
  /// Differences less those of the row before, in zigzag; with `second_row`, which may be null, less those of
  /// these. The rows become the new ones.
  void (*row_residuals)(const Word* differences, std::size_t count, Word* row, Word* second_row,
                        Word* residuals);
  /// The other way: before `words` lie `lag` of the cells before, of which `last` has the first differences.
  void (*line_words)(const Word* residuals, std::size_t count, std::size_t lag, Word* last, Word* words);
  void (*row_differences)(const Word* residuals, std::size_t count, Word* row, Word* second_row, Word* made);
  void (*words)(const Word* differences, std::size_t count, std::size_t lag, int order, Word* last,
                Word* words);
  /// Classes and residuals of cells as bits; returns how many.
  std::size_t (*pack)(const Word* residuals, std::size_t cells, std::size_t channels, std::uint8_t* bits);
  /// Returns how many bits so many cells took, more than `most` where they ended beyond it.
  std::size_t (*unpack)(const std::uint8_t* bits, std::size_t most, std::size_t cells, std::size_t channels,
                        Word* residuals);
};

/// For the processor that this runs on.
template <typename Word>
const Kernels<Word>& kernels();

/// For the tests: those of each kind of processor that this one can stand for.
enum class Level { kPlain, kAvx2, kAvx512 };
bool has_level(Level level);
template <typename Word>
const Kernels<Word>& kernels_of(Level level);

}  // namespace fabricmark::codec
