// Finite volumes of tsunamis, as the host has them: cells of a few rows, phase by phase.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "apps/tsunami/finite_volume_row.hpp"
#include "apps/tsunami/ocean.hpp"

namespace fabricmark::tsunami {
namespace {

constexpr std::size_t kColumns = 24;
constexpr std::size_t kRows = 16;
constexpr std::size_t kFields = 14;
constexpr double kWet = 1e-3;

/// A basin of cells between walls, or open sea.
class Basin {
 public:
  explicit Basin(unsigned char edge = kLand) : edge_(edge) {
    std::mt19937 draw(7);
    std::uniform_real_distribution<double> part(0, 1);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const double depth = 2 * part(draw) - 0.6;  // a third is land
        at(kDepth, row, column) = depth;
        at(kElevation, row, column) = std::max(0.0, -depth);
      }
    }
  }
  double& at(std::size_t field, std::size_t row, std::size_t column) {
    return state_[(field * kRows + row) * kColumns + column];
  }
  double height(std::size_t row, std::size_t column) {
    return at(kElevation, row, column) + at(kDepth, row, column);
  }
  double water() {
    double all = 0;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) all += height(row, column);
    }
    return all;
  }
  /// Water is heaped up and set in motion.
  void stir() {
    std::mt19937 draw(11);
    std::uniform_real_distribution<double> part(-0.5, 0.5);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        if (height(row, column) <= kWet) continue;
        at(kElevation, row, column) += 0.4 * (part(draw) + 0.5);
        at(kEast, row, column) = part(draw);
        at(kNorth, row, column) = part(draw);
      }
    }
  }
  /// A whole step; whether no cell was in trouble.
  bool step() { return phase(0) && phase(1); }
  [[nodiscard]] const std::vector<double>& state() const { return state_; }

 private:
  bool phase(int phase) {
    constexpr std::size_t kPitch = kColumns + 2;
    const std::vector<double> constants{0.03, 0.03, kGravity, kWet, 0.01};
    std::vector<double> made(state_.size());
    bool is_well = true;
    for (std::size_t row = 0; row < kRows; ++row) {
      std::vector<double> numbers(3 * kPitch * kFields);
      std::vector<unsigned char> kinds(3 * kPitch, edge_);
      for (std::size_t beside = 0; beside < 3; ++beside) {
        if (row + beside < 1 || row + beside > kRows) continue;
        for (std::size_t column = 0; column < kColumns; ++column) {
          kinds[beside * kPitch + column + 1] = kWater;
          for (std::size_t field = 0; field < kFields; ++field)
            numbers[(field * 3 + beside) * kPitch + column + 1] = at(field, row + beside - 1, column);
        }
      }
      std::vector<double> after(kFields * kColumns);
      const stencil::HostRow window{.numbers = numbers.data(),
                                    .kinds = kinds.data(),
                                    .constants = constants.data(),
                                    .columns = kColumns,
                                    .pitch = kPitch,
                                    .phase = phase};
      is_well = !stencil::next_row_of_finite_volumes(window, after.data()) && is_well;
      for (std::size_t field = 0; field < kFields; ++field) {
        for (std::size_t column = 0; column < kColumns; ++column)
          made[(field * kRows + row) * kColumns + column] = after[field * kColumns + column];
      }
    }
    state_ = made;
    return is_well;
  }

  unsigned char edge_;
  std::vector<double> state_ = std::vector<double>(kFields * kRows * kColumns);
};

TEST(TsunamiShores, WaterAtRestStaysSoInEveryBitOverAnyBed) {
  for (const unsigned char edge : {kLand, kOpen}) {
    Basin basin(edge);
    const std::vector<double> start = basin.state();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(basin.step());
    for (std::size_t i = 0; i < kArrival * kRows * kColumns; ++i) {
      if (i / (kRows * kColumns) == kLargest) continue;
      ASSERT_EQ(basin.state()[i], start[i]) << i;
    }
  }
}

TEST(TsunamiShores, WaterIsNeverLessThanNoneAndNeitherMadeNorLost) {
  Basin basin;
  basin.stir();
  const double before = basin.water();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(basin.step()) << i;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) ASSERT_GE(basin.height(row, column), 0);
    }
  }
  EXPECT_NEAR(basin.water() / before, 1, 1e-14);
}

TEST(TsunamiShores, WavesLeaveOverOpenEdges) {
  Basin closed;
  Basin open(kOpen);
  for (Basin* basin : {&closed, &open}) {
    basin->stir();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(basin->step());
  }
  EXPECT_LT(open.water(), closed.water() - 1);
}

TEST(TsunamiShores, DryCellsHaveNoSpeedsAndWholeStepsLeaveNoSlopes) {
  Basin basin;
  basin.stir();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(basin.step());
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      for (std::size_t field = kArrival + 1; field < kFields; ++field)
        ASSERT_EQ(basin.at(field, row, column), 0);
      if (basin.height(row, column) > kWet) continue;
      ASSERT_EQ(basin.at(kEast, row, column), 0);
      ASSERT_EQ(basin.at(kNorth, row, column), 0);
    }
  }
}

TEST(TsunamiShores, WaterThatIsTooFastIsInTrouble) {
  Basin basin;
  basin.stir();
  basin.at(kElevation, 5, 5) = 40;
  EXPECT_FALSE(basin.step());
}

}  // namespace
}  // namespace fabricmark::tsunami
