// The polynomials of an element: orthonormal (the mean of the product of two over the element is 1 or 0), on
// the triangle (0, 0), (1, 0), (0, 1) with coordinates r and s (Dubiner 1991, "Spectral methods on
// triangles"). Number 0 is 1, so that the first coefficient is the mean over the element.
#ifndef FABRICMARK_SHALLOW_WATER_BASIS_H
#define FABRICMARK_SHALLOW_WATER_BASIS_H

#include "common/numbers.h"

#define SW_SQRT2 1.41421356237309504880
#define SW_SQRT3 1.73205080756887729353
#define SW_SQRT6 2.44948974278317809820
#define SW_SQRT15 3.87298334620741688518

#define SW_MODE_1(r, s) (SW_SQRT2 * (3.0 * (s)-1.0))
#define SW_MODE_2(r, s) (SW_SQRT6 * (2.0 * (r) + (s)-1.0))
#define SW_MODE_3(r, s) (SW_SQRT3 * (10.0 * (s) * (s)-8.0 * (s) + 1.0))
#define SW_MODE_4(r, s) (3.0 * (2.0 * (r) + (s)-1.0) * (5.0 * (s)-1.0))
#define SW_MODE_5(r, s) \
  (SW_SQRT15 * (6.0 * (r) * (r) + 6.0 * (r) * (s) + (s) * (s)-6.0 * (r)-2.0 * (s) + 1.0))

// Their derivatives by r and s.
#define SW_MODE_1_R(r, s) 0.0
#define SW_MODE_1_S(r, s) (3.0 * SW_SQRT2)
#define SW_MODE_2_R(r, s) (2.0 * SW_SQRT6)
#define SW_MODE_2_S(r, s) SW_SQRT6
#define SW_MODE_3_R(r, s) 0.0
#define SW_MODE_3_S(r, s) (SW_SQRT3 * (20.0 * (s)-8.0))
#define SW_MODE_4_R(r, s) (6.0 * (5.0 * (s)-1.0))
#define SW_MODE_4_S(r, s) (3.0 * (10.0 * (r) + 10.0 * (s)-6.0))
#define SW_MODE_5_R(r, s) (SW_SQRT15 * (12.0 * (r) + 6.0 * (s)-6.0))
#define SW_MODE_5_S(r, s) (SW_SQRT15 * (6.0 * (r) + 2.0 * (s)-2.0))

#if ORDER == 0
#define SW_MODES 1
#define SW_EDGE_POINTS 1
#elif ORDER == 1
#define SW_MODES 3
#define SW_EDGE_POINTS 2
#define SW_VOLUME_POINTS 3
#else
#define SW_MODES 6
#define SW_EDGE_POINTS 3
#define SW_VOLUME_POINTS 6
#endif
#define SW_COLUMNS (SW_MODES > 1 ? SW_MODES - 1 : 1)  // of tables of the modes but the first
#define SW_UNKNOWNS 3
#define SW_NUMBERS (SW_UNKNOWNS * SW_MODES)

#if ORDER == 0
__constant scalar sw_edge_place[SW_EDGE_POINTS] = {0.5};
__constant scalar sw_edge_weight[SW_EDGE_POINTS] = {1.0};
__constant scalar sw_edge_modes[3][SW_EDGE_POINTS][SW_COLUMNS] = {{{0.0}}, {{0.0}}, {{0.0}}};
#else

// One row of a table: the modes but the first at a point.
#if ORDER == 1
#define SW_MODES_AT(r, s) \
  { SW_MODE_1(r, s), SW_MODE_2(r, s) }
#define SW_MODES_R_AT(r, s) \
  { SW_MODE_1_R(r, s), SW_MODE_2_R(r, s) }
#define SW_MODES_S_AT(r, s) \
  { SW_MODE_1_S(r, s), SW_MODE_2_S(r, s) }
#else
#define SW_MODES_AT(r, s) \
  { SW_MODE_1(r, s), SW_MODE_2(r, s), SW_MODE_3(r, s), SW_MODE_4(r, s), SW_MODE_5(r, s) }
