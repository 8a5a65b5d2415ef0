// The products of common/tile_gpu.h by the matrix units of NVIDIA's GPUs, in inline PTX: TILE_MATRIX_UNITS is
// the compute capability (80 or 90) whose instructions are used. TILE_VALUE is double, or float with half as
// TILE_INPUT, and eight warps have a block of 128 x 128.
//
// A warp computes WARP_ROWS x 64 elements. All parts (common/tile_parts.h) are the 48 KiB that OpenCL has in
// local memory. Pieces of 16 bytes lie in another order than in memory, by exclusive or with the row, so that
// the loads of a warp meet in no bank. Instructions: PTX ISA 8.0, section 9.7.14 (mma, ldmatrix).
#ifndef FABRICMARK_TILE_MATRIX_UNITS_H
#define FABRICMARK_TILE_MATRIX_UNITS_H

#if TILE_VALUE_BYTES == 8
#define PART_DEPTH 8
#else
#define PART_DEPTH 32
#endif
#define STAGES 3
#define WARP_ROWS 32
#if TILE_DEPTH % PART_DEPTH != 0
#error "matrix units multiply parts of 8 (double) or 32 (mixed) columns: make depth_block a multiple of that"
#endif
#define PIECE (16 / (int)sizeof(TILE_INPUT))  // elements
#define LEFT_PIECES (PART_DEPTH / PIECE)      // of a row of a part
#define RIGHT_PIECES (BLOCK_COLUMNS / PIECE)
#define PART_PIECES (BLOCK_ROWS * LEFT_PIECES + PART_DEPTH * RIGHT_PIECES)
#define TILE_LOCAL __local uint4 parts[STAGES * PART_PIECES]
#define TILE_MEMORY parts
#define TILE_LOCAL_VALUES (49152 / TILE_VALUE_BYTES)

// Accumulators: pairs of rows eight apart and of columns side by side.
#define SUM_ROWS (WARP_ROWS / 8)
#define SUM_COLUMNS 16
#define LANE ((uint)get_local_id(0) % 32)
#define WARP ((uint)get_local_id(0) / 32)
#define WARP_ROW (WARP / 2 * WARP_ROWS)
#define WARP_COLUMN (WARP % 2 * 64)
#define SUM_ROW(i) (WARP_ROW + (i) / 2 * 16 + (i) % 2 * 8 + LANE / 4)
#define SUM_COLUMN(j) (WARP_COLUMN + (j) / 2 * 8 + LANE % 4 * 2 + (j) % 2)

// Places of pieces in a part.
#if TILE_VALUE_BYTES == 8
#define LEFT_PLACE(row, piece) ((row)*LEFT_PIECES + ((piece) ^ ((row)&2)))
#define RIGHT_PLACE(row, piece) (BLOCK_ROWS * LEFT_PIECES + (row)*RIGHT_PIECES + ((piece) ^ ((row)&3) << 1))
#else
#define LEFT_PLACE(row, piece) ((row)*LEFT_PIECES + ((piece) ^ ((row) >> 1 & 3)))
#define RIGHT_PLACE(row, piece) (BLOCK_ROWS * LEFT_PIECES + (row)*RIGHT_PIECES + ((piece) ^ ((row)&7)))
#endif

#define SHOW_PART

#if TILE_VALUE_BYTES == 8
// What a work-item has of STEP_DEPTH columns and rows of a part.
#define STEP_DEPTH 4
typedef struct {
  double a[2][2];
  double b[8];
} Step;

FM_INLINE void load_step(Step* const step, __local const uint4* const part, const uint k) {
  __local const double* const values = (__local const double*)part;
  const uint g = LANE / 4, t = LANE % 4;
  FM_PRAGMA(unroll)
  for (uint i = 0; i < 4; ++i)
    step->a[i / 2][i % 2] = values[LEFT_PLACE(WARP_ROW + i * 8 + g, (k + t) / 2) * 2 + t % 2];
  FM_PRAGMA(unroll)
  for (uint j = 0; j < 8; ++j)
    step->b[j] = values[RIGHT_PLACE(k + t, (WARP_COLUMN + j * 8 + g) / 2) * 2 + g % 2];
}

FM_INLINE void multiply_step(double sum[SUM_ROWS][SUM_COLUMNS], const Step* const step) {
  FM_PRAGMA(unroll)
  for (uint i = 0; i < 2; ++i) {
    FM_PRAGMA(unroll)
    for (uint j = 0; j < 8; ++j) {
#if TILE_MATRIX_UNITS >= 90
      asm volatile(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
          : "+d"(sum[2 * i][2 * j]), "+d"(sum[2 * i][2 * j + 1]), "+d"(sum[2 * i + 1][2 * j]),
            "+d"(sum[2 * i + 1][2 * j + 1])
          : "d"(step->a[i][0]), "d"(step->a[i][1]), "d"(step->b[j]));
#else
      FM_PRAGMA(unroll)
      for (uint h = 0; h < 2; ++h)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                     : "+d"(sum[2 * i + h][2 * j]), "+d"(sum[2 * i + h][2 * j + 1])
                     : "d"(step->a[i][h]), "d"(step->b[j]));
#endif
    }
  }
}
#else
#define LOAD_MATRIX(form, to, from)                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0,%1,%2,%3},[%4];" \
               : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])           \
               : "r"(from))

FM_INLINE void multiply_part(float sum[SUM_ROWS][SUM_COLUMNS], __local const uint4* const part) {
  const uint at = (uint)(size_t)part;
  const uint row = LANE % 16, side = LANE / 16;
  FM_PRAGMA(unroll)
  for (uint k = 0; k < PART_DEPTH; k += 16) {
    uint a[WARP_ROWS / 16][4], b[4][4];
    FM_PRAGMA(unroll)
    for (uint i = 0; i < WARP_ROWS / 16; ++i)
      LOAD_MATRIX("", a[i], at + LEFT_PLACE(WARP_ROW + i * 16 + row, k / 8 + side) * 16);
    FM_PRAGMA(unroll)
    for (uint j = 0; j < 4; ++j)
      LOAD_MATRIX(".trans", b[j], at + RIGHT_PLACE(k + row, WARP_COLUMN / 8 + j * 2 + side) * 16);
    FM_PRAGMA(unroll)
    for (uint i = 0; i < WARP_ROWS / 16; ++i) {
      FM_PRAGMA(unroll)
      for (uint j = 0; j < 8; ++j)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
            "{%0,%1,%2,%3};"
            : "+f"(sum[2 * i][2 * j]), "+f"(sum[2 * i][2 * j + 1]), "+f"(sum[2 * i + 1][2 * j]),
              "+f"(sum[2 * i + 1][2 * j + 1])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j / 2][j % 2 * 2]),
              "r"(b[j / 2][j % 2 * 2 + 1]));
    }
  }
}
#endif

#include "common/tile_parts.h"

#endif
