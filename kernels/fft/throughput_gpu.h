// FFT on a GPU, or any other device: Stockham's form with large radices, one start of the kernel for each
// pass over the memory. A work-group takes TILE_POINTS points, which are columns of as many points as the
// pass's radix, and transforms each in steps of radix 16 or less: 16 points a work-item in registers, between
// the steps in local memory. Neighbouring work-items touch neighbouring points on the way in and out.
#include "fft/types.h"

#define HELD 16u  // points of a work-item
#define ITEMS (TILE_POINTS / 16)
// Passes, which share out the bits of a point's number. Host code does the same (stages_execution.cpp).
#define LOG2(power) (31 - (int)clz((uint)(power)))
#define PASSES ((LOG_SIZE + LOG2(RADIX_POINTS) - 1) / LOG2(RADIX_POINTS))
#define LOG_LARGER ((LOG_SIZE + PASSES - 1) / PASSES)
#define LOG_SMALLER (LOG_SIZE / PASSES)
// Twiddles lie as work-items read them: of each step of a pass but the first rows of 2^log_inner, of the
// powers 1, 2, 3, 4, 8 and 12; those of the larger pass come first.
#define TWIDDLE_ROWS 6u
#define STEPS(log_radix) (((log_radix) + 3) / 4)
// Points of a column in the steps before.
#define LOG_INNER(log_radix, step)                           \
  (((step) > 0 ? (log_radix) / STEPS(log_radix) : 0) +       \
   ((step) > 1 ? ((log_radix) + 1) / STEPS(log_radix) : 0) + \
   ((step) > 2 ? ((log_radix) + 2) / STEPS(log_radix) : 0))
#define OF_STEP(log_radix, step) ((step) < STEPS(log_radix) ? TWIDDLE_ROWS << LOG_INNER(log_radix, step) : 0u)
#define TWIDDLES_BEFORE(log_radix, step)                                                   \
  (((step) > 1 ? OF_STEP(log_radix, 1) : 0u) + ((step) > 2 ? OF_STEP(log_radix, 2) : 0u) + \
   ((step) > 3 ? OF_STEP(log_radix, 3) : 0u))
// Of a point in local memory: apart by any power of two, points lie in different banks.
#define PLACE(point) ((point) + ((point) >> 4) + ((point) >> 8))

#define HALF_ROOT ((DATA_TYPE)0.70710678118654752440)
#define COS_16 ((DATA_TYPE)0.92387953251128675613)  // of a sixteenth of a turn
#define SIN_16 ((DATA_TYPE)0.38268343236508977173)

