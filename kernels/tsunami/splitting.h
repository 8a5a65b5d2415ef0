// Shallow water, split into a sweep along rows and one along columns, each by the invariants of its direction
// (MOST: Titov and Synolakis 1998), with differences of the water's elevation in place of those of its
// height, so that a lake at rest stays so in every bit. Second order (Lax and Wendroff). To be included by
// cell.h.
//
// On the sphere dx is that of the row. The force of the turning Earth and what comes of the curved
// coordinates are parts of the differences over interfaces: so water that they balance stays as it is, to
// second order, as water at rest does in every bit.
#ifndef FABRICMARK_TSUNAMI_SPLITTING_H
#define FABRICMARK_TSUNAMI_SPLITTING_H

// Water as a sweep sees it: `along` its direction, and across.
typedef struct {
  real elevation, along, across;
  real wave;  // its speed, sqrt(g (depth + elevation))
#if TS_IS_SPHERE
  real force;    // what turns it, over a cell, as gravity times a difference of elevation [m^2/s^2]
  real narrows;  // share by which cells narrow from this one to the next, in the sweep along columns
#endif
} ts_water;

#if TS_IS_SPHERE
// A row's parallel: of its latitude.
typedef struct {
  real tangent, secant, cosine;
} ts_parallel;

FM_INLINE ts_parallel ts_parallel_of(const fm_window window, const int dy) {
  ts_parallel row;
  row.tangent = FM_FIELD(window, TS_TANGENT, 0, dy);
  row.secant = sqrt(1 + row.tangent * row.tangent);
  row.cosine = 1 / row.secant;
  return row;
}

// Water of a row, with the force to the west that turns what goes north.
FM_INLINE ts_water ts_turned_along(ts_water water, ts_parallel row, const fm_constants constants) {
  water.force = -(constants.of[TS_ANGLE_X] * row.tangent * row.cosine) *
                (constants.of[TS_SPIN] * row.cosine + water.along) * water.across;
  water.narrows = (real)(0);
  return water;
}

// The same of the sweep along columns: the force to the south that turns what goes east.
FM_INLINE ts_water ts_turned_across(ts_water water, ts_parallel row, const fm_constants constants) {
  water.narrows = constants.of[TS_ANGLE_Y] * row.tangent;
  water.force = water.narrows * (constants.of[TS_SPIN] * row.cosine + water.across) * water.across;
  return water;
}
#endif

FM_INLINE ts_water ts_made(real elevation, real along, real across, real depth, scalar gravity) {
  ts_water water;
  water.elevation = elevation;
  water.along = along;
  water.across = across;
  water.wave = sqrt(gravity * (depth + elevation));
  return water;
}

// What a cell meets on one side: `beside`, or what its kind says; `sign`: 1 towards higher numbers, else -1.
// `still`: the speed of waves at rest.
FM_INLINE ts_water ts_met(ts_water own, ts_water beside, whole kind, real still, scalar sign,
                          scalar gravity) {
  const truth is_land = FM_TRUTH(kind == TS_LAND);
  const truth is_open = FM_TRUTH(kind == TS_OPEN);
  // Still water sends its invariant, and the own one leaves. Invariants are counted from those of still
  // water: differences of speeds that are nearly the same would have few digits.
  const real faster = gravity * own.elevation / (own.wave + still);
  const real along = (scalar)(0.5) * (own.along + sign * 2 * faster);
  const real beyond = (scalar)(0.25) * (sign * own.along + 2 * faster);
  const real wave = still + beyond;
  const real elevation = beyond * (2 * still + beyond) / gravity;
  ts_water met;
  met.elevation = FM_CHOOSE(is_land, own.elevation, FM_CHOOSE(is_open, elevation, beside.elevation));
  met.along = FM_CHOOSE(is_land, -own.along, FM_CHOOSE(is_open, along, beside.along));
  met.across = FM_CHOOSE(is_land | is_open, own.across, beside.across);
  met.wave = FM_CHOOSE(is_land, own.wave, FM_CHOOSE(is_open, wave, beside.wave));
#if TS_IS_SPHERE
  // At a wall nothing turns, as there no elevation differs.
  met.force = FM_CHOOSE(is_land | is_open, -own.force, beside.force);
  met.narrows = FM_CHOOSE(is_land | is_open, own.narrows, beside.narrows);
#endif
  return met;
}

