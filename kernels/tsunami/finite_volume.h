// Shallow water by finite volumes of second order that wet and dry: slopes by minmod, half a step in the
// cell (Hancock), a reconstruction at faces that keeps a lake at rest (Audusse et al. 2004), and fluxes by
// HLL. All is written in differences that vanish at rest, so that a lake stays so in every bit.
//
// A step has two phases. The first one leaves the slopes of each cell, the second one has from these what is
// at the faces around a cell. To be included by cell.h.
#ifndef FABRICMARK_TSUNAMI_FINITE_VOLUME_H
#define FABRICMARK_TSUNAMI_FINITE_VOLUME_H

// Water of a cell or at one of its faces, `along` a direction and across. Or its differences over a cell.
typedef struct {
  real elevation, height, along, across;
} ts_water;

// A cell of the next half step, and its differences in both directions, of which the second one has north
// along.
typedef struct {
  ts_water water, east, north;
} ts_cell;

FM_INLINE ts_water ts_at(const fm_window window, const int dx, const int dy) {
  ts_water water;
  water.elevation = FM_FIELD(window, TS_ELEVATION, dx, dy);
  water.height = FM_LARGER(water.elevation + FM_FIELD(window, TS_DEPTH, dx, dy), (real)(0));
  water.along = FM_FIELD(window, TS_EAST, dx, dy);
  water.across = FM_FIELD(window, TS_NORTH, dx, dy);
  return water;
}

// The same as the other direction sees it.
FM_INLINE ts_water ts_turned(ts_water water) {
  const real along = water.along;
  water.along = water.across;
  water.across = along;
  return water;
}

FM_INLINE ts_water ts_chosen(truth condition, ts_water one, ts_water other) {
  ts_water water;
  water.elevation = FM_CHOOSE(condition, one.elevation, other.elevation);
  water.height = FM_CHOOSE(condition, one.height, other.height);
  water.along = FM_CHOOSE(condition, one.along, other.along);
  water.across = FM_CHOOSE(condition, one.across, other.across);
  return water;
}

// The smaller one of two differences of the same sign, else 0.
FM_INLINE real ts_minmod(real one, real other) {
  return FM_LARGER(FM_SMALLER(one, other), (real)(0)) + FM_SMALLER(FM_LARGER(one, other), (real)(0));
}

// The differences over a cell. There are none where it is dry, nor at the edge of the grid, and none of the
// speeds beside dry cells, whose water stands still.
FM_INLINE ts_water ts_slopes(ts_water before, ts_water own, ts_water behind, truth is_inside, real wet) {
  const truth is_wet = is_inside & (own.height > wet);
  const truth is_afloat = is_wet & (before.height > wet) & (behind.height > wet);
  const real none = (real)(0);
  const real elevation = ts_minmod(own.elevation - before.elevation, behind.elevation - own.elevation);
  const real height = ts_minmod(own.height - before.height, behind.height - own.height);
  const real along = ts_minmod(own.along - before.along, behind.along - own.along);
  const real across = ts_minmod(own.across - before.across, behind.across - own.across);
  ts_water slopes;
  slopes.elevation = FM_CHOOSE(is_wet, elevation, none);
  slopes.height = FM_CHOOSE(is_wet, height, none);
  slopes.along = FM_CHOOSE(is_afloat, along, none);
  slopes.across = FM_CHOOSE(is_afloat, across, none);
  return slopes;
}

FM_INLINE ts_water ts_slopes_at(const fm_window window, const int first, const int dx, const int dy) {
  ts_water slopes;
  slopes.elevation = FM_FIELD(window, first, dx, dy);
  slopes.height = FM_FIELD(window, first + 1, dx, dy);
  slopes.along = FM_FIELD(window, first + 2, dx, dy);
  slopes.across = FM_FIELD(window, first + 3, dx, dy);
  return slopes;
}

