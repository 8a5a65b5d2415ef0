// The products of common/tile_gpu.h by the matrix units of NVIDIA's Hopper GPUs, whose instructions (wgmma) a
// group of four warps gives together and reads both matrices from local memory: TILE_INPUT is half,
// TILE_VALUE float, and two groups of warps have a block of 128 x 128.
//
// OpenCL's compiler has none of these instructions, as they belong to the target sm_90a alone. They stand
// here as comments, //@90a, which the host makes instructions of in the compiled PTX
// (src/device/opencl/nvidia.hpp).
//
// Pieces of 16 bytes of a part (common/tile_parts.h) lie as the instructions read them: rows of the left
// matrix have 64 bytes, with bits 4 and 5 of an address swapped by exclusive or with bits 7 and 8 ("64-byte
// swizzle"); those of the right one 128 bytes, in two halves of 64 columns, with bits 4 to 6 and 7 to 9
// ("128-byte swizzle"). Instructions and descriptors: PTX ISA 8.0, section 9.7.14.5 (wgmma).
#ifndef FABRICMARK_TILE_WARP_GROUPS_H
#define FABRICMARK_TILE_WARP_GROUPS_H

#define PART_DEPTH 32
#if TILE_DEPTH % PART_DEPTH != 0
#error "matrix units multiply parts of 32 columns: make depth_block a multiple of that"
#endif
#define PIECE 8                           // elements
#define LEFT_PIECES (PART_DEPTH / PIECE)  // of a row of a part
#define RIGHT_PIECES (BLOCK_COLUMNS / PIECE)
#define PART_PIECES (BLOCK_ROWS * LEFT_PIECES + PART_DEPTH * RIGHT_PIECES)
#define STAGES 3
#define TILE_LOCAL __local uint4 parts[STAGES * PART_PIECES] __attribute__((aligned(1024)))
#define TILE_MEMORY parts

// Accumulators of a work-item: two rows eight apart, pairs of columns side by side.
#define SUM_ROWS 2
#define SUM_COLUMNS 32
#define SUM_RUN 2
#define LANE ((uint)get_local_id(0) % 32)
#define WARP ((uint)get_local_id(0) / 32)
#define SUM_ROW(i) (WARP * 16 + (i)*8 + LANE / 4)
#define SUM_COLUMN(j) ((j) / 2 * 8 + LANE % 4 * 2 + (j) % 2)

// Places of pieces in a part.
#define LEFT_PLACE(row, piece) ((row)*LEFT_PIECES + ((piece) ^ ((row) >> 1 & 3)))
#define RIGHT_PLACE(row, piece) \
  (BLOCK_ROWS * LEFT_PIECES + (piece) / 8 * PART_DEPTH * 8 + (row)*8 + ((piece) % 8 ^ ((row)&7)))

// Descriptors of matrices in local memory: address, distances to the next 64 columns and the next eight rows,
// all in pieces, and the swizzle.
#define DESCRIPTOR(address, columns, rows, swizzle) \
  ((ulong)((address) >> 4 & 0x3fff) | (ulong)(columns) << 16 | (ulong)(rows) << 32 | (ulong)(swizzle) << 62)
#define LEFT_MATRIX(address) DESCRIPTOR(address, 1, 8 * LEFT_PIECES, 2)
#define RIGHT_MATRIX(address) DESCRIPTOR(address, PART_DEPTH * 8, 64, 1)

// Makes what was copied visible to the units.
#define SHOW_PART asm volatile("fence.proxy.async.shared::cta;")

#define FOUR_SUMS(r, j) "+f"(sum[0][j]), "+f"(sum[0][j + 1]), "+f"(sum[1][j]), "+f"(sum[1][j + 1])
#define SUMS(j) FOUR_SUMS(0, j), FOUR_SUMS(0, j + 2), FOUR_SUMS(0, j + 4), FOUR_SUMS(0, j + 6)

// sum += 64 rows of 16 columns of the left matrix times 16 rows of 128 columns of the right one.
FM_INLINE void multiply_64_128_16(float sum[SUM_ROWS][SUM_COLUMNS], const ulong left, const ulong right) {
  asm volatile(
      "//@90a wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,"
      "%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,"
      "%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,"
      "%63},%64,%65,1,1,1,0,1;"
      : SUMS(0), SUMS(8), SUMS(16), SUMS(24)
      : "l"(left), "l"(right));
}

FM_INLINE void multiply_part(float sum[SUM_ROWS][SUM_COLUMNS], __local const uint4* const part) {
  const uint left = (uint)(size_t)part + WARP / 4 * 64 * LEFT_PIECES * 16;
  const uint right = (uint)(size_t)part + BLOCK_ROWS * LEFT_PIECES * 16;
  asm volatile("//@90a wgmma.fence.sync.aligned;" ::: "memory");
  FM_PRAGMA(unroll)
  for (uint k = 0; k < PART_DEPTH; k += 16)
    multiply_64_128_16(sum, LEFT_MATRIX(left + k * 2), RIGHT_MATRIX(right + k * 128));
  asm volatile("//@90a wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("//@90a wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#include "common/tile_parts.h"

#endif
