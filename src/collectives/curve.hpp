#pragma once

#include <compare>
#include <utility>
#include <vector>

namespace fabricmark::collectives {

/// Seconds by bytes, where no latency and rate say them: a line between two points, and beyond the last one
/// at the rate of the last two.
class Curve {
 public:
  Curve() = default;
  /// Throws Error (bad use) for points that do not ascend in bytes, or take no finite time of 0 s or more.
  explicit Curve(std::vector<std::pair<double, double>> points);

  [[nodiscard]] bool is_there() const { return !points_.empty(); }
  /// Of a curve that is there.
  [[nodiscard]] double operator()(double bytes) const;
  auto operator<=>(const Curve&) const = default;

 private:
  std::vector<std::pair<double, double>> points_;
};

}  // namespace fabricmark::collectives