FM_INLINE fft_complex product(const fft_complex a, const fft_complex b) {
  return FM_MAKE(fft_complex)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

FM_INLINE fft_complex minus_i(const fft_complex a) { return FM_MAKE(fft_complex)(a.y, -a.x); }

FM_INLINE void radix_2(fft_complex* v) {
  const fft_complex difference = v[0] - v[1];
  v[0] += v[1];
  v[1] = difference;
}

// Of points that are `apart`.
FM_INLINE void radix_4(fft_complex* v, const uint apart) {
  const fft_complex p = v[0] + v[2 * apart], q = v[0] - v[2 * apart];
  const fft_complex r = v[apart] + v[3 * apart], s = minus_i(v[apart] - v[3 * apart]);
  v[0] = p + r;
  v[apart] = q + s;
  v[2 * apart] = p - r;
  v[3 * apart] = q - s;
}

FM_INLINE void radix_8(fft_complex* v) {
  radix_4(v, 2);
  radix_4(v + 1, 2);
  const fft_complex e0 = v[0], e1 = v[2], e2 = v[4], e3 = v[6], o0 = v[1], o2 = minus_i(v[5]);
  const fft_complex o1 = product(v[3], FM_MAKE(fft_complex)(HALF_ROOT, -HALF_ROOT));
  const fft_complex o3 = product(v[7], FM_MAKE(fft_complex)(-HALF_ROOT, -HALF_ROOT));
  v[0] = e0 + o0;
  v[1] = e1 + o1;
  v[2] = e2 + o2;
  v[3] = e3 + o3;
  v[4] = e0 - o0;
  v[5] = e1 - o1;
  v[6] = e2 - o2;
  v[7] = e3 - o3;
}

FM_INLINE void exchange(fft_complex* v, const uint a, const uint b) {
  const fft_complex of_a = v[a];
  v[a] = v[b];
  v[b] = of_a;
}

FM_INLINE void radix_16(fft_complex* v) {
  FM_UNROLL_ON_GPU
  for (uint j = 0; j < 4; ++j) radix_4(v + j, 4);
  v[5] = product(v[5], FM_MAKE(fft_complex)(COS_16, -SIN_16));
  v[6] = product(v[6], FM_MAKE(fft_complex)(HALF_ROOT, -HALF_ROOT));
  v[7] = product(v[7], FM_MAKE(fft_complex)(SIN_16, -COS_16));
  v[9] = product(v[9], FM_MAKE(fft_complex)(HALF_ROOT, -HALF_ROOT));
  v[10] = minus_i(v[10]);
  v[11] = product(v[11], FM_MAKE(fft_complex)(-HALF_ROOT, -HALF_ROOT));
  v[13] = product(v[13], FM_MAKE(fft_complex)(SIN_16, -COS_16));
  v[14] = product(v[14], FM_MAKE(fft_complex)(-HALF_ROOT, -HALF_ROOT));
  v[15] = product(v[15], FM_MAKE(fft_complex)(-COS_16, SIN_16));
  FM_UNROLL_ON_GPU
  for (uint j = 0; j < 4; ++j) radix_4(v + 4 * j, 1);
  exchange(v, 1, 4);
  exchange(v, 2, 8);
  exchange(v, 3, 12);
  exchange(v, 6, 9);
  exchange(v, 7, 13);
  exchange(v, 11, 14);
}

// In place, in natural order: of all that a work-item holds, 2^log_radix points each.
FM_INLINE void butterflies(fft_complex* v, const uint log_radix) {
  FM_UNROLL_ON_GPU
  for (uint first = 0; first < HELD; first += 1u << log_radix) {
    switch (log_radix) {
      case 1:
        radix_2(v + first);
        break;
      case 2:
        radix_4(v + first, 1);
        break;
      case 3:
        radix_8(v + first);
        break;
      default:
        radix_16(v + first);
    }
  }
}

// exp(-2 pi i m / 2^log_points), to the last digit but one.
FM_INLINE fft_complex turn(const uint m, const uint log_points) {
  // A turn has all values of an int: what is beyond half of it is negative.
  const DATA_TYPE half_turns = (DATA_TYPE)(int)(m << (32 - log_points)) * (DATA_TYPE)(1.0 / 2147483648.0);
  return FM_MAKE(fft_complex)(cospi(half_turns), -sinpi(half_turns));
}

// Multiplies point i of a butterfly by turn(first + i * one, log_points), as the product of two.
FM_INLINE void turn_all(fft_complex* v, const uint log_radix, const uint first, const uint one,
                        const uint log_points) {
  const fft_complex w1 = turn(one, log_points);
  if (log_radix < 2) {
    const fft_complex w0 = turn(first, log_points);
    v[0] = product(v[0], w0);
    v[1] = product(v[1], product(w0, w1));
    return;
  }
  const fft_complex w2 = turn(2 * one, log_points), w3 = turn(3 * one, log_points);
  FM_UNROLL_ON_GPU
  for (uint i = 0; i < 1u << log_radix; i += 4) {
    const fft_complex w0 = turn(first + i * one, log_points);
    v[i] = product(v[i], w0);
    v[i + 1] = product(v[i + 1], product(w0, w1));
    v[i + 2] = product(v[i + 2], product(w0, w2));
    v[i + 3] = product(v[i + 3], product(w0, w3));
  }
}

// Multiplies point i of a butterfly by power i of a twiddle, number `one` of each row: those of 1, 2, 3, 4,
// 8 and 12 are exact, the others products of two.
FM_INLINE void twist(fft_complex* v, const uint log_radix, __global const fft_complex* restrict twiddles,
                     const uint log_row, const uint one) {
  const fft_complex w1 = twiddles[one];
  v[1] = product(v[1], w1);
  if (log_radix < 2) return;
  const fft_complex w2 = twiddles[(1u << log_row) + one], w3 = twiddles[(2u << log_row) + one];
  v[2] = product(v[2], w2);
  v[3] = product(v[3], w3);
  FM_UNROLL_ON_GPU
  for (uint i = 4; i < 1u << log_radix; i += 4) {
    const fft_complex first = twiddles[((i / 4 + 2) << log_row) + one];
    v[i] = product(v[i], first);
    v[i + 1] = product(v[i + 1], product(first, w1));
    v[i + 2] = product(v[i + 2], product(first, w2));
    v[i + 3] = product(v[i + 3], product(first, w3));
  }
}

// A step of a pass of radix 2^log_radix, number `step` of `steps`; all three are constants. Transforms are of
// 2^log_points points. Parts of a number
// that share no bits are put together by +, as are the places that they have in the tile.
FM_INLINE void step_of(fft_complex* v, const uint log_radix, const uint steps, const uint step,
                       __global const fft_complex* restrict source, __global fft_complex* restrict target,
                       __global const fft_complex* restrict twiddles, __local fft_complex* restrict tile,
                       const uint log_points, const uint batch, const uint log_done, const uint swap_in,
                       const uint swap_out) {
  const uint log_columns = LOG2(TILE_POINTS) - log_radix, log_apart = log_points - log_radix;
  // Points of this step, of the steps before it, and of the others of a column.
  const uint log_step = (log_radix + step) / steps, log_rest = log_radix - log_step;
  const uint log_inner = LOG_INNER(log_radix, step);
  const bool is_first = step == 0, is_last = step + 1 == steps;
  const size_t columns = (size_t)batch << log_apart, first = (size_t)get_group_id(0) << log_columns;
  // Neighbouring work-items take neighbouring columns where these lie side by side. Of a butterfly of a
  // column points are j + (i << log_rest).
  const bool by_columns = (is_first && log_apart > 0) || (is_last && !is_first && log_done > 0);
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < HELD >> log_step; ++n) {
    const uint number = get_local_id(0) + n * ITEMS;
    const uint column = by_columns ? number & ((1u << log_columns) - 1) : number >> log_rest;
    const uint j = by_columns ? number >> log_columns : number & ((1u << log_rest) - 1);
    if (is_first) {
      const size_t whole = first + column;
      const uint of_transform = (uint)whole & ((1u << log_apart) - 1);
      __global const fft_complex* const from =
          source + ((whole >> log_apart) << log_points) + of_transform + ((size_t)j << log_apart);
      const uint done = of_transform & ((1u << log_done) - 1);
      FM_UNROLL_ON_GPU
      for (uint i = 0; i < 1u << log_step; ++i) {
        const fft_complex point =
            whole < columns ? from[(size_t)i << (log_rest + log_apart)] : FM_MAKE(fft_complex)(0, 0);
        v[(n << log_step) + i] = swap_in ? point.yx : point;
      }
      if (log_done > 0)
        turn_all(v + (n << log_step), log_step, j * done, done << log_rest, log_radix + log_done);
    } else {
      __local const fft_complex* const from = tile + PLACE((column << log_radix) + j);
      FM_UNROLL_ON_GPU
      for (uint i = 0; i < 1u << log_step; ++i) v[(n << log_step) + i] = from[PLACE(i << log_rest)];
      const uint done = j & ((1u << log_inner) - 1);
      twist(v + (n << log_step), log_step, twiddles + TWIDDLES_BEFORE(log_radix, step), log_inner, done);
    }
  }
  butterflies(v, log_step);
  if (!is_last && !is_first) barrier(CLK_LOCAL_MEM_FENCE);
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < HELD >> log_step; ++n) {
    const uint number = get_local_id(0) + n * ITEMS;
    const uint column = by_columns ? number & ((1u << log_columns) - 1) : number >> log_rest;
    const uint j = by_columns ? number >> log_columns : number & ((1u << log_rest) - 1);
    const uint done = j & ((1u << log_inner) - 1), point = ((j - done) << log_step) + done;
    if (is_last) {
      const size_t whole = first + column;
      const uint of_transform = (uint)whole & ((1u << log_apart) - 1);
      const uint before = of_transform & ((1u << log_done) - 1);
      __global fft_complex* const to = target + ((whole >> log_apart) << log_points) +
                                       ((size_t)(of_transform - before) << log_radix) + before +
                                       ((size_t)point << log_done);
      FM_UNROLL_ON_GPU
      for (uint i = 0; i < 1u << log_step; ++i) {
        const fft_complex found = v[(n << log_step) + i];
        if (whole < columns) to[(size_t)i << (log_inner + log_done)] = swap_out ? found.yx : found;
      }
    } else {
      __local fft_complex* const to = tile + PLACE((column << log_radix) + point);
      FM_UNROLL_ON_GPU
      for (uint i = 0; i < 1u << log_step; ++i) to[PLACE(i << log_inner)] = v[(n << log_step) + i];
    }
  }
  if (!is_last) barrier(CLK_LOCAL_MEM_FENCE);
}