// A cell half a step later, by what its slopes drive. Its water may become a quarter more: what flows out of
// it then is never more than it has, with a step that is stable (see the trouble below).
FM_INLINE ts_cell ts_predicted(const fm_window window, const fm_constants constants, const int dx,
                               const int dy) {
  const real half_x = (real)((scalar)(0.5) * constants.of[TS_RATIO_X]);
  const real half_y = (real)((scalar)(0.5) * constants.of[TS_RATIO_Y]);
  const scalar gravity = constants.of[TS_GRAVITY];
  ts_cell cell;
  const ts_water own = ts_at(window, dx, dy);
  const ts_water east = ts_slopes_at(window, TS_SLOPES_EAST, dx, dy);
  const ts_water north = ts_slopes_at(window, TS_SLOPES_NORTH, dx, dy);
  const real inflow = -(half_x * (own.height * east.along + own.along * east.height) +
                        half_y * (own.height * north.along + own.across * north.height));
  const real rise = FM_SMALLER(inflow, (scalar)(0.25) * own.height);
  cell.water.elevation = own.elevation + rise;
  cell.water.height = own.height + rise;
  cell.water.along = own.along - (half_x * (own.along * east.along + gravity * east.elevation) +
                                  half_y * own.across * north.across);
  cell.water.across = own.across - (half_x * own.along * east.across +
                                    half_y * (own.across * north.along + gravity * north.elevation));
  cell.east = east;
  cell.north = north;
  return cell;
}

// The water at a face: `side` is half of 1 towards higher numbers, else of -1.
FM_INLINE ts_water ts_face(ts_water water, ts_water slopes, scalar side) {
  ts_water face;
  face.elevation = water.elevation + side * slopes.elevation;
  face.height = FM_LARGER(water.height + side * slopes.height, (real)(0));
  face.along = water.along + side * slopes.along;
  face.across = water.across + side * slopes.across;
  return face;
}

// What a face meets on its other side: `beside`, or what the kind of the cell there says. Land reflects.
// Still water sends its invariant, and the own one leaves: counted from those of still water, so that at rest
// nothing does. `sign`: 1 towards higher numbers, else -1.
FM_INLINE ts_water ts_met(ts_water own, ts_water beside, whole kind, scalar sign, scalar gravity) {
  const real tiny = (real)((scalar)(1e-30));
  const real depth = own.height - own.elevation;
  const truth is_open = FM_TRUTH(kind == TS_OPEN) & (depth > 0) & (own.height > 0);
  const truth is_land = FM_TRUTH(kind != TS_WATER);
  const real still = sqrt(gravity * FM_LARGER(depth, tiny));
  const real faster = gravity * own.elevation / (sqrt(gravity * own.height) + still);
  const real beyond = FM_LARGER((scalar)(0.25) * (sign * own.along + 2 * faster), -still);
  ts_water wall = own;
  ts_water sea = own;
  wall.along = -own.along;
  sea.elevation = beyond * (2 * still + beyond) / gravity;
  sea.height = FM_LARGER(sea.elevation + depth, (real)(0));
  sea.along = (scalar)(0.5) * (own.along + sign * 2 * faster);
  return ts_chosen(is_land, ts_chosen(is_open, sea, wall), beside);
}

// What goes through a face in a second, of water and of its motion across; and of the motion along what is
// beyond the pressure at the own face, for the cells on both of its sides.
typedef struct {
  real mass, before, behind, across;
} ts_flux;

