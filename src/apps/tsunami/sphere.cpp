#include "apps/tsunami/sphere.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/tsunami/ocean.hpp"
#include "base/error.hpp"

namespace fabricmark::tsunami {

namespace {

using stencil::Place;

constexpr double kDegree = std::numbers::pi / 180;

}  // namespace

double Sphere::width(std::size_t row) const { return kEarthRadius * std::cos(latitude(row)) * step_x; }

Sphere sphere_of(const std::array<double, 4>& degrees, std::size_t columns, std::size_t rows, double turn) {
  const auto [west, east, south, north] = degrees;
  constexpr double kRounded = 1e-6;  // of degrees in files, and of metres as degrees
  if (east - west > 360 + kRounded) {
    throw bad_use(fmt::format("columns of {:.6g} degrees go round the Earth more than once", east - west),
                  "use fewer --columns, less --spacing, or --coordinates plane");
  }
  if (south < -90 - kRounded || north > 90 + kRounded) {
    throw bad_use(fmt::format("rows from {:.6g} to {:.6g} degrees go beyond a pole", south, north),
                  "use fewer --rows, less --spacing, another --south, or --coordinates plane");
  }
  return {.west = west * kDegree,
          .south = south * kDegree,
          .step_x = (east - west) * kDegree / static_cast<double>(columns),
          .step_y = (north - south) * kDegree / static_cast<double>(rows),
          .turn = turn};
}

Harmonic::Harmonic(const Sphere& sphere, const Scale& scale)
    : sphere_(sphere), scale_(scale), wavenumber_(2 * std::numbers::pi / (scale.columns * sphere.step_x)) {}

double Harmonic::period() const {
  const double square = kGravity * scale_.depth * wavenumber_ * (wavenumber_ + 1);
  return 2 * std::numbers::pi * kEarthRadius / std::sqrt(square);
}

double Harmonic::elevation(const Place& place, double seconds) const {
  return scale_.height * std::cos(wavenumber_ * sphere_.longitude(place.column)) *
         std::pow(std::cos(sphere_.latitude(place.row)), wavenumber_) *
         std::cos(2 * std::numbers::pi * seconds / period());
}

Shape Harmonic::shape() const {
  Shape shape;
  shape.depth = [depth = scale_.depth](const Place&) { return depth; };
  shape.elevation = [wave = *this](const Place& place) { return wave.elevation(place, 0); };
  return shape;
}

Zonal::Zonal(const Sphere& sphere, const Scale& scale) : sphere_(sphere), scale_(scale) {
  // g height = R turn speed + speed^2 / 2
  const double turning = kEarthRadius * sphere.turn;
  const double pushed = 2 * kGravity * scale.height;
  speed_ = pushed / (turning + std::sqrt(turning * turning + pushed));
}

double Zonal::elevation(const Place& place) const {
  return -scale_.height * std::pow(std::sin(sphere_.latitude(place.row)), 2);
}

Shape Zonal::shape() const {
  Shape shape;
  shape.depth = [depth = scale_.depth](const Place&) { return depth; };
  shape.elevation = [flow = *this](const Place& place) { return flow.elevation(place); };
  shape.east = [sphere = sphere_, speed = speed_](const Place& place) {
    return speed * std::cos(sphere.latitude(place.row));
  };
  return shape;
}

}  // namespace fabricmark::tsunami
