#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace fabricmark::codec {

/// What a word of a cell is. Floating-point numbers are mapped to integers of the same order.
enum class Element : std::uint32_t { kFloat32 = 1, kFloat64 = 2, kInt32 = 3, kInt64 = 4 };

/// What is coded of words: differences of second order along the row; or of first order along it and of the
/// row before (Lorenzo); or of second order along it and of first order, or second, across rows.
enum class Predictor : std::uint32_t { kLine = 1, kLorenzo = 2, kPlane = 3, kSmooth = 4 };

/// When a block is left raw: where that is shorter, which asks for all of it; or where the block before it
/// would have been shorter raw, as hardware has to do that does not wait for a block.
enum class Mode : std::uint32_t { kFile = 1, kStream = 2 };

inline constexpr std::uint32_t kMostChannels = 16;
inline constexpr std::uint32_t kMostLanes = 4;
inline constexpr std::size_t kBlockCells = 256;

/// How cells are coded. A cell is `channels` words; predictions reach back over `lanes` cells, so that so
/// many are coded at once; `columns`: cells of a row, of all but kLine. A block is filled up to whole flits.
struct Form {
  Element element = Element::kFloat32;
  Predictor predictor = Predictor::kLine;
  Mode mode = Mode::kFile;
  std::uint32_t channels = 1;
  std::uint32_t lanes = 1;
  std::uint32_t flit_bits = 32;
  std::uint64_t columns = 0;
  bool is_swapped = false;  ///< numbers in memory lie with their highest byte first; coded ones never do

  [[nodiscard]] std::size_t word_bytes() const {
    return element == Element::kFloat64 || element == Element::kInt64 ? 8 : 4;
  }
  [[nodiscard]] std::size_t cell_bytes() const { return word_bytes() * channels; }
  /// Order of the differences along rows, and across them: how many rows before are known.
  [[nodiscard]] int order() const { return predictor == Predictor::kLorenzo ? 1 : 2; }
  [[nodiscard]] std::size_t rows_before() const {
    if (predictor == Predictor::kLine) return 0;
    return predictor == Predictor::kSmooth ? 2 : 1;
  }
  [[nodiscard]] bool is_float() const { return element == Element::kFloat32 || element == Element::kFloat64; }
};

/// What is wrong with a form or with coded bytes, as in "a block is longer than the rest".
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Damage for a form that there is not.
void require_form(const Form& form);

/// Bytes that the coded form of so many cells never exceeds.
std::size_t most_bytes(const Form& form, std::size_t cells);

}  // namespace fabricmark::codec
