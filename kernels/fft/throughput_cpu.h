// FFT on a CPU: the four-step form, every step on LANES neighbouring columns at once.
//
// A transform of ROWS x COLUMNS points is a matrix in memory. Columns are transformed (LANES side by side),
// its points multiplied by the twiddles between the steps and stored transposed into scratch memory; there
// rows lie side by side in turn and are transformed the same way, straight into the output in natural order.
// Each of these transforms is Stockham's: radix 8 and 4, in order without bit reversal.
#include "fft/types.h"  // outside of any condition, as others include it too

#if defined(FM_CPU)

#include "fft/lanes.h"

// Where a stage takes its points from: `stride` vectors from one to the next.
typedef struct {
  __global lanes* re;
  __global lanes* im;
} planes;

#define LOAD_SCRATCH(i) \
  { source.re[(i)*stride], source.im[(i)*stride] }
#define STORE_SCRATCH(i, v) target.re[i] = (v).re, target.im[i] = (v).im
#define LOAD_INPUT(i) load_pairs(input, (i)*stride, swapped)
#define STORE_OUTPUT(i, v) store_pairs(output, (i)*output_stride, v, swapped)

// One stage on transforms of `points`, of which blocks of `done` are transformed already: butterflies of
// RADIX points that are points / RADIX apart. The first of each block needs no twiddles.
#define STAGE_BODY(RADIX, BUTTERFLY, LOAD, STORE)                                      \
  const uint apart = points / RADIX;                                                   \
  for (uint j = 0; j < apart; j += done) {                                             \
    value v[RADIX];                                                                    \
    FM_UNROLL_FULLY                                                                    \
    for (uint i = 0; i < RADIX; ++i) {                                                 \
      const value loaded = LOAD(j + i * apart);                                        \
      v[i] = loaded;                                                                   \
    }                                                                                  \
    BUTTERFLY(v);                                                                      \
    FM_UNROLL_FULLY                                                                    \
    for (uint i = 0; i < RADIX; ++i) STORE(j* RADIX + i * done, v[i]);                 \
  }                                                                                    \
  for (uint k = 1; k < done; ++k) {                                                    \
    fft_complex w[RADIX];                                                              \
    FM_UNROLL_FULLY                                                                    \
    for (uint i = 1; i < RADIX; ++i) w[i] = twiddles[i * k * (ROWS / (RADIX * done))]; \
    for (uint j = 0; j < apart; j += done) {                                           \
      value v[RADIX];                                                                  \
      FM_UNROLL_FULLY                                                                  \
      for (uint i = 0; i < RADIX; ++i) {                                               \
        const value loaded = LOAD(j + k + i * apart);                                  \
        v[i] = i == 0 ? loaded : times(loaded, w[i].x, w[i].y);                        \
      }                                                                                \
      BUTTERFLY(v);                                                                    \
      FM_UNROLL_FULLY                                                                  \
      for (uint i = 0; i < RADIX; ++i) STORE(j* RADIX + k + i * done, v[i]);           \
    }                                                                                  \
  }

#define DEFINE_STAGES(RADIX)                                                                                \
  void FM_PASTE(from_input, RADIX)(planes target, __global const pair* input, const uint stride,            \
                                   const uint points, const uint swapped) {                                 \
    const uint apart = points / RADIX;                                                                      \
    for (uint j = 0; j < apart; ++j) {                                                                      \
      value v[RADIX];                                                                                       \
      FM_UNROLL_FULLY                                                                                       \
      for (uint i = 0; i < RADIX; ++i) v[i] = LOAD_INPUT(j + i * apart);                                    \
      FM_PASTE(butterfly, RADIX)(v);                                                                        \
      FM_UNROLL_FULLY                                                                                       \
      for (uint i = 0; i < RADIX; ++i) STORE_SCRATCH(j* RADIX + i, v[i]);                                   \
    }                                                                                                       \
  }                                                                                                         \
  void FM_PASTE(between, RADIX)(planes target, planes source, const uint stride, const uint points,         \
                                const uint done, __global const fft_complex* twiddles) {                    \
    STAGE_BODY(RADIX, FM_PASTE(butterfly, RADIX), LOAD_SCRATCH, STORE_SCRATCH)                              \
  }                                                                                                         \
  void FM_PASTE(to_output, RADIX)(__global pair * output, const uint output_stride, planes source,          \
                                  const uint stride, const uint done, __global const fft_complex* twiddles, \
                                  const uint swapped) {                                                     \
    const uint points = COLUMNS;                                                                            \
    STAGE_BODY(RADIX, FM_PASTE(butterfly, RADIX), LOAD_SCRATCH, STORE_OUTPUT)                               \
  }

DEFINE_STAGES(2)
DEFINE_STAGES(4)
DEFINE_STAGES(8)