// What the differences over an interface drive: both invariants, and the speed across.
typedef struct {
  real forward, backward, across;
} ts_driven;

FM_INLINE ts_driven ts_between(ts_water left, ts_water right, scalar gravity) {
  const real speed = (scalar)(0.5) * (left.along + right.along);
  const real wave = (scalar)(0.5) * (left.wave + right.wave);
  const real faster = right.along - left.along;
#if TS_IS_SPHERE
  const real same = speed * faster + (gravity * (right.elevation - left.elevation) +
                                      (scalar)(0.5) * (left.force + right.force));
  const real spread = faster - (scalar)(0.5) * (left.narrows + right.narrows) * speed;
#else
  const real same = speed * faster + gravity * (right.elevation - left.elevation);
  const real spread = faster;
#endif
  const real other = 2 * speed * (right.wave - left.wave) + wave * spread;
  ts_driven driven;
  driven.forward = same + other;
  driven.backward = same - other;
  driven.across = speed * (right.across - left.across);
  return driven;
}

// A step of what travels at `speed`.
FM_INLINE real ts_change(real left, real right, real speed, real ratio) {
  return ratio * (2 * ratio * speed * (right - left) - (right + left));
}

FM_INLINE ts_water ts_swept(ts_water left, ts_water own, ts_water right, real ratio, scalar gravity,
                            scalar per_gravity) {
  const ts_driven before = ts_between(left, own, gravity);
  const ts_driven behind = ts_between(own, right, gravity);
  const real forward = ts_change(before.forward, behind.forward, own.along + own.wave, ratio);
  const real backward = ts_change(before.backward, behind.backward, own.along - own.wave, ratio);
  const real rise = forward - backward;
  ts_water swept;
  swept.elevation = own.elevation + rise * (8 * own.wave + rise) * per_gravity;
  swept.along = own.along + (scalar)(0.5) * (forward + backward);
  swept.across = own.across + ts_change(before.across, behind.across, own.along, ratio);
  swept.wave = own.wave;
#if TS_IS_SPHERE
  swept.force = own.force;
  swept.narrows = own.narrows;
#endif
  return swept;
}

// A cell of the middle column after its sweep along the row.
FM_INLINE ts_water ts_row(const fm_window window, const fm_constants constants, const int dy) {
  const scalar gravity = constants.of[TS_GRAVITY];
#if TS_IS_SPHERE
  const ts_parallel row = ts_parallel_of(window, dy);
  const real ratio = constants.of[TS_HALF_X] * row.secant;
#define TS_IN_ROW(water) ts_turned_along(water, row, constants)
#else
  const real ratio = (real)(constants.of[TS_HALF_X]);
#define TS_IN_ROW(water) (water)
#endif
#define TS_AT(dx)                                                                              \
  TS_IN_ROW(ts_made(FM_FIELD(window, TS_ELEVATION, dx, dy), FM_FIELD(window, TS_EAST, dx, dy), \
                    FM_FIELD(window, TS_NORTH, dx, dy), FM_FIELD(window, TS_DEPTH, dx, dy), gravity))
  const ts_water own = TS_AT(0);
  const real still = sqrt(gravity * FM_FIELD(window, TS_DEPTH, 0, dy));
  const ts_water left = ts_met(own, TS_AT(-1), FM_KIND(window, -1, dy), still, -1, gravity);
  const ts_water right = ts_met(own, TS_AT(1), FM_KIND(window, 1, dy), still, 1, gravity);
#undef TS_AT
#undef TS_IN_ROW
  return ts_swept(left, own, right, ratio, gravity, constants.of[TS_PER_GRAVITY]);
}

