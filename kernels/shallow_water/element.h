// One stage of a step for an element, or for as many as `real` holds: what flows through its three edges, in
// the order of its sides, and what acts within it. Each element does this for itself, from its own numbers
// and those of its neighbours: so its result has the same bits whatever else is computed, and wherever.
#ifndef FABRICMARK_SHALLOW_WATER_ELEMENT_H
#define FABRICMARK_SHALLOW_WATER_ELEMENT_H

#include "shallow_water/basis.h"
#include "shallow_water/flux.h"

// What an element is. Side i is between its nodes i and i + 1.
typedef struct {
  real depth[3];  // below still water at the nodes [m]
  real nx[3];     // outward normals of the sides, of length 1
  real ny[3];
  real ratio[3];  // length of a side by the element's area [1/m]
  whole code[3];  // 4 * neighbour + its side, or what the edge is (flux.h)
} sw_element;

// What is the same for all elements in a stage.
typedef struct {
  scalar dt, keep, take;                  // q = keep q_before + take (q + dt L(q))
  scalar sea_xi, river_xi, river_inflow;  // beyond edges: elevation [m], inflow [m^2/s]
  scalar gravity, friction, linear_friction, coriolis;
  scalar least_depth;  // of water, below which the run stops [m]
} sw_stage;

// Coefficients of xi, U and V, each of as many modes.
typedef struct {
  real of[SW_UNKNOWNS][SW_MODES];
} sw_numbers;

// What a stage changes, and what it found; summed up point by point of the sides.
typedef struct {
  sw_numbers rate;  // L(q)
  real outflow;     // through sea and river [m/s of the element's mean elevation]
  real courant;     // sum of the sides' speeds by the element's size [1/s]
  real least;       // depth of water at the points of the sides [m]
} sw_sums;

static inline sw_sums sw_no_sums(void) {
  sw_sums sums;
  FM_UNROLL_FULLY
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
    FM_UNROLL_FULLY
    for (int mode = 0; mode < SW_MODES; ++mode) sums.rate.of[unknown][mode] = 0;
  }
  sums.outflow = 0;
  sums.courant = 0;
  sums.least = (real)(1e30f);
  return sums;
}

// Not deep enough, too fast for dt, or not a number: comparisons are false for what is none.
static inline truth sw_is_in_trouble(sw_sums sums, sw_stage stage) {
  return !(sums.least >= stage.least_depth && sums.courant * stage.dt <= (scalar)(2.0 / (2 * ORDER + 1)));
}

// Friction and Coriolis' force.
static inline void sw_forces(sw_stage stage, real per_depth, real u, real v, real* force_u, real* force_v) {
  const real tau = stage.friction * sqrt(u * u + v * v) * (per_depth * per_depth) + stage.linear_friction;
  *force_u = stage.coriolis * v - tau * u;
  *force_v = -(stage.coriolis * u) - tau * v;
}

// What flows through a point of a side, and the depth of water there on both sides.
typedef struct {
  sw_flux flux;
  real depth, depth_beyond;
} sw_through;

// A number at a point of an own side: the sum of its modes.
static inline real sw_sum(const real* modes, __constant const scalar* at) {
  real sum = modes[0];
  FM_UNROLL_FULLY
  for (int mode = 1; mode < SW_MODES; ++mode) sum += at[mode - 1] * modes[mode];
  return sum;
}

static inline sw_state sw_trace(sw_numbers own, int side, int point) {
  __constant const scalar* at = sw_edge_modes[side][point];
  const sw_state state = {sw_sum(own.of[0], at), sw_sum(own.of[1], at), sw_sum(own.of[2], at)};
  return state;
}

// The same of what a neighbour has at the point, on the side that its code says.
static inline real sw_sum_beyond(const real* modes, int point, truth is_side_0, truth is_side_1) {
  real sum = modes[0];
  FM_UNROLL_FULLY
  for (int mode = 1; mode < SW_MODES; ++mode) {
    const real at = FM_CHOOSE(is_side_0, (real)(sw_edge_modes[0][point][mode - 1]),
                              FM_CHOOSE(is_side_1, (real)(sw_edge_modes[1][point][mode - 1]),
                                        (real)(sw_edge_modes[2][point][mode - 1])));
    sum += at * modes[mode];
  }
  return sum;
}

static inline sw_state sw_trace_beyond(sw_numbers met, whole code, int point) {
  const truth is_side_0 = FM_TRUTH((code & 3) == 0);
  const truth is_side_1 = FM_TRUTH((code & 3) == 1);
  const sw_state state = {sw_sum_beyond(met.of[0], point, is_side_0, is_side_1),
                          sw_sum_beyond(met.of[1], point, is_side_0, is_side_1),
                          sw_sum_beyond(met.of[2], point, is_side_0, is_side_1)};
  return state;
}

