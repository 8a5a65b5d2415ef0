#include "apps/lbm/populations.hpp"

namespace fabricmark::lbm {

namespace {

struct Direction {
  double x = 0, y = 0, weight = 0;
};

constexpr double kRest = 4.0 / 9;
constexpr double kNear = 1.0 / 9;
constexpr double kFar = 1.0 / 36;
constexpr std::array<Direction, kPopulations> kDirections{{{0, 0, kRest},
                                                           {1, 0, kNear},
                                                           {0, 1, kNear},
                                                           {-1, 0, kNear},
                                                           {0, -1, kNear},
                                                           {1, 1, kFar},
                                                           {-1, 1, kFar},
                                                           {-1, -1, kFar},
                                                           {1, -1, kFar}}};

}  // namespace

Populations equilibrium(const Flow& flow) {
  Populations made{};
  const double square = flow.u * flow.u + flow.v * flow.v;
  for (std::size_t i = 0; i < kPopulations; ++i) {
    const Direction& way = kDirections[i];
    const double along = way.x * flow.u + way.y * flow.v;
    made[i] =
        way.weight * (flow.density - 1 + flow.density * (3 * along + 4.5 * along * along - 1.5 * square));
  }
  return made;
}

Populations relaxed(const Flow& flow, const Gradient& gradient, double omega) {
  Populations made = equilibrium(flow);
  for (std::size_t i = 0; i < kPopulations; ++i) {
    const Direction& way = kDirections[i];
    const double strain = way.x * way.x * gradient.ux + way.x * way.y * (gradient.uy + gradient.vx) +
                          way.y * way.y * gradient.vy - (gradient.ux + gradient.vy) / 3;
    made[i] -= (1 - omega) * 3 * way.weight * flow.density / omega * strain;
  }
  return made;
}

Flow flow_of(const double* populations, std::size_t stride) {
  Flow flow;
  for (std::size_t i = 0; i < kPopulations; ++i) {
    const double number = populations[i * stride];
    flow.density += number;
    flow.u += kDirections[i].x * number;
    flow.v += kDirections[i].y * number;
  }
  flow.u /= flow.density;
  flow.v /= flow.density;
  return flow;
}

}  // namespace fabricmark::lbm