FM_INLINE ts_flux ts_between(ts_water left, ts_water right, scalar gravity) {
  const real tiny = (real)((scalar)(1e-30));
  const real zero = (real)(0);
  const real bed = FM_LARGER(left.elevation - left.height, right.elevation - right.height);
  const real height_left = FM_LARGER(FM_SMALLER(left.elevation - bed, left.height), zero);
  const real height_right = FM_LARGER(FM_SMALLER(right.elevation - bed, right.height), zero);
  const real wave_left = sqrt(gravity * height_left);
  const real wave_right = sqrt(gravity * height_right);
  const real slow_left = left.along - wave_left;
  const real slow_right = right.along - wave_right;
  const real fast_left = left.along + wave_left;
  const real fast_right = right.along + wave_right;
  // Into a dry bed water runs with twice the speed of its waves.
  const real slowest =
      FM_CHOOSE(height_left > 0, FM_CHOOSE(height_right > 0, FM_SMALLER(slow_left, slow_right), slow_left),
                slow_right - wave_right);
  const real fastest =
      FM_CHOOSE(height_right > 0, FM_CHOOSE(height_left > 0, FM_LARGER(fast_left, fast_right), fast_right),
                fast_left + wave_left);
  const real low = FM_SMALLER(slowest, zero);
  const real high = FM_LARGER(fastest, zero);
  const real share = 1 / FM_LARGER(high - low, tiny);
  const real flow_left = height_left * left.along;
  const real flow_right = height_right * right.along;
  const real flow = flow_right - flow_left;
  // Over one bed heights differ as elevations do, which are small numbers with more digits.
  const real step = FM_CHOOSE((height_left > 0) & (height_right > 0), right.elevation - left.elevation,
                              height_right - height_left);
  const real push = (flow_right * right.along - flow_left * left.along) +
                    (scalar)(0.5) * gravity * step * (height_right + height_left);
  ts_flux flux;
  flux.mass = ((high * flow_left - low * flow_right) + low * high * step) * share;
  flux.before = flow_left * left.along + low * share * (high * flow - push);
  flux.behind = flow_right * right.along + high * share * (low * flow - push);
  flux.across = flux.mass * FM_CHOOSE(flux.mass > 0, left.across, right.across);
  return flux;
}

// Of a cell in one direction: what it loses in a step, of water and of its motion along and across.
typedef struct {
  real mass, along, across;
} ts_loss;

FM_INLINE ts_loss ts_lost(ts_water before, ts_water own, ts_water behind, ts_water slopes_before,
                          ts_water slopes, ts_water slopes_behind, whole kind_before, whole kind_behind,
                          scalar ratio, scalar gravity) {
  const scalar middle = (scalar)(0.5);
  const ts_water low = ts_face(own, slopes, -middle);
  const ts_water high = ts_face(own, slopes, middle);
  const ts_water met_low = ts_met(low, ts_face(before, slopes_before, middle), kind_before, -1, gravity);
  const ts_water met_high = ts_met(high, ts_face(behind, slopes_behind, -middle), kind_behind, 1, gravity);
  const ts_flux in = ts_between(met_low, low, gravity);
  const ts_flux out = ts_between(high, met_high, gravity);
  // Nothing goes through land, in the last bit.
  const real mass_in = FM_CHOOSE(FM_TRUTH(kind_before == TS_LAND), (real)(0), in.mass);
  const real mass_out = FM_CHOOSE(FM_TRUTH(kind_behind == TS_LAND), (real)(0), out.mass);
  ts_loss lost;
  lost.mass = ratio * (mass_out - mass_in);
  lost.along = ratio * ((out.before - in.behind) +
                        middle * gravity * (low.height + high.height) * (high.elevation - low.elevation));
  lost.across = ratio * (out.across - in.across);
  return lost;
}

// The first phase: slopes.
FM_INLINE fm_numbers ts_first(const fm_window window, const fm_constants constants) {
  const ts_water own = ts_at(window, 0, 0);
  const real wet = (real)(constants.of[TS_WET]);
  const truth is_inside_x =
      FM_TRUTH(FM_KIND(window, -1, 0) == TS_WATER) & FM_TRUTH(FM_KIND(window, 1, 0) == TS_WATER);
  const truth is_inside_y =
      FM_TRUTH(FM_KIND(window, 0, -1) == TS_WATER) & FM_TRUTH(FM_KIND(window, 0, 1) == TS_WATER);
  const ts_water east = ts_slopes(ts_at(window, -1, 0), own, ts_at(window, 1, 0), is_inside_x, wet);
  const ts_water north = ts_slopes(ts_turned(ts_at(window, 0, -1)), ts_turned(own),
                                   ts_turned(ts_at(window, 0, 1)), is_inside_y, wet);
  fm_numbers next;
  FM_UNROLL_FULLY
  for (int i = 0; i < TS_SLOPES_EAST; ++i) next.of[i] = FM_FIELD(window, i, 0, 0);
  next.of[TS_SLOPES_EAST] = east.elevation;
  next.of[TS_SLOPES_EAST + 1] = east.height;
  next.of[TS_SLOPES_EAST + 2] = east.along;
  next.of[TS_SLOPES_EAST + 3] = east.across;
  next.of[TS_SLOPES_NORTH] = north.elevation;
  next.of[TS_SLOPES_NORTH + 1] = north.height;
  next.of[TS_SLOPES_NORTH + 2] = north.along;
  next.of[TS_SLOPES_NORTH + 3] = north.across;
  next.trouble = own.height < 0;  // never
  return next;
}

