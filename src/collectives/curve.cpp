#include "collectives/curve.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace fabricmark::collectives {

Curve::Curve(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {
  const auto does_not_ascend = [](const auto& a, const auto& b) { return a.first >= b.first; };
  const bool ascends = std::ranges::adjacent_find(points_, does_not_ascend) == points_.end();
  const bool is_time = std::ranges::all_of(points_, [](const auto& point) {
    return std::isfinite(point.first) && std::isfinite(point.second) && point.second >= 0;
  });
  if (!ascends || !is_time) {
    throw bad_use("a curve of seconds by bytes does not ascend in bytes, or has a time below 0 s",
                  "give each size once, in order, and its seconds");
  }
}

double Curve::operator()(double bytes) const {
  if (points_.size() == 1) return points_.front().second;
  auto above = std::ranges::lower_bound(points_, bytes, {}, &std::pair<double, double>::first);
  if (above == points_.end()) --above;
  if (above == points_.begin()) {
    if (bytes <= above->first) return above->second;
    ++above;
  }
  const auto& [first_bytes, first_seconds] = *(above - 1);
  const double rate = (above->second - first_seconds) / (above->first - first_bytes);
  return std::max(0.0, first_seconds + (bytes - first_bytes) * rate);
}

}  // namespace fabricmark::collectives
