// Water on the turning Earth, by the cells of tsunamis on the host.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "apps/tsunami/ocean.hpp"
#include "apps/tsunami/sphere_kernels.hpp"

namespace fabricmark::tsunami {
namespace {

constexpr std::size_t kFields = 7;
constexpr double kDepthOfSea = 4000;
constexpr double kTimeStep = 20;  // [s]

/// The speeds to the east and to the north after so many seconds of water of one speed everywhere, which no
/// elevation drives, at a latitude [degrees] of an Earth that turns so fast.
std::pair<double, double> speeds(double latitude, double turn, double seconds) {
  constexpr std::size_t kPitch = 3;
  constexpr double kAngle = 4e-3;  // of a cell
  const double size = kEarthRadius * kAngle;
  const std::array<unsigned char, 9> kinds{};
  const std::vector<double> constants{kTimeStep / (2 * size),
                                      kTimeStep / (2 * size),
                                      kGravity,
                                      1 / (16 * kGravity),
                                      1,
                                      size / kTimeStep,
                                      size / kTimeStep,
                                      kAngle,
                                      kAngle,
                                      2 * kEarthRadius * turn,
                                      kTimeStep / (2 * kEarthRadius)};
  std::array<double, kFields> cell{};
  cell[kEast] = 0.01;
  cell[kDepth] = kDepthOfSea;
  cell[kTangent] = std::tan(latitude * std::numbers::pi / 180);
  for (int step = 0; step < std::lround(seconds / kTimeStep); ++step) {
    std::vector<double> numbers;
    for (const double number : cell) numbers.insert(numbers.end(), 3 * kPitch, number);
    EXPECT_FALSE(stencil::next_row_on_sphere({.numbers = numbers.data(),
                                              .kinds = kinds.data(),
                                              .constants = constants.data(),
                                              .columns = 1,
                                              .pitch = kPitch},
                                             cell.data()));
    cell[kElevation] = 0;
  }
  return {cell[kEast] / 0.01, cell[kNorth] / 0.01};
}

/// How long an inertial oscillation takes [s].
double period(double latitude) {
  return std::numbers::pi / (kEarthTurn * std::sin(latitude * std::numbers::pi / 180));
}

TEST(TsunamiSphere, WaterGoesRoundInAnInertialOscillation) {
  for (const double latitude : {15.0, 45.0, 75.0}) {
    const auto [east, north] = speeds(latitude, kEarthTurn, period(latitude));
    EXPECT_NEAR(east, 1, 2e-3) << latitude;
    EXPECT_NEAR(north, 0, 2e-3) << latitude;
  }
}

TEST(TsunamiSphere, WaterTurnsToTheRightInTheNorthAndToTheLeftInTheSouth) {
  for (const double latitude : {40.0, -40.0}) {
    const auto [east, north] = speeds(latitude, kEarthTurn, period(40) / 4);
    EXPECT_NEAR(east, 0, 2e-3);
    EXPECT_NEAR(north, latitude > 0 ? -1 : 1, 2e-3);
  }
}

TEST(TsunamiSphere, AnEarthThatTurnsTheOtherWayRoundIsTold) {
  EXPECT_NEAR(speeds(40, -kEarthTurn, period(40) / 4).second, 1, 2e-3);
}

TEST(TsunamiSphere, WaterGoesOnWhereTheEarthDoesNotTurn) {
  const auto [east, north] = speeds(40, 0, 3600);
  EXPECT_NEAR(east, 1, 1e-5);
  EXPECT_NEAR(north, 0, 1e-5);
}

}  // namespace
}  // namespace fabricmark::tsunami
