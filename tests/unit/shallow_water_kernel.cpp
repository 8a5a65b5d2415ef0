// The kernels' numerics of shallow water, compiled as C++ with numbers that count what is done with them;
// once for each ORDER.
#include <cmath>
#include <initializer_list>

#include "unit/shallow_water_kernel.hpp"

namespace fabricmark::shallow_water_kernel {

namespace {

long operations = 0;

/// A number; one that is written in the source is constant, and nothing is counted that a compiler leaves
/// out.
class Counted {
 public:
  Counted() = default;
  constexpr Counted(double value)
      : value_(value), is_constant_(true) {}  // NOLINT(google-explicit-constructor)
  static Counted variable(double value) {
    Counted made(value);
    made.is_constant_ = false;
    return made;
  }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] bool is(double constant) const { return is_constant_ && value_ == constant; }
  friend Counted operator+(const Counted& a, const Counted& b) {
    return counted(a.value_ + b.value_, a, b, a.is(0) || b.is(0));
  }
  friend Counted operator-(const Counted& a, const Counted& b) {
    return counted(a.value_ - b.value_, a, b, a.is(0) || b.is(0));
  }
  friend Counted operator*(const Counted& a, const Counted& b) {
    const bool is_nothing = a.is(0) || b.is(0);
    Counted made = counted(a.value_ * b.value_, a, b, is_nothing || a.is(1) || b.is(1));
    if (is_nothing) made.is_constant_ = true;
    return made;
  }
  friend Counted operator/(const Counted& a, const Counted& b) {
    return counted(a.value_ / b.value_, a, b, false);
  }
  Counted operator-() const { return signed_as(-value_); }
  Counted& operator+=(const Counted& other) { return *this = *this + other; }
  Counted& operator-=(const Counted& other) { return *this = *this - other; }
  friend bool operator>(const Counted& a, const Counted& b) { return a.value_ > b.value_; }
  friend bool operator<(const Counted& a, const Counted& b) { return a.value_ < b.value_; }
  friend bool operator>=(const Counted& a, const Counted& b) { return a.value_ >= b.value_; }
  friend bool operator<=(const Counted& a, const Counted& b) { return a.value_ <= b.value_; }
  friend Counted sqrt(const Counted& a) {
    ++operations;
    return a.signed_as(std::sqrt(a.value_));
  }
  friend Counted fabs(const Counted& a) { return a.signed_as(std::fabs(a.value_)); }

 private:
  [[nodiscard]] Counted signed_as(double value) const {
    Counted made = *this;
    made.value_ = value;
    return made;
  }
  static Counted counted(double value, const Counted& a, const Counted& b, bool is_free) {
    if (a.is_constant_ && b.is_constant_) return {value};
    if (!is_free) ++operations;
    return variable(value);
  }
  double value_ = 0;
  bool is_constant_ = false;
};

#define DATA_TYPE Counted
#define WIDTH 1
#define EXACT 0
#define FLUX rusanov
#define __constant
#define __global
#include "kernels/shallow_water/element.h"

sw_element any_element() {
  const auto some = [](double value) { return Counted::variable(value); };
  sw_element element{};
  constexpr double kX[] = {0, -0.8, -0.6};
  constexpr double kY[] = {-1, 0.6, 0.8};
  for (int side = 0; side < 3; ++side) {
    element.depth[side] = some(2 + side);
    element.nx[side] = some(kX[side]);
    element.ny[side] = some(kY[side]);
    element.ratio[side] = some(0.5);
    element.code[side] = 4 * side + side;
  }
  return element;
}

sw_numbers any_numbers(double xi) {
  sw_numbers numbers{};
  for (int mode = 0; mode < SW_MODES; ++mode) {
    numbers.of[0][mode] = Counted::variable(mode == 0 ? xi : 0.01 * mode);
    numbers.of[1][mode] = Counted::variable(0.2 + 0.01 * mode);
    numbers.of[2][mode] = Counted::variable(0.1 - 0.01 * mode);
  }
  return numbers;
}

}  // namespace

template <>
long operations_of_stage<ORDER>() {
  const auto some = [](double value) { return Counted::variable(value); };
  const sw_stage stage{some(0.01), some(0.5),   some(0.5), some(0.2),  some(0.2), some(0.3),
                       some(9.81), some(0.009), some(0),   some(3e-5), some(0.1)};
  const sw_element element = any_element();
  const sw_numbers own = any_numbers(0.1);
  operations = 0;
  sw_sums sums = sw_no_sums();
  for (int side = 0; side < 3; ++side) {
    const sw_numbers met = any_numbers(0.1 + 0.01 * side);
    for (int point = 0; point < SW_EDGE_POINTS; ++point) {
      sw_add_point(element, sw_through_point(element, own, met, side, point, stage), side, point, &sums);
    }
  }
  sw_add_volume(element, own, stage, &sums);
  // What throughput.cl makes of the sums.
  constexpr long kOfNumber = ORDER > 0 ? 5 : 2;
  return sw_is_in_trouble(sums, stage) != 0 ? -1 : operations + SW_NUMBERS * kOfNumber;
}

}  // namespace fabricmark::shallow_water_kernel
