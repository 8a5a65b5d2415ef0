// What edges of the grid send back of a wave that travels to the east, by the cells of tsunamis on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "apps/tsunami/ocean.hpp"
#include "stencil/program_kernels.hpp"

namespace fabricmark::tsunami {
namespace {

constexpr std::size_t kCells = 800;
constexpr std::size_t kPitch = kCells + 2;
constexpr std::size_t kFields = 6;
constexpr double kDepthOfSea = 4000;
constexpr double kHeight = 0.01;

/// One row between walls, with `edge` at its ends: the largest elevation at the end, of the wave's. The wave
/// begins at a third of the row and would have passed one and a quarter of it.
double left_behind(unsigned char edge) {
  std::vector<double> numbers(3 * kFields * kPitch);
  std::vector<unsigned char> kinds(3 * kPitch, kLand);
  std::fill_n(kinds.begin() + kPitch + 1, kCells, static_cast<unsigned char>(kWater));
  kinds[kPitch] = kinds[2 * kPitch - 1] = edge;
  const auto here = [&](std::size_t field) { return numbers.data() + (3 * field + 1) * kPitch + 1; };
  const double still = std::sqrt(kGravity * kDepthOfSea);
  for (std::size_t i = 0; i < kCells; ++i) {
    const double off = (static_cast<double>(i) - kCells / 3.0) / 30;
    here(kDepth)[i] = kDepthOfSea;
    here(kElevation)[i] = kHeight * std::exp(-off * off);
    here(kEast)[i] = 2 * (std::sqrt(kGravity * (kDepthOfSea + here(kElevation)[i])) - still);
  }
  const double half = 0.5 * 0.5 / still;  // half of the Courant number 0.5
  const std::vector<double> constants{half, half, kGravity, 1 / (16 * kGravity), 1, 2 * still, 2 * still};
  std::vector<double> after(kFields * kCells);
  for (std::size_t step = 0; step < kCells * 5 / 2; ++step) {
    EXPECT_FALSE(stencil::next_row({.numbers = numbers.data(),
                                    .kinds = kinds.data(),
                                    .constants = constants.data(),
                                    .columns = kCells,
                                    .pitch = kPitch},
                                   after.data()));
    for (std::size_t field = 0; field < kFields; ++field) {
      std::copy_n(after.begin() + static_cast<std::ptrdiff_t>(field * kCells), kCells, here(field));
    }
  }
  double left = 0;
  for (std::size_t i = 0; i < kCells; ++i) left = std::max(left, std::abs(here(kElevation)[i]));
  return left / kHeight;
}

TEST(TsunamiEdges, AnOpenOneSendsNothingBack) { EXPECT_LT(left_behind(kOpen), 1e-3); }

TEST(TsunamiEdges, AWallSendsAllBack) {
  EXPECT_GT(left_behind(kLand), 0.99);
  EXPECT_LT(left_behind(kLand), 1.01);
}

}  // namespace
}  // namespace fabricmark::tsunami
