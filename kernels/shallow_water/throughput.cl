// Shallow water, throughput kernel for CPUs and GPUs: a work-item computes one element, or on a CPU as many
// as a vector holds. State, geometry and codes are arrays of one number of all elements, `stride` apart; what
// other ranks have lies behind the own elements.
#include "common/dialect.h"

#include "common/width.h"

#include "shallow_water/element.h"

#define SW_LOAD(array, place) (*(__global const real*)((array) + (place)))
#define SW_STORE(array, place, value) (*(__global real*)((array) + (place)) = (value))
#define SW_LOAD_WHOLE(array, place) (*(__global const whole*)((array) + (place)))

static inline real sw_gathered(__global const scalar* array, whole places) {
#if WIDTH > 1
  real found;
  // One by one: compilers make gathers of such loads, which take longer on some CPUs (AMD's Zen 4).
  __global const volatile scalar* one_by_one = array;
  FM_UNROLL_FULLY
  for (int lane = 0; lane < WIDTH; ++lane) FM_LANE(found, lane) = one_by_one[FM_WHOLE_LANE(places, lane)];
  return found;
#else
  return array[places];
#endif
}

// The neighbours of elements over one side; where there is none, the elements themselves.
static inline sw_numbers sw_neighbours(__global const scalar* state, uint stride, whole code, whole own) {
  const whole places = FM_CHOOSE(code >= 0, code >> 2, own);
  sw_numbers numbers;
  FM_UNROLL_FULLY
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
    FM_UNROLL_FULLY
    for (int mode = 0; mode < SW_MODES; ++mode) {
      numbers.of[unknown][mode] = sw_gathered(state + (size_t)(unknown * SW_MODES + mode) * stride, places);
    }
  }
  return numbers;
}

static inline whole sw_numbered(int first) {
#if WIDTH > 1
  whole numbers;
  FM_UNROLL_FULLY
  for (int lane = 0; lane < WIDTH; ++lane) FM_WHOLE_LANE(numbers, lane) = first + lane;
  return numbers;
#else
  return first;
#endif
}

// `before`: at the beginning of the step, of which only the own elements are read: `updated` may be the same.
// `trouble`: the first stage, counted from the start, that found something that must not be; those behind it
// do nothing, so that the host sees what it found.
__kernel void stage(__global const scalar* restrict state, __global const scalar* before,
                    __global scalar* updated, __global const scalar* restrict geometry,
                    __global const int* restrict codes, __global scalar* restrict outflow,
                    __global int* restrict trouble, const uint first, const uint stride, const uint elements,
                    const uint stage_number, const scalar dt, const scalar keep, const scalar take,
                    const scalar weight, const scalar sea_xi, const scalar river_xi,
                    const scalar river_inflow, const scalar gravity, const scalar friction,
                    const scalar linear_friction, const scalar coriolis, const scalar least_depth) {
  if (trouble[0] < (int)stage_number) return;
  const uint place = (first + (uint)get_global_id(0)) * WIDTH;
  sw_element element;
  sw_numbers own;
  FM_UNROLL_FULLY
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
    FM_UNROLL_FULLY
    for (int mode = 0; mode < SW_MODES; ++mode) {
      own.of[unknown][mode] = SW_LOAD(state, (size_t)(unknown * SW_MODES + mode) * stride + place);
    }
  }
  FM_UNROLL_FULLY
  for (int side = 0; side < 3; ++side) {
    element.depth[side] = SW_LOAD(geometry, (size_t)side * elements + place);
    element.nx[side] = SW_LOAD(geometry, (size_t)(3 + side) * elements + place);
    element.ny[side] = SW_LOAD(geometry, (size_t)(6 + side) * elements + place);
    element.ratio[side] = SW_LOAD(geometry, (size_t)(9 + side) * elements + place);
    element.code[side] = SW_LOAD_WHOLE(codes, (size_t)side * elements + place);
  }
  const sw_stage now = {dt,           keep,    take,     sea_xi,          river_xi,
                        river_inflow, gravity, friction, linear_friction, coriolis,
                        least_depth};
  sw_sums sums = sw_no_sums();
  FM_UNROLL_FULLY
  for (int side = 0; side < 3; ++side) {
    const sw_numbers met = sw_neighbours(state, stride, element.code[side], sw_numbered((int)place));
    FM_UNROLL_FULLY
    for (int point = 0; point < SW_EDGE_POINTS; ++point) {
      sw_add_point(element, sw_through_point(element, own, met, side, point, now), side, point, &sums);
    }
  }
  sw_add_volume(element, own, now, &sums);
  FM_UNROLL_FULLY
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
    FM_UNROLL_FULLY
    for (int mode = 0; mode < SW_MODES; ++mode) {
      const size_t at = (size_t)(unknown * SW_MODES + mode) * stride + place;
      real value = own.of[unknown][mode] + dt * sums.rate.of[unknown][mode];
#if ORDER > 0
      value = take * value + keep * SW_LOAD(before, at);
#endif
      SW_STORE(updated, at, value);
    }
  }
  const truth has_open_edge =
      FM_TRUTH((element.code[0] < SW_LAND) | (element.code[1] < SW_LAND) | (element.code[2] < SW_LAND));
  if (FM_ANY(has_open_edge)) {
    SW_STORE(outflow, place, SW_LOAD(outflow, place) + weight * (dt * sums.outflow));
  }
  if (FM_ANY(sw_is_in_trouble(sums, now))) atomic_min(trouble, (int)stage_number);
}

#include "shallow_water/put.h"
