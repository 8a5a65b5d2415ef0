// The products of common/tile_gpu.h on any device: each work-item multiplies TILE_ROWS x TILE_VECTORS
// elements in registers, from DEPTH_BLOCK columns of the left and rows of the right matrix at a time in local
// memory.
#ifndef FABRICMARK_TILE_IN_REGISTERS_H
#define FABRICMARK_TILE_IN_REGISTERS_H

#define SUM_ROWS TILE_ROWS
#define SUM_COLUMNS TILE_VECTORS

// Elements of a work-item that lie side by side, so that local memory gives them at once; and those that it
// brings from a row of the left matrix at once.
#if TILE_ROWS % 4 == 0 && TILE_VECTORS % 4 == 0
#define TILE_RUN 4
#else
#define TILE_RUN 1
#endif
#if DEPTH_BLOCK % 4 == 0
#define LEFT_RUN 4
#else
#define LEFT_RUN 1
#endif
typedef FM_VECTOR(TILE_VALUE, TILE_RUN) tile_run;

// Two parts of both matrices: one is multiplied while the next one is written. Rows of the left one are a run
// longer, so that a column lies in different banks.
#define LEFT_RUNS (BLOCK_ROWS / TILE_RUN + 1)
#define RIGHT_RUNS (BLOCK_COLUMNS / TILE_RUN)
#define TILE_LOCAL                                       \
  __local tile_run left_part[2][DEPTH_BLOCK][LEFT_RUNS]; \
  __local tile_run right_part[2][DEPTH_BLOCK][RIGHT_RUNS]
#define TILE_MEMORY left_part, right_part
#define TILE_LOCAL_VALUES (2 * DEPTH_BLOCK * (LEFT_RUNS + RIGHT_RUNS) * TILE_RUN)

// Row and column of a work-item in its group: 32 of them, which run in step on many GPUs, are 8 x 4, so that
// they read as few different elements of both matrices as go.
#if GROUP_SIDE % 8 == 0
#define ITEM_ROW(item) ((item) / 32 / (GROUP_SIDE / 4) * 8 + (item) % 32 / 4)
#define ITEM_COLUMN(item) ((item) / 32 % (GROUP_SIDE / 4) * 4 + (item) % 4)
#else
#define ITEM_ROW(item) ((item) / GROUP_SIDE)
#define ITEM_COLUMN(item) ((item) % GROUP_SIDE)
#endif
#define TILE_PLACE(i, item) (((i) / TILE_RUN * GROUP_SIDE + (item)) * TILE_RUN + (i) % TILE_RUN)
#define SUM_ROW(i) TILE_PLACE(i, ITEM_ROW((uint)get_local_id(0)))
#define SUM_COLUMN(j) TILE_PLACE(j, ITEM_COLUMN((uint)get_local_id(0)))

// Steps of the depth that NVIDIA's compiler overlaps (float on an H200: 44.1, 41.3, 45.9, 33.8 TFLOP/s with
// 2, 4, 8, 16 of them; with all it spills registers).
#if defined(__NV_CL_C_VERSION)
#define TILE_UNROLLED FM_PRAGMA(unroll 8)
#else
#define TILE_UNROLLED
#endif

// Runs of a part that a work-item brings to local memory.
#define LEFT_ALL (BLOCK_ROWS * DEPTH_BLOCK / LEFT_RUN)
#define RIGHT_ALL (RIGHT_RUNS * DEPTH_BLOCK)
#define LEFT_EACH ((LEFT_ALL + GROUP_ITEMS - 1) / GROUP_ITEMS)
#define RIGHT_EACH ((RIGHT_ALL + GROUP_ITEMS - 1) / GROUP_ITEMS)

typedef union {
  FM_VECTOR(TILE_VALUE, LEFT_RUN) run;
  TILE_VALUE value[LEFT_RUN];
} LeftRun;

typedef struct {
  LeftRun left[LEFT_EACH];
  tile_run right[RIGHT_EACH];
} Part;