// One pass on `batch` transforms, of which blocks of 2^log_done points are transformed already. `swap_in` and
// `swap_out` exchange real and imaginary parts on the way in and out: both of them make the transform an
// inverse one. A kernel for each radix: one of both is slow.
#define PASS_OF(log_radix, twiddles_before, log_points)                         \
  FM_LOCAL fft_complex tile[PLACE(TILE_POINTS - 1) + 1];                        \
  fft_complex v[HELD];                                                          \
  STEP_OF(log_radix, twiddles_before, log_points, 0);                           \
  if (STEPS(log_radix) > 1) STEP_OF(log_radix, twiddles_before, log_points, 1); \
  if (STEPS(log_radix) > 2) STEP_OF(log_radix, twiddles_before, log_points, 2); \
  if (STEPS(log_radix) > 3) STEP_OF(log_radix, twiddles_before, log_points, 3)
#define STEP_OF(log_radix, twiddles_before, log_points, step)                                       \
  step_of(v, log_radix, STEPS(log_radix), step, source, target, twiddles + (twiddles_before), tile, \
          log_points, batch, log_done, swap_in, swap_out)

#define PASS(name, log_radix, twiddles_before)                                                           \
  __kernel FM_GROUP_OF(ITEMS) void name(__global const fft_complex* restrict source,                     \
                                        __global fft_complex* restrict target,                           \
                                        __global const fft_complex* restrict twiddles, const uint batch, \
                                        const uint log_done, const uint swap_in, const uint swap_out) {  \
    PASS_OF(log_radix, twiddles_before, LOG_SIZE);                                                       \
  }