// The second phase: fluxes.
FM_INLINE fm_numbers ts_second(const fm_window window, const fm_constants constants) {
  const scalar gravity = constants.of[TS_GRAVITY];
  const real wet = (real)(constants.of[TS_WET]);
  const ts_water before = ts_at(window, 0, 0);
  const ts_cell own = ts_predicted(window, constants, 0, 0);
  const ts_cell west = ts_predicted(window, constants, -1, 0);
  const ts_cell east = ts_predicted(window, constants, 1, 0);
  const ts_cell south = ts_predicted(window, constants, 0, -1);
  const ts_cell north = ts_predicted(window, constants, 0, 1);
  const ts_loss x = ts_lost(west.water, own.water, east.water, west.east, own.east, east.east,
                            FM_KIND(window, -1, 0), FM_KIND(window, 1, 0), constants.of[TS_RATIO_X], gravity);
  const ts_loss y =
      ts_lost(ts_turned(south.water), ts_turned(own.water), ts_turned(north.water), south.north, own.north,
              north.north, FM_KIND(window, 0, -1), FM_KIND(window, 0, 1), constants.of[TS_RATIO_Y], gravity);
  const real depth = FM_FIELD(window, TS_DEPTH, 0, 0);
  const real elevation = FM_LARGER(before.elevation - (x.mass + y.mass), -depth);
  const real height = elevation + depth;
  const truth is_wet = height > wet;
  const real per_height = 1 / FM_CHOOSE(is_wet, height, (real)(1));
  const real along = (before.height * before.along - (x.along + y.across)) * per_height;
  const real across = (before.height * before.across - (x.across + y.along)) * per_height;

  const real largest = FM_FIELD(window, TS_LARGEST, 0, 0);
  const real arrival = FM_FIELD(window, TS_ARRIVAL, 0, 0);
  const real size = FM_LARGER(elevation, -elevation);
  // Over land any water is a wave.
  const truth has_come = is_wet & ((depth <= 0) | (size > constants.of[TS_THRESHOLD]));
  fm_numbers next;
  next.of[TS_ELEVATION] = elevation;
  next.of[TS_EAST] = FM_CHOOSE(is_wet, along, (real)(0));
  next.of[TS_NORTH] = FM_CHOOSE(is_wet, across, (real)(0));
  next.of[TS_DEPTH] = depth;
  next.of[TS_LARGEST] = FM_CHOOSE(is_wet, FM_LARGER(elevation, largest), largest);
  next.of[TS_ARRIVAL] = FM_CHOOSE(arrival <= 0, FM_CHOOSE(has_come, 1 - arrival, arrival - 1), arrival);
  FM_UNROLL_FULLY
  for (int i = TS_SLOPES_EAST; i < FM_FIELDS; ++i) next.of[i] = (real)(0);
  // Comparisons are false for what is not a number.
  const real east_speed = FM_LARGER(next.of[TS_EAST], -next.of[TS_EAST]);
  const real north_speed = FM_LARGER(next.of[TS_NORTH], -next.of[TS_NORTH]);
  const real wave = sqrt(gravity * height);
  next.trouble =
      !((east_speed + wave) * constants.of[TS_RATIO_X] + (north_speed + wave) * constants.of[TS_RATIO_Y] <=
        (scalar)(0.5));
  return next;
}

static inline fm_numbers fm_next(const fm_window window, const fm_constants constants) {
  return window.phase == 0 ? ts_first(window, constants) : ts_second(window, constants);
}

#endif
