#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/shallow_water/execution.hpp"

namespace fabricmark::shallow_water {

/// The same scheme on the host, in double precision, written for itself: it goes over the edges of the mesh,
/// with the elements' own Jacobians and a basis that is made here.
class Reference {
 public:
  /// `threads` change nothing but how long it takes.
  Reference(const Problem& problem, const Basis& basis, const std::string& flux, int threads);

  /// From here on it is right in these elements after up to `steps` steps; the rest of the mesh does not
  /// matter.
  void ask_for(const std::vector<std::int32_t>& elements, std::int64_t steps);
  /// The whole mesh's field, by number, after these steps; right in the elements that were asked for.
  [[nodiscard]] Field advance(Field field, const Steps& steps) const;
  /// Adds L(q) at a time of elements that are at most `layer` away from those asked for.
  [[nodiscard]] Field rate(const Field& field, double seconds, int layer) const;

 private:
  /// A state and its depth at a point.
  struct Trace {
    double h = 0;
    State state;
  };
  struct EdgeFlux {
    double water = 0;
    double momentum_x = 0;
    double momentum_y = 0;
    double pressure = 0;
  };
  /// The basis at a point: [mode].
  using Modes = std::array<double, kMostModes>;
  /// A point of a side or of the triangle, and what the basis has there.
  struct Point {
    double r = 0;
    double s = 0;
    double weight = 0;
    Modes value{};
    Modes by_r{};
    Modes by_s{};
  };
  /// Length and normal of an edge, out of its left element.
  struct Side {
    double length = 0;
    double nx = 0;
    double ny = 0;
  };
  [[nodiscard]] Point point_at(double r, double s, double weight) const;
  [[nodiscard]] Trace trace(const Field& field, std::size_t element, const Point& point) const;
  [[nodiscard]] EdgeFlux edge_flux(const Trace& left, const Trace& right, double nx, double ny) const;
  /// Elements of which one thread computes the rate.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool has(std::int32_t element) const {
      return std::cmp_greater_equal(element, begin) && std::cmp_less(element, end);
    }
  };
  /// What flows through an edge, to those of its elements that are in `range`.
  void add_edge(const Field& field, std::size_t number, const Forcing& forcing, int layer, const Range& range,
                Field& rate) const;
  void add_volume(const Field& field, std::size_t element, Field& rate) const;
  void add(Field& rate, std::size_t element, const std::array<double, kUnknowns>& amount,
           const Point& point) const;

  const Problem& problem_;
  const Basis& basis_;
  enum class Flux { kRusanov, kHll, kRoe } flux_;
  int threads_;
  std::vector<mesh::Edge> edges_;
  std::vector<Side> sides_;    ///< of each edge
  std::vector<double> areas_;  ///< of each element
  std::vector<Point> volume_points_;
  /// [side][point], from the start of the side to its end.
  std::array<std::vector<Point>, 3> side_points_;
  std::vector<int>
      layers_;  ///< [element]: how far it is from those asked for; what is further is not computed
};

}  // namespace fabricmark::shallow_water