PASS(pass, LOG_LARGER, 0)
PASS(smaller_pass, LOG_SMALLER, TWIDDLES_BEFORE(LOG_LARGER, 4))

// Of one vector over all ranks, as a matrix of 2^LOG_ROWS rows, a rank has 2^log_points points. A pass over
// its rows or columns is one over the highest bits of these points' numbers: as the lowest bits are left, the
// other axis is the slower one in the end.
#define LOG_ROWS ((LOG_SIZE + 1) / 2)
#define AXIS_PASSES ((LOG_ROWS + LOG2(RADIX_POINTS) - 1) / LOG2(RADIX_POINTS))
#define LOG_LARGER_OF_AXIS ((LOG_ROWS + AXIS_PASSES - 1) / AXIS_PASSES)
#define LOG_SMALLER_OF_AXIS (LOG_SIZE / 2 / AXIS_PASSES)
#define AXIS_PASS(name, log_radix, twiddles_before)                                                \
  __kernel FM_GROUP_OF(ITEMS) void name(                                                           \
      __global const fft_complex* restrict source, __global fft_complex* restrict target,          \
      __global const fft_complex* restrict twiddles, const uint log_points, const uint log_done) { \
    const uint batch = 1, swap_in = 0, swap_out = 0;                                               \
    PASS_OF(log_radix, twiddles_before, log_points);                                               \
  }
AXIS_PASS(axis_pass, LOG_LARGER_OF_AXIS, 0)
AXIS_PASS(smaller_axis_pass, LOG_SMALLER_OF_AXIS, TWIDDLES_BEFORE(LOG_LARGER_OF_AXIS, 4))

// Runs of 2^log_run points: out[inner][outer] = in[outer][inner], of 2^log_outer and 2^log_inner; with
// `turns` times exp(-2 pi i (first + outer) k / n), k: number of the point in its row; with `swaps` real and
// imaginary parts exchanged.
__kernel void move_runs(__global const fft_complex* restrict source, __global fft_complex* restrict target,
                        const uint log_outer, const uint log_inner, const uint log_run, const uint first,
                        const uint turns, const uint swaps) {
  const size_t points = (size_t)1 << (log_outer + log_inner + log_run);
  for (size_t i = get_global_id(0); i < points; i += get_global_size(0)) {
    const uint k = (uint)i & ((1u << (log_inner + log_run)) - 1);
    const size_t outer = i >> (log_inner + log_run), inner = k >> log_run;
    fft_complex point = source[i];
    if (turns) point = product(point, turn((first + (uint)outer) * k, LOG_SIZE));
    target[(((inner << log_outer) + outer) << log_run) + (k & ((1u << log_run) - 1))] =
        swaps ? point.yx : point;
  }
}

// out[column][row] = in[row][column], a square of SIDE x SIDE a work-group.
#define LOG_SIDE ((LOG2(TILE_POINTS) - 1) / 2)
#define SIDE (1u << LOG_SIDE)
__kernel FM_GROUP_OF(ITEMS) void transpose_points(__global const fft_complex* restrict source,
                                                  __global fft_complex* restrict target, const uint rows,
                                                  const uint columns) {
  FM_LOCAL fft_complex square[TILE_POINTS];  // a row has one more, for other banks
  const uint across = (columns + SIDE - 1) / SIDE;
  const uint row = (uint)get_group_id(0) / across * SIDE, column = (uint)get_group_id(0) % across * SIDE;
  for (uint i = (uint)get_local_id(0); i < SIDE * SIDE; i += ITEMS) {
    const uint r = row + i / SIDE, c = column + i % SIDE;
    if (r < rows && c < columns) square[i % SIDE * (SIDE + 1) + i / SIDE] = source[(size_t)r * columns + c];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = (uint)get_local_id(0); i < SIDE * SIDE; i += ITEMS) {
    const uint c = column + i / SIDE, r = row + i % SIDE;
    if (r < rows && c < columns) target[(size_t)c * rows + r] = square[i / SIDE * (SIDE + 1) + i % SIDE];
  }
}