FM_INLINE void load_part(Part* const part, __global const TILE_INPUT* const left, const size_t left_stride,
                         __global const TILE_INPUT* const right, const size_t right_stride) {
  const uint item = (uint)get_local_id(0);
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LEFT_EACH; ++n) {
    const uint i = item + n * GROUP_ITEMS;
    if (i < LEFT_ALL) {
      const size_t place =
          i / (DEPTH_BLOCK / LEFT_RUN) * left_stride + i % (DEPTH_BLOCK / LEFT_RUN) * LEFT_RUN;
      part->left[n].run = TILE_LOAD(LEFT_RUN, left, place);
    }
  }
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < RIGHT_EACH; ++n) {
    const uint i = item + n * GROUP_ITEMS;
    if (i < RIGHT_ALL)
      part->right[n] = TILE_LOAD(TILE_RUN, right, i / RIGHT_RUNS * right_stride + i % RIGHT_RUNS * TILE_RUN);
  }
}

FM_INLINE void store_part(const Part* const part, __local tile_run left_part[DEPTH_BLOCK][LEFT_RUNS],
                          __local tile_run right_part[DEPTH_BLOCK][RIGHT_RUNS]) {
  const uint item = (uint)get_local_id(0);
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LEFT_EACH; ++n) {
    const uint i = item + n * GROUP_ITEMS;
    if (i < LEFT_ALL) {
      const uint k = i % (DEPTH_BLOCK / LEFT_RUN) * LEFT_RUN;
      FM_UNROLL_ON_GPU
      for (uint e = 0; e < LEFT_RUN; ++e)
        ((__local TILE_VALUE*)left_part[k + e])[i / (DEPTH_BLOCK / LEFT_RUN)] = part->left[n].value[e];
    }
  }
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < RIGHT_EACH; ++n) {
    const uint i = item + n * GROUP_ITEMS;
    if (i < RIGHT_ALL) right_part[i / RIGHT_RUNS][i % RIGHT_RUNS] = part->right[n];
  }
}

FM_INLINE void multiply_part(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS],
                             __local const tile_run left_part[DEPTH_BLOCK][LEFT_RUNS],
                             __local const tile_run right_part[DEPTH_BLOCK][RIGHT_RUNS]) {
  const uint row = ITEM_ROW((uint)get_local_id(0));
  const uint column = ITEM_COLUMN((uint)get_local_id(0));
  TILE_UNROLLED
  for (uint k = 0; k < DEPTH_BLOCK; ++k) {
    union {
      tile_run run[TILE_ROWS / TILE_RUN];
      TILE_VALUE value[TILE_ROWS];
    } a;
    union {
      tile_run run[TILE_VECTORS / TILE_RUN];
      TILE_VALUE value[TILE_VECTORS];
    } b;
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < TILE_ROWS / TILE_RUN; ++i) a.run[i] = left_part[k][i * GROUP_SIDE + row];
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < TILE_VECTORS / TILE_RUN; ++j) b.run[j] = right_part[k][j * GROUP_SIDE + column];
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < TILE_ROWS; ++i) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = TILE_FMA(a.value[i], b.value[j], sum[i][j]);
    }
  }
}

// sum += left right over `depth` steps, a multiple of DEPTH_BLOCK; rows of the matrices are `left_stride` and
// `right_stride` elements apart. Called by all work-items of the group. While a part is multiplied, the next
// one is on its way to registers; a part is written again when all have passed the barrier after the one that
// ends its products.
FM_INLINE void add_products(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS],
                            __local tile_run left_part[2][DEPTH_BLOCK][LEFT_RUNS],
                            __local tile_run right_part[2][DEPTH_BLOCK][RIGHT_RUNS],
                            __global const TILE_INPUT* const left, const size_t left_stride,
                            __global const TILE_INPUT* const right, const size_t right_stride,
                            const uint depth) {
  Part next;
  load_part(&next, left, left_stride, right, right_stride);
  uint part = 0;
  for (uint start = 0; start < depth; start += DEPTH_BLOCK) {
    store_part(&next, left_part[part], right_part[part]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint after = start + DEPTH_BLOCK;
    if (after < depth)
      load_part(&next, left + after, left_stride, right + after * right_stride, right_stride);
    multiply_part(sum, left_part[part], right_part[part]);
    part = 1 - part;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif
