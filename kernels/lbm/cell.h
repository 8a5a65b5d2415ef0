// Lattice Boltzmann on the plane: nine populations of a cell (D2Q9), which stream to the neighbours and relax
// towards equilibrium (Bhatnagar, Gross, Krook 1954; Qian, d'Humieres, Lallemand 1992). A cell pulls what
// streams to it, then relaxes. Walls lie half-way between cells (Ladd 1994); forces are Guo's (2002).
// Populations are kept less those of fluid at rest with a density of 1, next to which they are small: so
// fewer of their digits are lost (Skordos 1993).
#ifndef FABRICMARK_LBM_CELL_H
#define FABRICMARK_LBM_CELL_H

// Populations: at rest, to the east, north, west, south, north-east, north-west, south-west, south-east.
// North is the next row.
#define FM_FIELDS 9

#define FM_CONSTANTS 6
#define LBM_OMEGA 0    // of the relaxation, between 0 and 2
#define LBM_FORCE_X 1  // on a cell's fluid
#define LBM_FORCE_Y 2
#define LBM_WALL_SPEED_X 3  // of moving walls
#define LBM_WALL_SPEED_Y 4
#define LBM_MOST_SPEED 5  // squared; the run stops where fluid is faster

// Kinds of cells. Fluid bounces back from walls, from moving ones with their speed, and from what is nothing.
// Inflow keeps its populations, which are those of equilibrium at its speed; outflow takes those of the cell
// to its west.
#define LBM_FLUID 0
#define LBM_WALL 1
#define LBM_MOVING_WALL 2
#define LBM_INFLOW 3
#define LBM_OUTFLOW 4
#define LBM_NOTHING 5
#define FM_EDGE_KIND LBM_WALL

#include "common/stencil/window.h"

// Without a force, which is the same for all cells.
#define FM_SIMPLE(constants) ((constants).of[LBM_FORCE_X] == 0 && (constants).of[LBM_FORCE_Y] == 0)

#define LBM_WEIGHT_REST ((scalar)(4.0 / 9))
#define LBM_WEIGHT_NEAR ((scalar)(1.0 / 9))
#define LBM_WEIGHT_FAR ((scalar)(1.0 / 36))

// The population that arrives from (-dx, -dy), in direction (dx, dy).
#define LBM_ARRIVING(window, constants, direction, opposite, dx, dy, weight)       \
  lbm_arriving(                                                                    \
      FM_FIELD(window, direction, -(dx), -(dy)), FM_FIELD(window, opposite, 0, 0), \
      FM_KIND(window, -(dx), -(dy)),                                               \
      6 * (weight) * ((dx) * (constants).of[LBM_WALL_SPEED_X] + (dy) * (constants).of[LBM_WALL_SPEED_Y]))

// `moved`: what a moving wall adds to what bounces back from it.
FM_INLINE real lbm_arriving(real streamed, real bounced, whole kind, scalar moved) {
  const truth is_wall = FM_TRUTH((kind == LBM_WALL) | (kind == LBM_NOTHING));
  const truth is_moving = FM_TRUTH(kind == LBM_MOVING_WALL);
  return FM_CHOOSE(is_wall, bounced, FM_CHOOSE(is_moving, bounced + moved, streamed));
}

// A pair of opposite populations after they relaxed: `even` and `odd` are the parts of equilibrium that both
// have alike and with opposite signs.
FM_INLINE void lbm_relax(real* one, real* other, real even, real odd, scalar omega) {
  *one = *one + omega * (even + odd - *one);
  *other = *other + omega * (even - odd - *other);
}

// What a force adds to such a pair: of weight * (1 - omega / 2), the pair's direction times force and speed,
// and the force times the speed.
FM_INLINE void lbm_push(real* one, real* other, scalar share, scalar along, real flowing, real work) {
  const real even = share * (9 * flowing * along - 3 * work);
  const scalar odd = 3 * share * along;
  *one = *one + (even + odd);
  *other = *other + (even - odd);
}

static inline fm_numbers fm_next(const fm_window window, const fm_constants constants) {
  const scalar omega = constants.of[LBM_OMEGA];
  fm_numbers next;
  real rest = FM_FIELD(window, 0, 0, 0);
  real east = LBM_ARRIVING(window, constants, 1, 3, 1, 0, LBM_WEIGHT_NEAR);
  real north = LBM_ARRIVING(window, constants, 2, 4, 0, 1, LBM_WEIGHT_NEAR);
  real west = LBM_ARRIVING(window, constants, 3, 1, -1, 0, LBM_WEIGHT_NEAR);
  real south = LBM_ARRIVING(window, constants, 4, 2, 0, -1, LBM_WEIGHT_NEAR);
  real north_east = LBM_ARRIVING(window, constants, 5, 7, 1, 1, LBM_WEIGHT_FAR);
  real north_west = LBM_ARRIVING(window, constants, 6, 8, -1, 1, LBM_WEIGHT_FAR);
  real south_west = LBM_ARRIVING(window, constants, 7, 5, -1, -1, LBM_WEIGHT_FAR);
  real south_east = LBM_ARRIVING(window, constants, 8, 6, 1, -1, LBM_WEIGHT_FAR);

  const real rising = north_east - south_west;
  const real falling = south_east - north_west;
  const real denser =
      rest + ((east + west) + (north + south)) + ((north_east + south_west) + (north_west + south_east));
  const real density = 1 + denser;
  const real volume = 1 / density;
  real u = ((east - west) + (rising + falling)) * volume;
  real v = ((north - south) + (rising - falling)) * volume;
  const scalar force_x = constants.of[LBM_FORCE_X];
  const scalar force_y = constants.of[LBM_FORCE_Y];
  const int is_pushed = !FM_IS_SIMPLE(window, constants);
  if (is_pushed) {
    u = u + (scalar)(0.5) * force_x * volume;
    v = v + (scalar)(0.5) * force_y * volume;
  }

  const real square = u * u + v * v;
  const real still = denser - (scalar)(1.5) * density * square;
  const real near = LBM_WEIGHT_NEAR * density;
  const real far = LBM_WEIGHT_FAR * density;
  const real still_near = LBM_WEIGHT_NEAR * still;
  const real still_far = LBM_WEIGHT_FAR * still;
  const real sum = u + v;
  const real difference = u - v;
  rest = rest + omega * (LBM_WEIGHT_REST * still - rest);
  lbm_relax(&east, &west, still_near + near * ((scalar)(4.5) * u * u), near * 3 * u, omega);
  lbm_relax(&north, &south, still_near + near * ((scalar)(4.5) * v * v), near * 3 * v, omega);
  lbm_relax(&north_east, &south_west, still_far + far * ((scalar)(4.5) * sum * sum), far * 3 * sum, omega);
  lbm_relax(&south_east, &north_west, still_far + far * ((scalar)(4.5) * difference * difference),
            far * 3 * difference, omega);
  if (is_pushed) {
    const scalar share = 1 - (scalar)(0.5) * omega;
    const real work = u * force_x + v * force_y;
    rest = rest - 3 * share * LBM_WEIGHT_REST * work;
    lbm_push(&east, &west, share * LBM_WEIGHT_NEAR, force_x, u, work);
    lbm_push(&north, &south, share * LBM_WEIGHT_NEAR, force_y, v, work);
    lbm_push(&north_east, &south_west, share * LBM_WEIGHT_FAR, force_x + force_y, sum, work);
    lbm_push(&south_east, &north_west, share * LBM_WEIGHT_FAR, force_x - force_y, difference, work);
  }

  const whole kind = FM_KIND(window, 0, 0);
  const truth is_fluid = FM_TRUTH(kind == LBM_FLUID);
  const truth is_outflow = FM_TRUTH(kind == LBM_OUTFLOW);
#define LBM_KEPT(number, value) \
  FM_CHOOSE(is_fluid, value,    \
            FM_CHOOSE(is_outflow, FM_FIELD(window, number, -1, 0), FM_FIELD(window, number, 0, 0)))
  next.of[0] = LBM_KEPT(0, rest);
  next.of[1] = LBM_KEPT(1, east);
  next.of[2] = LBM_KEPT(2, north);
  next.of[3] = LBM_KEPT(3, west);
  next.of[4] = LBM_KEPT(4, south);
  next.of[5] = LBM_KEPT(5, north_east);
  next.of[6] = LBM_KEPT(6, north_west);
  next.of[7] = LBM_KEPT(7, south_west);
  next.of[8] = LBM_KEPT(8, south_east);
#undef LBM_KEPT
  // Comparisons are false for what is not a number.
  next.trouble = is_fluid & !(square <= constants.of[LBM_MOST_SPEED] && density > 0);
  return next;
}

#include "common/stencil/engine.h"

#endif
