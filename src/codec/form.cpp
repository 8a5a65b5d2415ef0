#include "codec/form.hpp"

#include <algorithm>
#include <array>

#include "codec/kernels.hpp"

namespace fabricmark::codec {

namespace {

constexpr std::array<std::uint32_t, 3> kLanes{1, 2, 4};
constexpr std::array<std::uint32_t, 5> kFlits{32, 64, 128, 256, 512};
constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 32U;

}  // namespace

void require_form(const Form& form) {
  if (form.element < Element::kFloat32 || form.element > Element::kInt64)
    throw Damage("there is no such element");
  if (form.predictor < Predictor::kLine || form.predictor > Predictor::kSmooth)
    throw Damage("there is no such predictor");
  if (form.mode != Mode::kFile && form.mode != Mode::kStream) throw Damage("there is no such mode");
  if (form.channels < 1 || form.channels > kMostChannels) throw Damage("cells have 1 to 16 channels");
  if (std::ranges::find(kLanes, form.lanes) == kLanes.end()) throw Damage("there are 1, 2 or 4 lanes");
  if (std::ranges::find(kFlits, form.flit_bits) == kFlits.end())
    throw Damage("flits have 32, 64, 128, 256 or 512 bits");
  if (form.rows_before() > 0 && (form.columns < form.lanes || form.columns > kMostColumns))
    throw Damage("rows have at least as many cells as there are lanes, and at most 2^32");
}

std::size_t most_bytes(const Form& form, std::size_t cells) {
  const std::size_t classes = (form.channels * (form.word_bytes() == 4 ? 3 : 4) + 7) / 8;
  const std::size_t blocks = (cells + kBlockCells - 1) / kBlockCells;
  return cells * (form.cell_bytes() + classes) + blocks * (kHeadBytes + form.flit_bits / 8) + kSlack;
}

}  // namespace fabricmark::codec
