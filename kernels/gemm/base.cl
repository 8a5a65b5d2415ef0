// GEMM, base kernel: a single work-item design for FPGAs (Meyer 2024, section 3.1.5 and Figure 3.2).
//
// result = alpha a b + beta c, in blocks of BLOCK_SIZE x BLOCK_SIZE. For each block of the result
//   1. a block of a and one of b are loaded into local memory,
//   2. they are multiplied in register blocks: GEMM_SIZE^3 multiplications and additions a cycle,
//   3. after the last of them the block is scaled, c is added, and it is stored.
// The register blocks of one step are independent of each other, and a sum's next turn comes BLOCKS^2 cycles
// later, so that the additions can be pipelined. As one loop of BLOCKS^3 cycles they drain once a step.
// `a`, `c` and `result` hold `block_rows` rows of blocks, `b` is `blocks` x `blocks` blocks: the host pads.
#include "common/dialect.h"
#include "gemm/types.h"

#define BLOCKS (BLOCK_SIZE / GEMM_SIZE)
#define REGISTER_SIZE GEMM_SIZE
#define TILE_VALUE GEMM_VALUE
#define TILE_VALUE_BYTES GEMM_VALUE_BYTES
#define TILE_FMA GEMM_FMA
#define ROW_ELEMENTS UNROLL
#include "common/register_block.h"

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(multiply)(FM_GLOBAL(multiply, a) const GEMM_INPUT* restrict a,
                                      FM_GLOBAL(multiply, b) const GEMM_INPUT* restrict b,
                                      FM_GLOBAL(multiply, c) const GEMM_VALUE* restrict c,
                                      FM_GLOBAL(multiply, result) GEMM_VALUE* restrict result,
                                      const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const uint block_rows,
                                      const uint blocks) {
  FM_PORT(a)
  FM_PORT(b)
  FM_PORT(c)
  FM_PORT(result)
  FM_SCALAR(alpha)
  FM_SCALAR(beta)
  FM_SCALAR(block_rows)
  FM_SCALAR(blocks)
  FM_CONTROL
  const size_t width = (size_t)blocks * BLOCK_SIZE;
  FM_SERIAL
  for (uint block_row = 0; block_row < block_rows; ++block_row) {
    FM_SERIAL
    for (uint block_column = 0; block_column < blocks; ++block_column) {
      REGISTER_BLOCKS(sum);
      FM_SERIAL
      for (uint step = 0; step < blocks; ++step) {
        REGISTER_BLOCKS(left);
        REGISTER_BLOCKS(right);
        const size_t left_start = (size_t)block_row * BLOCK_SIZE * width + (size_t)step * BLOCK_SIZE;
        const size_t right_start = (size_t)step * BLOCK_SIZE * width + (size_t)block_column * BLOCK_SIZE;
        FM_COALESCE(2)
        for (uint row = 0; row < BLOCK_SIZE; ++row) {
          FM_PIPELINE
          for (uint column = 0; column < BLOCK_SIZE; column += UNROLL) {
            FM_HLS(pipeline II = 1)
            FM_UNROLL_FULLY
            for (uint k = 0; k < UNROLL; ++k) {
              FM_HLS(unroll)
              const uint x = column + k;
              left[row / GEMM_SIZE][x / GEMM_SIZE][row % GEMM_SIZE][x % GEMM_SIZE] =
                  GEMM_LOAD(a, left_start + row * width + x);
              right[row / GEMM_SIZE][x / GEMM_SIZE][row % GEMM_SIZE][x % GEMM_SIZE] =
                  GEMM_LOAD(b, right_start + row * width + x);
            }
          }
        }
        FM_COALESCE(3)
        for (uint k = 0; k < BLOCKS; ++k) {
          for (uint i = 0; i < BLOCKS; ++i) {
            FM_PIPELINE
            for (uint j = 0; j < BLOCKS; ++j) {
              FM_HLS(pipeline II = 1)
              multiply_add(sum[i][j], left[i][k], right[k][j], step == 0 && k == 0);
            }
          }
        }
      }
      const size_t start = (size_t)block_row * BLOCK_SIZE * width + (size_t)block_column * BLOCK_SIZE;
      FM_COALESCE(2)
      for (uint row = 0; row < BLOCK_SIZE; ++row) {
        FM_PIPELINE
        for (uint column = 0; column < BLOCK_SIZE; column += UNROLL) {
          FM_HLS(pipeline II = 1)
          FM_UNROLL_FULLY
          for (uint k = 0; k < UNROLL; ++k) {
            FM_HLS(unroll)
            const uint x = column + k;
            const size_t place = start + row * width + x;
            const GEMM_VALUE product = sum[row / GEMM_SIZE][x / GEMM_SIZE][row % GEMM_SIZE][x % GEMM_SIZE];
            result[place] = GEMM_RESULT(product, c[place]);
          }
        }
      }
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
