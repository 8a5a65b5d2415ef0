#include "apps/tsunami/shores.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/tsunami/ocean.hpp"

namespace fabricmark::tsunami {

namespace {

using stencil::Place;

/// The beach falls by one on so many.
constexpr double kCotangent = 19.85;
/// Dry land behind it, in depths of the ocean.
constexpr double kDryDepths = 5;

}  // namespace

Bowl::Bowl(const Scale& scale) : scale_(scale) {
  constexpr double kShare = 0.3;
  radius_ = kShare * scale.spacing * std::min(scale.columns, scale.rows);
  const double square = std::pow(1 + scale.height / scale.depth, 2);
  swing_ = (square - 1) / (square + 1);
}

double Bowl::square(const Place& place) const {
  const double x = (middle(place.column) - scale_.columns / 2) * scale_.spacing / radius_;
  const double y = (middle(place.row) - scale_.rows / 2) * scale_.spacing / radius_;
  return x * x + y * y;
}

double Bowl::depth(const Place& place) const { return scale_.depth * (1 - square(place)); }

double Bowl::period() const {
  constexpr double kEight = 8;
  return 2 * std::numbers::pi * radius_ / std::sqrt(kEight * kGravity * scale_.depth);
}

double Bowl::elevation(const Place& place, double seconds) const {
  const double flat =
      std::sqrt(1 - swing_ * swing_) / (1 - swing_ * std::cos(2 * std::numbers::pi * seconds / period()));
  return std::max(scale_.depth * (flat - 1 - square(place) * (flat * flat - 1)), -depth(place));
}

Shape Bowl::shape() const {
  Shape shape;
  shape.depth = [bowl = *this](const Place& place) { return bowl.depth(place); };
  shape.elevation = [bowl = *this](const Place& place) { return bowl.elevation(place, 0); };
  return shape;
}

Beach::Beach(const Scale& scale)
    : scale_(scale), shore_(scale.columns * scale.spacing - kDryDepths * scale.depth) {}

double Beach::runup() const {
  constexpr double kLaw = 2.831;
  constexpr double kPower = 1.25;
  return kLaw * std::sqrt(kCotangent) * std::pow(scale_.height / scale_.depth, kPower) * scale_.depth;
}

Shape Beach::shape() const {
  Shape shape;
  shape.depth = [scale = scale_, shore = shore_](const Place& place) {
    return std::min(scale.depth, (shore - middle(place.column) * scale.spacing) / kCotangent);
  };
  // The crest is as far off the beach's foot as the wave is a twentieth of its height.
  const double narrow = std::sqrt(3 * scale_.height / (4 * scale_.depth)) / scale_.depth;
  constexpr double kTwentieth = 20;
  const double crest = shore_ - kCotangent * scale_.depth - std::acosh(std::sqrt(kTwentieth)) / narrow;
  shape.elevation = [scale = scale_, narrow, crest](const Place& place) {
    const double x = middle(place.column) * scale.spacing - crest;
    return scale.height / std::pow(std::cosh(narrow * x), 2);
  };
  shape.east = [scale = scale_, elevation = shape.elevation](const Place& place) {
    return 2 * (std::sqrt(kGravity * (scale.depth + elevation(place))) - std::sqrt(kGravity * scale.depth));
  };
  return shape;
}

}  // namespace fabricmark::tsunami