#define SW_MODES_R_AT(r, s) \
  { SW_MODE_1_R(r, s), SW_MODE_2_R(r, s), SW_MODE_3_R(r, s), SW_MODE_4_R(r, s), SW_MODE_5_R(r, s) }
#define SW_MODES_S_AT(r, s) \
  { SW_MODE_1_S(r, s), SW_MODE_2_S(r, s), SW_MODE_3_S(r, s), SW_MODE_4_S(r, s), SW_MODE_5_S(r, s) }
#endif

// Points along an edge from 0 to 1 (Gauss), of which point k seen from the other side is the last but k.
#if ORDER == 1
#define SW_T0 0.21132486540518711775
#define SW_T1 0.78867513459481288225
#define SW_EDGE_ROWS(at) \
  { at(SW_T0, SW_T1), at(SW_T1, SW_T0) }
__constant scalar sw_edge_place[SW_EDGE_POINTS] = {SW_T0, SW_T1};
__constant scalar sw_edge_weight[SW_EDGE_POINTS] = {0.5, 0.5};
#else
#define SW_T0 0.11270166537925831148
#define SW_T1 0.5
#define SW_T2 0.88729833462074168852
#define SW_EDGE_ROWS(at) \
  { at(SW_T0, SW_T2), at(SW_T1, SW_T1), at(SW_T2, SW_T0) }
__constant scalar sw_edge_place[SW_EDGE_POINTS] = {SW_T0, SW_T1, SW_T2};
__constant scalar sw_edge_weight[SW_EDGE_POINTS] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
#endif

// Side 0 from (0, 0) to (1, 0), side 1 to (0, 1), side 2 back; `rest` is 1 - `t`.
#define SW_SIDE_0(t, rest) SW_MODES_AT(t, 0.0)
#define SW_SIDE_1(t, rest) SW_MODES_AT(rest, t)
#define SW_SIDE_2(t, rest) SW_MODES_AT(0.0, rest)
__constant scalar sw_edge_modes[3][SW_EDGE_POINTS][SW_COLUMNS] = {
    SW_EDGE_ROWS(SW_SIDE_0), SW_EDGE_ROWS(SW_SIDE_1), SW_EDGE_ROWS(SW_SIDE_2)};

// Points in the triangle (Strang and Fix 1973): of degree 2 and 4. Weights are shares of the area.
#if ORDER == 1
#define SW_A (1.0 / 6.0)
#define SW_B (2.0 / 3.0)
#define SW_VOLUME_ROWS(at) \
  { at(SW_A, SW_A), at(SW_B, SW_A), at(SW_A, SW_B) }
__constant scalar sw_volume_weight[SW_VOLUME_POINTS] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
#else
#define SW_A 0.44594849091596488632
#define SW_B 0.10810301816807022736
#define SW_C 0.09157621350977074346
#define SW_D 0.81684757298045851308
#define SW_VOLUME_ROWS(at) \
  { at(SW_A, SW_A), at(SW_B, SW_A), at(SW_A, SW_B), at(SW_C, SW_C), at(SW_D, SW_C), at(SW_C, SW_D) }
#define SW_WA 0.22338158967801146570
#define SW_WC 0.10995174365532186764
__constant scalar sw_volume_weight[SW_VOLUME_POINTS] = {SW_WA, SW_WA, SW_WA, SW_WC, SW_WC, SW_WC};
#endif
#define SW_BARYCENTRIC(r, s) \
  { 1.0 - (r) - (s), r, s }
__constant scalar sw_volume_place[SW_VOLUME_POINTS][3] = SW_VOLUME_ROWS(SW_BARYCENTRIC);
__constant scalar sw_volume_modes[SW_VOLUME_POINTS][SW_COLUMNS] = SW_VOLUME_ROWS(SW_MODES_AT);
__constant scalar sw_volume_modes_r[SW_VOLUME_POINTS][SW_COLUMNS] = SW_VOLUME_ROWS(SW_MODES_R_AT);
__constant scalar sw_volume_modes_s[SW_VOLUME_POINTS][SW_COLUMNS] = SW_VOLUME_ROWS(SW_MODES_S_AT);

#endif
#endif
