// PTRANS, base kernel: a single work-item design for FPGAs (Meyer 2024, section 4.1.2.1).
//
// For each block, three pipelines one after the other, CHANNEL_WIDTH elements a cycle:
//   1. a block of a is read into local memory,
//   2. it is read transposed, a block of b is added to it, and the sum put into a second buffer,
//   3. the sum is written to c.
// So global memory sees whole blocks from end to end only. Blocks are contiguous in memory, row by row. Task
// i adds block tasks[2 i] of a, transposed, to block tasks[2 i + 1] of b; c has its blocks in b's order.
#include "common/dialect.h"
#include "ptrans/blocks.h"

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(transpose)(FM_GLOBAL(transpose, a) const DATA_TYPE* restrict a,
                                       FM_GLOBAL(transpose, b) const DATA_TYPE* restrict b,
                                       FM_GLOBAL(transpose, c) DATA_TYPE* restrict c,
                                       FM_GLOBAL(transpose, tasks) const uint* restrict tasks,
                                       const uint first, const uint count) {
  FM_PORT(a)
  FM_PORT(b)
  FM_PORT(c)
  FM_PORT(tasks)
  FM_SCALAR(first)
  FM_SCALAR(count)
  FM_CONTROL
  FM_SERIAL
  for (uint task = first; task < first + count; ++task) {
    DATA_TYPE block[BLOCK_SIZE][CHUNKS][CHANNEL_WIDTH] LANES_OF(3) __attribute__((aligned(64)));
    FM_HLS(array_partition variable = block complete dim = 3)
    DATA_TYPE sum[BLOCK_SIZE][BLOCK_SIZE] LANES_IN(2) __attribute__((aligned(64)));
#if CHANNEL_WIDTH > 1
    FM_HLS(array_partition variable = sum cyclic factor = CHANNEL_WIDTH dim = 2)
#endif
    const size_t from = tasks[2 * task] * BLOCK_ELEMENTS;
    const size_t to = tasks[2 * task + 1] * BLOCK_ELEMENTS;
    FM_COALESCE(2)
    for (uint row = 0; row < BLOCK_SIZE; ++row) {
      FM_PIPELINE
      for (uint chunk = 0; chunk < CHUNKS; ++chunk) {
        FM_HLS(pipeline II = 1)
        DATA_TYPE elements[CHANNEL_WIDTH] FM_REGISTERS;
        FM_HLS(array_partition variable = elements complete dim = 0)
        FM_UNROLL_FULLY
        for (uint k = 0; k < CHANNEL_WIDTH; ++k) {
          FM_HLS(unroll)
          elements[k] = a[from + row * BLOCK_SIZE + chunk * CHANNEL_WIDTH + k];
        }
        FM_UNROLL_FULLY
        for (uint lane = 0; lane < CHANNEL_WIDTH; ++lane) {
          FM_HLS(unroll)
          block[row][chunk][lane] = elements[ELEMENT(lane, row)];
        }
      }
    }
    FM_NO_FUSION
    FM_COALESCE(2)
    for (uint row = 0; row < BLOCK_SIZE; ++row) {
      FM_PIPELINE
      for (uint chunk = 0; chunk < CHUNKS; ++chunk) {
        FM_HLS(pipeline II = 1)
        // Column `row` of the block of a, rows chunk * CHANNEL_WIDTH and on.
        DATA_TYPE lanes[CHANNEL_WIDTH] FM_REGISTERS;
        FM_HLS(array_partition variable = lanes complete dim = 0)
#if defined(FM_CPU)
        FM_UNROLL_FULLY
        for (uint k = 0; k < CHANNEL_WIDTH; ++k)
          lanes[k] = block[chunk * CHANNEL_WIDTH + k][row / CHANNEL_WIDTH][row % CHANNEL_WIDTH];
#else
        FM_UNROLL_FULLY
        for (uint lane = 0; lane < CHANNEL_WIDTH; ++lane) {
          FM_HLS(unroll)
          lanes[lane] = block[chunk * CHANNEL_WIDTH + ELEMENT(lane, row)][row / CHANNEL_WIDTH][lane];
        }
#endif
        FM_UNROLL_FULLY
        for (uint k = 0; k < CHANNEL_WIDTH; ++k) {
          FM_HLS(unroll)
          const uint column = chunk * CHANNEL_WIDTH + k;
          sum[row][column] = lanes[LANE(k, row)] + b[to + row * BLOCK_SIZE + column];
        }
      }
    }
    FM_NO_FUSION
    FM_COALESCE(2)
    for (uint row = 0; row < BLOCK_SIZE; ++row) {
      FM_PIPELINE
      for (uint column = 0; column < BLOCK_SIZE; column += CHANNEL_WIDTH) {
        FM_HLS(pipeline II = 1)
        FM_UNROLL_FULLY
        for (uint k = 0; k < CHANNEL_WIDTH; ++k) {
          FM_HLS(unroll)
          c[to + row * BLOCK_SIZE + column + k] = sum[row][column + k];
        }
      }
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