// The same as the sweep along columns sees it.
FM_INLINE ts_water ts_column(const fm_window window, const fm_constants constants, const int dy) {
  const ts_water row = ts_row(window, constants, dy);
  const ts_water water = ts_made(row.elevation, row.across, row.along, FM_FIELD(window, TS_DEPTH, 0, dy),
                                 constants.of[TS_GRAVITY]);
#if TS_IS_SPHERE
  return ts_turned_across(water, ts_parallel_of(window, dy), constants);
#else
  return water;
#endif
}

static inline fm_numbers fm_next(const fm_window window, const fm_constants constants) {
  const scalar gravity = constants.of[TS_GRAVITY];
  const real depth = FM_FIELD(window, TS_DEPTH, 0, 0);
  const ts_water own = ts_column(window, constants, 0);
  const ts_water south = ts_column(window, constants, -1);
  const ts_water north = ts_column(window, constants, 1);
  const real still = sqrt(gravity * depth);
  ts_water swept = ts_swept(ts_met(own, south, FM_KIND(window, 0, -1), still, -1, gravity), own,
                            ts_met(own, north, FM_KIND(window, 0, 1), still, 1, gravity),
                            (real)(constants.of[TS_HALF_Y]), gravity, constants.of[TS_PER_GRAVITY]);
#if TS_IS_SPHERE
  // Meridians come nearer to each other for the speed of half a step, as Lax and Wendroff's second term has
  // differences alone.
  const ts_parallel row = ts_parallel_of(window, 0);
  swept.elevation = swept.elevation + (depth + own.elevation) * (constants.of[TS_CURVE] * row.tangent) *
                                          (swept.along - own.along);
#endif

  const truth is_water = FM_TRUTH(FM_KIND(window, 0, 0) == TS_WATER);
  const real before = FM_FIELD(window, TS_ELEVATION, 0, 0);
  const real largest = FM_FIELD(window, TS_LARGEST, 0, 0);
  const real arrival = FM_FIELD(window, TS_ARRIVAL, 0, 0);
  const real size = FM_CHOOSE(swept.elevation < 0, -swept.elevation, swept.elevation);
  const real came = FM_CHOOSE(size > constants.of[TS_THRESHOLD], 1 - arrival, arrival - 1);
  fm_numbers next;
  next.of[TS_ELEVATION] = FM_CHOOSE(is_water, swept.elevation, before);
  next.of[TS_EAST] = FM_CHOOSE(is_water, swept.across, FM_FIELD(window, TS_EAST, 0, 0));
  next.of[TS_NORTH] = FM_CHOOSE(is_water, swept.along, FM_FIELD(window, TS_NORTH, 0, 0));
  next.of[TS_DEPTH] = depth;
  next.of[TS_LARGEST] = FM_CHOOSE(is_water, FM_LARGER(swept.elevation, largest), largest);
  next.of[TS_ARRIVAL] = FM_CHOOSE(is_water & (arrival <= 0), came, arrival);
#if TS_IS_SPHERE
  next.of[TS_TANGENT] = row.tangent;
#endif
  // Comparisons are false for what is not a number, as the speed of waves of no water is.
#if TS_IS_SPHERE
  const real across = (FM_CHOOSE(swept.across < 0, -swept.across, swept.across) + own.wave) * row.secant;
#else
  const real across = FM_CHOOSE(swept.across < 0, -swept.across, swept.across) + own.wave;
#endif
  const real along = FM_CHOOSE(swept.along < 0, -swept.along, swept.along) + own.wave;
  next.trouble = is_water & !(across <= constants.of[TS_MOST_X] && along <= constants.of[TS_MOST_Y]);
  return next;
}

#endif
