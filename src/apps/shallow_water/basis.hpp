#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace fabricmark::shallow_water {

inline constexpr int kUnknowns = 3;
inline constexpr std::array kUnknownNames{"xi", "u", "v"};

constexpr int modes_of(int order) { return (order + 1) * (order + 2) / 2; }
inline constexpr int kMostModes = modes_of(2);

/// A point of the triangle (0, 0), (1, 0), (0, 1) and its share of the area.
struct VolumePoint {
  double r = 0;
  double s = 0;
  double weight = 0;
};

/// A point between 0 and 1 and its share of the length.
struct LinePoint {
  double t = 0;
  double weight = 0;
};

/// Gauss points: integrate polynomials of degree 2 count - 1.
std::vector<LinePoint> line_points(int count);
/// The same in the triangle, of degree 2 count - 2: count^2 points (Duffy 1982).
std::vector<VolumePoint> volume_points(int count);

/// The orthonormal polynomials of up to a degree on the triangle, made here by Gram and Schmidt from the
/// monomials 1, s, r, s^2, r s, r^2: the kernels have them written out. Number 0 is 1.
class Basis {
 public:
  explicit Basis(int order);

  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] int modes() const { return modes_of(order_); }
  [[nodiscard]] double value(int mode, double r, double s) const;
  /// The derivatives by r and s.
  [[nodiscard]] std::array<double, 2> gradient(int mode, double r, double s) const;
  /// The modes of a function of r and s; exact for a constant.
  [[nodiscard]] std::vector<double> project(const std::function<double(double r, double s)>& function) const;

 private:
  int order_;
  std::vector<std::vector<double>> coefficients_;  // [mode][monomial]
};

}  // namespace fabricmark::shallow_water