// log2 of the radix of the next stage, of `left` = log2 of what the stages to come have to do: eights, and
// fours where eights leave a two over.
#define NEXT_LOG_RADIX(left) ((left) >= 3 && (left) != 4 ? 3 : (left) >= 2 ? 2 : 1)

inline void between(const uint log_radix, planes target, planes source, const uint stride, const uint points,
                    const uint done, __global const fft_complex* twiddles) {
  if (log_radix == 3) {
    between8(target, source, stride, points, done, twiddles);
  } else if (log_radix == 2) {
    between4(target, source, stride, points, done, twiddles);
  } else {
    between2(target, source, stride, points, done, twiddles);
  }
}

inline void from_input(const uint log_radix, planes target, __global const pair* input, const uint stride,
                       const uint points, const uint swapped) {
  if (log_radix == 3) {
    from_input8(target, input, stride, points, swapped);
  } else if (log_radix == 2) {
    from_input4(target, input, stride, points, swapped);
  } else {
    from_input2(target, input, stride, points, swapped);
  }
}

inline void to_output(const uint log_radix, __global pair* output, const uint output_stride, planes source,
                      const uint stride, const uint done, __global const fft_complex* twiddles,
                      const uint swapped) {
  if (log_radix == 3) {
    to_output8(output, output_stride, source, stride, done, twiddles, swapped);
  } else if (log_radix == 2) {
    to_output4(output, output_stride, source, stride, done, twiddles, swapped);
  } else {
    to_output2(output, output_stride, source, stride, done, twiddles, swapped);
  }
}

// Where a work-item computes.
typedef struct {
  planes first;
  planes second;
} work_areas;

inline work_areas areas_at(__global lanes* scratch) {
  const work_areas areas = {{scratch, scratch + ROWS}, {scratch + 2 * ROWS, scratch + 3 * ROWS}};
  return areas;
}

// LANES columns of ROWS points, `stride` pairs from one row to the next; the result lies in one of the work
// areas, which is returned.
inline planes transform_columns(work_areas areas, __global const pair* input, const uint stride,
                                const uint swapped, __global const fft_complex* twiddles) {
  planes source = areas.first, target = areas.second;
  uint log_done = NEXT_LOG_RADIX(LOG_ROWS);
  from_input(log_done, source, input, stride, ROWS, swapped);
  while (log_done < LOG_ROWS) {
    const uint log_radix = NEXT_LOG_RADIX(LOG_ROWS - log_done);
    between(log_radix, target, source, 1, ROWS, 1u << log_done, twiddles);
    const planes written = target;
    target = source;
    source = written;
    log_done += log_radix;
  }
  return source;
}

// The stages of rows of COLUMNS points from `log_done` on; `source` is free to be written when it is one of
// the work areas.
inline void finish_rows(work_areas areas, planes source, uint stride, uint log_done, __global pair* output,
                        const uint output_stride, const uint swapped, __global const fft_complex* twiddles) {
  planes target = areas.second, other = areas.first;
  uint log_radix = NEXT_LOG_RADIX(LOG_COLUMNS - log_done);
  while (log_done + log_radix < LOG_COLUMNS) {
    between(log_radix, target, source, stride, COLUMNS, 1u << log_done, twiddles);
    source = target;
    stride = 1;
    target = other;
    other = source;
    log_done += log_radix;
    log_radix = NEXT_LOG_RADIX(LOG_COLUMNS - log_done);
  }
  to_output(log_radix, output, output_stride, source, stride, 1u << log_done, twiddles, swapped);
}

// LANES points of LANES columns, from `row` on, multiplied by the twiddles between the steps and transposed.
inline void turn_block(value* block, planes columns, const uint row, __global const lanes* between_re,
                       __global const lanes* between_im, const uint between_stride) {
  lanes re[LANES], im[LANES];
  FM_UNROLL_FULLY
  for (uint i = 0; i < LANES; ++i) {
    const value point = {columns.re[row + i], columns.im[row + i]};
    const uint place = (row + i) * between_stride;
    const value product = times_each(point, between_re[place], between_im[place]);
    re[i] = product.re;
    im[i] = product.im;
  }
  transpose(re);
  transpose(im);
  FM_UNROLL_FULLY
  for (uint i = 0; i < LANES; ++i) {
    block[i].re = re[i];
    block[i].im = im[i];
  }
}

// Share of this work-item of `count` things.
inline uint share_start(const uint count, const uint item) {
  return (uint)((ulong)count * item / get_global_size(0));
}

#define PAIRS_PER_LANES (2 * LANES * FFT_ELEMENT_BYTES / (uint)sizeof(pair))

