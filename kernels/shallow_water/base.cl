// Shallow water, base kernel: a single work-item design for FPGAs, with two pipelines one after the other
// (Faj et al. 2023): an edge each cycle, whose fluxes are kept, then an element each cycle. State, geometry
// and codes are those of the throughput kernel, and so are the results, in every bit where EXACT is set.
#include "common/dialect.h"

#define WIDTH 1

#include "shallow_water/element.h"

// Numbers of a point of a side that are kept between the pipelines.
#define SW_KEPT 6

static inline sw_element sw_element_at(__global const scalar* geometry, __global const int* codes,
                                       const uint elements, const uint place) {
  sw_element element;
  FM_UNROLL_FULLY
  for (int side = 0; side < 3; ++side) {
    element.depth[side] = geometry[(size_t)side * elements + place];
    element.nx[side] = geometry[(size_t)(3 + side) * elements + place];
    element.ny[side] = geometry[(size_t)(6 + side) * elements + place];
    element.ratio[side] = geometry[(size_t)(9 + side) * elements + place];
    element.code[side] = codes[(size_t)side * elements + place];
  }
  return element;
}

static inline sw_numbers sw_numbers_at(__global const scalar* state, const uint stride, const uint place) {
  sw_numbers numbers;
  FM_UNROLL_FULLY
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
    FM_UNROLL_FULLY
    for (int mode = 0; mode < SW_MODES; ++mode) {
      numbers.of[unknown][mode] = state[(size_t)(unknown * SW_MODES + mode) * stride + place];
    }
  }
  return numbers;
}

static inline void sw_keep(__global scalar* fluxes, const int code, const int point, sw_through through) {
  __global scalar* kept = fluxes + ((size_t)code * SW_EDGE_POINTS + point) * SW_KEPT;
  kept[0] = through.flux.water;
  kept[1] = through.flux.momentum_x;
  kept[2] = through.flux.momentum_y;
  kept[3] = through.flux.push;
  kept[4] = through.flux.speed;
  kept[5] = through.depth;
}

static inline sw_through sw_kept(__global const scalar* fluxes, const int code, const int point) {
  __global const scalar* kept = fluxes + ((size_t)code * SW_EDGE_POINTS + point) * SW_KEPT;
  sw_through through;
  through.flux.water = kept[0];
  through.flux.momentum_x = kept[1];
  through.flux.momentum_y = kept[2];
  through.flux.push = kept[3];
  through.flux.push_beyond = 0;
  through.flux.speed = kept[4];
  through.depth = kept[5];
  through.depth_beyond = 0;
  return through;
}

// `edges`: of each edge the own side's code, 4 * element + side, and that of the other side where that is an
// own element too, else -1. `fluxes` has SW_KEPT numbers for each point of each side. The other arguments are
// those of throughput.cl.
FM_SINGLE_WORK_ITEM
__kernel void stage(__global const scalar* restrict state, __global const scalar* before,
                    __global scalar* updated, __global const scalar* restrict geometry,
                    __global const int* restrict codes, __global scalar* restrict outflow,
                    __global int* restrict trouble, __global const int* restrict edges,
                    __global scalar* restrict fluxes, const uint edge_count, const uint count,
                    const uint stride, const uint elements, const uint stage_number, const scalar dt,
                    const scalar keep, const scalar take, const scalar weight, const scalar sea_xi,
                    const scalar river_xi, const scalar river_inflow, const scalar gravity,
                    const scalar friction, const scalar linear_friction, const scalar coriolis,
                    const scalar least_depth) {
  if (trouble[0] < (int)stage_number) return;
  const sw_stage now = {dt,           keep,    take,     sea_xi,          river_xi,
                        river_inflow, gravity, friction, linear_friction, coriolis,
                        least_depth};
  FM_PIPELINE
  FM_IGNORE_DEPENDENCE(fluxes)
  for (uint edge = 0; edge < edge_count; ++edge) {
    const int code = edges[2 * edge];
    const int beyond = edges[2 * edge + 1];
    const uint place = (uint)code >> 2;
    const int side = code & 3;
    const sw_element element = sw_element_at(geometry, codes, elements, place);
    const sw_numbers own = sw_numbers_at(state, stride, place);
    const uint other = element.code[side] >= 0 ? (uint)element.code[side] >> 2 : place;
    const sw_numbers met = sw_numbers_at(state, stride, other);
    FM_UNROLL_FULLY
    for (int point = 0; point < SW_EDGE_POINTS; ++point) {
      const sw_through through = sw_through_point(element, own, met, side, point, now);
      sw_keep(fluxes, code, point, through);
      if (beyond >= 0) {
        sw_through seen = through;
        seen.flux.water = -through.flux.water;
        seen.flux.momentum_x = -through.flux.momentum_x;
        seen.flux.momentum_y = -through.flux.momentum_y;
        // The normal is turned, and with it the direction of the push.
        seen.flux.push = through.flux.push_beyond;
        seen.depth = through.depth_beyond;
        sw_keep(fluxes, beyond, SW_EDGE_POINTS - 1 - point, seen);
      }
    }
  }
  int is_in_trouble = 0;
  FM_PIPELINE
  for (uint place = 0; place < count; ++place) {
    const sw_element element = sw_element_at(geometry, codes, elements, place);
    const sw_numbers own = sw_numbers_at(state, stride, place);
    sw_sums sums = sw_no_sums();
    FM_UNROLL_FULLY
    for (int side = 0; side < 3; ++side) {
      FM_UNROLL_FULLY
      for (int point = 0; point < SW_EDGE_POINTS; ++point) {
        sw_add_point(element, sw_kept(fluxes, 4 * (int)place + side, point), side, point, &sums);
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
        value = take * value + keep * before[at];
#endif
        updated[at] = value;
      }
    }
    outflow[place] += weight * (dt * sums.outflow);
    is_in_trouble |= sw_is_in_trouble(sums, now);
  }
  if (is_in_trouble) trouble[0] = (int)stage_number;
}

#include "shallow_water/halo.h"