// Through a point of a side, beyond which the numbers `met` are.
static inline sw_through sw_through_point(sw_element element, sw_numbers own, sw_numbers met, int side,
                                          int point, sw_stage stage) {
  const real nx = element.nx[side], ny = element.ny[side];
  const whole code = element.code[side];
  const truth is_met = FM_TRUTH(code >= 0);
  const sw_state state = sw_trace(own, side, point);
  sw_state found = sw_trace_beyond(met, code, SW_EDGE_POINTS - 1 - point);
  found.xi = FM_CHOOSE(is_met, found.xi, state.xi);
  found.u = FM_CHOOSE(is_met, found.u, state.u);
  found.v = FM_CHOOSE(is_met, found.v, state.v);
  const sw_state other =
      sw_beyond(state, found, code, nx, ny, stage.sea_xi, stage.river_xi, stage.river_inflow);
  const real depth = sw_edge_place[SW_EDGE_POINTS - 1 - point] * element.depth[side] +
                     sw_edge_place[point] * element.depth[(side + 1) % 3];
  sw_through through;
  through.flux = sw_edge_flux(state, other, depth, nx, ny, stage.gravity);
  // Nothing at all flows through land, and through an inflow what is given.
  const real given = FM_CHOOSE(FM_TRUTH(code == SW_INFLOW), (real)(-stage.river_inflow), through.flux.water);
  through.flux.water = FM_CHOOSE(FM_TRUTH(code == SW_LAND), (real)(0), given);
  through.depth = depth + state.xi;
  through.depth_beyond = depth + other.xi;
  return through;
}

static inline void sw_add(sw_numbers* sums, int unknown, real amount, __constant const scalar* at) {
  sums->of[unknown][0] += amount;
  FM_UNROLL_FULLY
  for (int mode = 1; mode < SW_MODES; ++mode) sums->of[unknown][mode] += at[mode - 1] * amount;
}

static inline void sw_add_point(sw_element element, sw_through through, int side, int point, sw_sums* sums) {
  __constant const scalar* at = sw_edge_modes[side][point];
  const sw_flux flux = through.flux;
  const real ratio = sw_edge_weight[point] * element.ratio[side];
  const real water = ratio * flux.water;
  sw_add(&sums->rate, 0, -water, at);
  sw_add(&sums->rate, 1, -(ratio * (flux.momentum_x + flux.push * element.nx[side])), at);
  sw_add(&sums->rate, 2, -(ratio * (flux.momentum_y + flux.push * element.ny[side])), at);
  sums->outflow += FM_CHOOSE(FM_TRUTH(element.code[side] <= SW_SEA), water, (real)(0));
  // A sum, so that what is not a number shows in it; that of the points weighs them as the flux does.
  sums->courant += ratio * flux.speed;
  sums->least = FM_SMALLER(sums->least, through.depth);
}

#if ORDER == 0

// What acts within the element.
static inline void sw_add_volume(sw_element element, sw_numbers own, sw_stage stage, sw_sums* sums) {
  const real mean_depth = (element.depth[0] + element.depth[1] + element.depth[2]) * (scalar)(1.0 / 3.0);
  real force_u, force_v;
  sw_forces(stage, (scalar)1 / (mean_depth + own.of[0][0]), own.of[1][0], own.of[2][0], &force_u, &force_v);
  sums->rate.of[1][0] += force_u;
  sums->rate.of[2][0] += force_v;
}

#else

// Transport of momentum in its weak form; pressure and slope of the bottom together, as a force g H grad xi,
// which is zero where the elevation is constant.
static inline void sw_add_volume(sw_element element, sw_numbers own, sw_stage stage, sw_sums* sums) {
  sw_numbers* rate = &sums->rate;
  const scalar minus_half = (scalar)-0.5;
  const real r_x = minus_half * element.ratio[2] * element.nx[2];
  const real r_y = minus_half * element.ratio[2] * element.ny[2];
  const real s_x = minus_half * element.ratio[0] * element.nx[0];
  const real s_y = minus_half * element.ratio[0] * element.ny[0];
  FM_UNROLL_FULLY
  for (int point = 0; point < SW_VOLUME_POINTS; ++point) {
    __constant const scalar* at = sw_volume_modes[point];
    __constant const scalar* place = sw_volume_place[point];
    const scalar weight = sw_volume_weight[point];
    const real u = sw_sum(own.of[1], at);
    const real v = sw_sum(own.of[2], at);
    const real h = place[0] * element.depth[0] + place[1] * element.depth[1] + place[2] * element.depth[2] +
                   sw_sum(own.of[0], at);
    real slope_r = 0, slope_s = 0;
    FM_UNROLL_FULLY
    for (int mode = 1; mode < SW_MODES; ++mode) {
      slope_r += sw_volume_modes_r[point][mode - 1] * own.of[0][mode];
      slope_s += sw_volume_modes_s[point][mode - 1] * own.of[0][mode];
    }
    const real per_depth = (scalar)1 / h;
    real force_u, force_v;
    sw_forces(stage, per_depth, u, v, &force_u, &force_v);
    const real press = stage.gravity * h;
    sw_add(rate, 1, weight * (force_u - press * (r_x * slope_r + s_x * slope_s)), at);
    sw_add(rate, 2, weight * (force_v - press * (r_y * slope_r + s_y * slope_s)), at);
    // Fluxes along r and s.
    const real u_r = weight * (u * r_x + v * r_y);
    const real u_s = weight * (u * s_x + v * s_y);
    const real velocity_u = u * per_depth;
    const real velocity_v = v * per_depth;
    FM_UNROLL_FULLY
    for (int mode = 1; mode < SW_MODES; ++mode) {
      const real along = sw_volume_modes_r[point][mode - 1] * u_r + sw_volume_modes_s[point][mode - 1] * u_s;
      rate->of[0][mode] += along;
      rate->of[1][mode] += along * velocity_u;
      rate->of[2][mode] += along * velocity_v;
    }
  }
}

#endif
#endif
