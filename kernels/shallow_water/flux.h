// What flows through an edge between two states. The jump is taken in the surface elevation, with one depth
// h_b at both sides, so that a constant elevation at rest stays as it is, in every bit.
#ifndef FABRICMARK_SHALLOW_WATER_FLUX_H
#define FABRICMARK_SHALLOW_WATER_FLUX_H

#include "common/numbers.h"

// FLUX is one of these.
#define SW_FLUX_rusanov 0
#define SW_FLUX_hll 1
#define SW_FLUX_roe 2
#define SW_FLUX FM_PASTE(SW_FLUX_, FLUX)

typedef struct {
  real xi, u, v;  // surface elevation [m], depth-integrated velocities [m^2/s]
} sw_state;

// Through a metre of edge, in the direction of its normal: seen from the other side, with the normal turned,
// water and momentum are the same with the other sign, in every bit without contraction. `push` is the
// pressure at the edge less that of the own state, `push_beyond` less that of the other state.
typedef struct {
  real water, momentum_x, momentum_y, push, push_beyond, speed;
} sw_flux;

static inline sw_flux sw_edge_flux(sw_state own, sw_state other, real depth, real nx, real ny,
                                   scalar gravity) {
  const scalar half_of = (scalar)0.5;
  const real h = depth + own.xi;
  const real other_h = depth + other.xi;
  const real normal = own.u * nx + own.v * ny;
  const real other_normal = other.u * nx + other.v * ny;
  const real per_both = (scalar)1 / (h * other_h);  // one division for both
  const real velocity = normal * (other_h * per_both);
  const real other_velocity = other_normal * (h * per_both);
  const real wave = sqrt(gravity * h);
  const real other_wave = sqrt(gravity * other_h);
  const real jump_xi = other.xi - own.xi;
  const real jump_u = other.u - own.u;
  const real jump_v = other.v - own.v;
  const real jump_pressure = gravity * (jump_xi * (depth + half_of * (own.xi + other.xi)));
  sw_flux flux;
  const real own_speed = fabs(velocity) + wave;
  const real other_speed = fabs(other_velocity) + other_wave;
  flux.speed = FM_LARGER(other_speed, own_speed);
#if SW_FLUX == SW_FLUX_rusanov
  const real half_speed = half_of * flux.speed;
  flux.water = half_of * (normal + other_normal) - half_speed * jump_xi;
  flux.momentum_x = half_of * (own.u * velocity + other.u * other_velocity) - half_speed * jump_u;
  flux.momentum_y = half_of * (own.v * velocity + other.v * other_velocity) - half_speed * jump_v;
  flux.push = half_of * jump_pressure;
  flux.push_beyond = -flux.push;
#elif SW_FLUX == SW_FLUX_hll
  // Harten, Lax and van Leer 1983, with the slowest and the fastest wave of both states.
  const real none = 0;
  const real slower = FM_SMALLER(other_velocity - other_wave, velocity - wave);
  const real faster = FM_LARGER(other_velocity + other_wave, velocity + wave);
  const real slow = FM_SMALLER(none, slower);
  const real fast = FM_LARGER(none, faster);
  const real span = fast - slow;
  const real both = fast * slow;
  flux.water = (fast * normal - slow * other_normal + both * jump_xi) / span;
  flux.momentum_x = (fast * (own.u * velocity) - slow * (other.u * other_velocity) + both * jump_u) / span;
  flux.momentum_y = (fast * (own.v * velocity) - slow * (other.v * other_velocity) + both * jump_v) / span;
  flux.push = (-slow * jump_pressure) / span;
  flux.push_beyond = (-fast * jump_pressure) / span;
#else
  // Roe 1981: the waves of a mean state, none slower than a tenth of it (Harten 1983).
  const real root = sqrt(h);
  const real other_root = sqrt(other_h);
  const real roots = root + other_root;
  const real mean_u = (own.u / root + other.u / other_root) / roots;
  const real mean_v = (own.v / root + other.v / other_root) / roots;
  const real mean = mean_u * nx + mean_v * ny;
  const real mean_wave = sqrt(gravity * (half_of * (h + other_h)));
  const real least = (scalar)0.1 * mean_wave;
  const real behind = FM_LARGER(least, fabs(mean - mean_wave));
  const real middle = FM_LARGER(least, fabs(mean));
  const real ahead = FM_LARGER(least, fabs(mean + mean_wave));
  const real jump_normal = jump_u * nx + jump_v * ny;
  const real relative = jump_normal - mean * jump_xi;  // half of it is what the waves carry apart
  const real forward = half_of * (jump_xi + relative / mean_wave) * ahead;
  const real backward = half_of * (jump_xi - relative / mean_wave) * behind;
  const real shear_x = (jump_u - nx * jump_normal) - (mean_u - nx * mean) * jump_xi;
  const real shear_y = (jump_v - ny * jump_normal) - (mean_v - ny * mean) * jump_xi;
  const real waves = forward + backward;
  const real apart = mean_wave * (forward - backward);
  flux.water = half_of * (normal + other_normal) - half_of * waves;
  flux.momentum_x = half_of * (own.u * velocity + other.u * other_velocity) -
                    half_of * (mean_u * waves + nx * apart + middle * shear_x);
  flux.momentum_y = half_of * (own.v * velocity + other.v * other_velocity) -
                    half_of * (mean_v * waves + ny * apart + middle * shear_y);
  flux.push = half_of * jump_pressure;
  flux.push_beyond = -flux.push;
#endif
  return flux;
}

// Kinds of edges: what a neighbour's code is where there is none.
#define SW_LAND (-1)
#define SW_SEA (-2)
#define SW_RIVER (-3)
#define SW_INFLOW (-4)

// What lies beyond an edge. `code` < 0 where that is no element; `met` is what was found there, at the own
// element then. Land turns the normal velocity round, the sea has its own elevation, an inflow its own
// velocity, a river both.
static inline sw_state sw_beyond(sw_state own, sw_state met, whole code, real nx, real ny, scalar sea_xi,
                                 scalar river_xi, scalar river_inflow) {
  const truth is_land = FM_TRUTH(code == SW_LAND);
  const truth is_sea = FM_TRUTH(code == SW_SEA);
  const truth is_river = FM_TRUTH(code == SW_RIVER);
  const truth is_flowing = FM_TRUTH(code <= SW_RIVER);
  const real normal = own.u * nx + own.v * ny;
  sw_state other;
  other.xi = FM_CHOOSE(is_sea, (real)(sea_xi), FM_CHOOSE(is_river, (real)(river_xi), met.xi));
  other.u = FM_CHOOSE(is_land, own.u - 2 * normal * nx, FM_CHOOSE(is_flowing, -river_inflow * nx, met.u));
  other.v = FM_CHOOSE(is_land, own.v - 2 * normal * ny, FM_CHOOSE(is_flowing, -river_inflow * ny, met.v));
  return other;
}

#endif
