#pragma once

#include <CL/cl_half.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace fabricmark::device {

/// An IEEE half-precision number in host memory; g++ 12 has no such type for C++.
class Half {
 public:
  Half() = default;
  explicit Half(double value) : bits_(cl_half_from_float(static_cast<float>(value), CL_HALF_RTE)) {}
  explicit operator double() const { return cl_half_to_float(bits_); }
  static Half of_bits(std::uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }
  friend bool operator==(Half left, Half right) {
    return static_cast<double>(left) == static_cast<double>(right);
  }

 private:
  std::uint16_t bits_;
};

/// Distance from 1 to the next number of the type.
template <typename T>
constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
template <>
inline constexpr double kEpsilon<Half> = 0x1p-10;

/// The same of float or double, by the value of a parameter data_type.
inline double epsilon_of(std::string_view data_type) {
  return data_type == "double" ? kEpsilon<double> : kEpsilon<float>;
}

}  // namespace fabricmark::device