// Each work-item transforms a share of the batch, one after the other, with scratch memory of its own: two
// work areas and the transposed matrix. `twiddles`: ROWS complex exp(-2 pi i t / ROWS); `between`: ROWS x
// COLUMNS exp(-2 pi i row column / n), all real parts, then all imaginary parts.
__kernel void fft(__global const pair* restrict source, __global pair* restrict target,
                  __global const fft_complex* restrict twiddles, __global const lanes* restrict between_all,
                  __global lanes* restrict scratch, const uint batch, const uint inverse) {
  const uint item = get_global_id(0), end = share_start(batch, item + 1);
  const size_t size = (size_t)1 << LOG_SIZE, vectors = size / LANES;
  scratch += item * (4 * ROWS + 2 * vectors);
  const work_areas areas = areas_at(scratch);
  const planes transposed = {scratch + 4 * ROWS, scratch + 4 * ROWS + vectors};
  for (uint transform = share_start(batch, item); transform < end; ++transform) {
    __global const pair* input = source + transform * vectors * PAIRS_PER_LANES;
    __global pair* output = target + transform * vectors * PAIRS_PER_LANES;
    for (uint column = 0; column < COLUMNS / LANES; ++column) {
      const planes columns =
          transform_columns(areas, input + column * PAIRS_PER_LANES, COLUMNS / LANES, inverse, twiddles);
      for (uint row = 0; row < ROWS; row += LANES) {
        value block[LANES];
        turn_block(block, columns, row, between_all + column, between_all + vectors + column,
                   COLUMNS / LANES);
        FM_UNROLL_FULLY
        for (uint i = 0; i < LANES; ++i) {
          const uint place = column * ROWS + (i * ROWS + row) / LANES;
          transposed.re[place] = block[i].re;
          transposed.im[place] = block[i].im;
        }
      }
    }
    for (uint row = 0; row < ROWS / LANES; ++row) {
      const planes source = {transposed.re + row, transposed.im + row};
      finish_rows(areas, source, ROWS / LANES, 0, output + row * PAIRS_PER_LANES, ROWS / LANES, inverse,
                  twiddles);
    }
  }
}

// The two steps for one vector over many ranks, between which messages transpose the matrix.
//
// Columns of this rank: `columns` of them from a matrix ROWS x columns; `between_all` has their part of the
// twiddles. The result goes in one block for each rank, columns x (ROWS / ranks), of which a row is a column
// here.
__kernel void columns_step(__global const pair* restrict source, __global pair* restrict target,
                           __global const fft_complex* restrict twiddles,
                           __global const lanes* restrict between_all, __global lanes* restrict scratch,
                           const uint columns, const uint ranks, const uint inverse) {
  const uint item = get_global_id(0), vectors = columns / LANES, end = share_start(vectors, item + 1);
  const work_areas areas = areas_at(scratch + item * 4 * ROWS);
  const uint width = ROWS / ranks;  // of a block
  for (uint column = share_start(vectors, item); column < end; ++column) {
    const planes done =
        transform_columns(areas, source + column * PAIRS_PER_LANES, vectors, inverse, twiddles);
    for (uint row = 0; row < ROWS; row += LANES) {
      value block[LANES];
      turn_block(block, done, row, between_all + column, between_all + ROWS * vectors + column, vectors);
      const uint start = row / width * columns * width + row % width;
      FM_UNROLL_FULLY
      for (uint i = 0; i < LANES; ++i) {
        store_pairs(target, (start + (column * LANES + i) * width) / LANES, block[i], 0);
      }
    }
  }
}

// Rows of this rank, `rows` of them side by side: a matrix COLUMNS x rows, both before and after.
__kernel void rows_step(__global const pair* restrict source, __global pair* restrict target,
                        __global const fft_complex* restrict twiddles, __global lanes* restrict scratch,
                        const uint rows, const uint inverse) {
  const uint item = get_global_id(0), vectors = rows / LANES, end = share_start(vectors, item + 1);
  const work_areas areas = areas_at(scratch + item * 4 * ROWS);
  for (uint row = share_start(vectors, item); row < end; ++row) {
    const uint log_done = NEXT_LOG_RADIX(LOG_COLUMNS);
    if (log_done == LOG_COLUMNS) {
      // A single stage: there and back without a stage in between.
      from_input(1, areas.first, source + row * PAIRS_PER_LANES, vectors, COLUMNS, 0);
      finish_rows(areas, areas.first, 1, 1, target + row * PAIRS_PER_LANES, vectors, inverse, twiddles);
    } else {
      from_input(log_done, areas.first, source + row * PAIRS_PER_LANES, vectors, COLUMNS, 0);
      finish_rows(areas, areas.first, 1, log_done, target + row * PAIRS_PER_LANES, vectors, inverse,
                  twiddles);
    }
  }
}

#endif
