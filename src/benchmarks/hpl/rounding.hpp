#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include "device/element.hpp"

namespace fabricmark::hpl {

/// Errors that right factors may have, in units of the type's epsilon. An element takes part in up to n
/// multiplications and additions, whose random rounding errors add up with the root of their number (Higham
/// and Mary 2019); the largest of all is six or so standard deviations out.
inline double probe_threshold(std::size_t size) { return 8 + 1.5 * std::sqrt(static_cast<double>(size)); }

/// The root mean square of errors that right factors may have in ordinary elements, in eps of the type times
/// the root mean square of these elements. With an element's k-th update its value is rounded again, and
/// random rounding errors add up with the root of their number (Higham and Mary 2019): 0.19 sqrt(k) for
/// numbers that are as these. k is at most the smaller of an element's row and column, as in the textbook's
/// loops: on average over a row or a column at the end half of n.
inline double precision_threshold(std::size_t size) {
  return 2 + 0.18 * std::sqrt(static_cast<double>(size));
}

/// How far from those of exact arithmetic right factors may be, in units of `epsilon`.
struct Rounding {
  double epsilon = 0;
  double of_element = 0;  ///< the largest error of an element, and of the diagonal's
  double mean = 0;        ///< of ordinary elements, as precision_threshold

  /// Of factors whose updates are computed in their own type.
  template <typename T>
  static Rounding of(std::size_t size) {
    return {device::kEpsilon<T>, probe_threshold(size), precision_threshold(size)};
  }
  /// Of factors in float whose updates multiply halves (data_type mixed). Each factor of a product is rounded
  /// once, by 0.2 eps, and sums are of floats. What n updates take from an element is 0.4 to 0.8 as large as
  /// ordinary elements, whatever n is, as the inputs have it (Inputs), so that neither bound grows with n:
  /// measured are at most 0.28 of the mean and 2.5 of an element; bfloat16 has eight times as much.
  static Rounding of_mixed() {
    constexpr double kOfElement = 8;
    constexpr double kMean = 0.5;
    return {device::kEpsilon<device::Half>, kOfElement, kMean};
  }
};

}  // namespace fabricmark::hpl
