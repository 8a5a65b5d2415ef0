// PTRANS, kernels for Intel's external channels (Meyer 2024, section 4.1.2.2): two for each channel, all of
// which run at the same time, on this board and on the one that each block's opposite is on.
//
//   send     reads a block of a into one half of a double buffer, while it writes the block before it from
//            the other half into the channel, transposed: one pipeline, CHANNEL_WIDTH elements a cycle;
//   receive  adds what arrives to a block of b, and stores the sum in c. It needs no local memory.
//
// Replica i has channel i, whose cable leads to the same one of the other board. Where that is the board
// itself, cables join its channels 0 and 1, and 2 and 3. The first `staying` blocks of a replica do not leave
// the board. Blocks are contiguous in memory, row by row. Which of them, and in what order, say `sources` and
// `targets`, which fit each other at both ends.
#include "common/dialect.h"
#include "ptrans/blocks.h"

#if FM_REPLICA == 0
typedef struct {
  DATA_TYPE elements[CHANNEL_WIDTH];
} word;
#endif

#define CHANNEL_WORD word
#define PEER_0 out_1
#define PEER_1 out_0
#define PEER_2 out_3
#define PEER_3 out_2
#include "common/channels.h"

#define OUT FM_PASTE(out_, FM_REPLICA)
#define IN FM_PASTE(in_, FM_REPLICA)
#define STAYING FM_PASTE(staying_, FM_REPLICA)

FM_CHANNEL(word, STAYING, 512);

// Blocks sources[first] and so on of a.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(send)(FM_GLOBAL(send, a) const DATA_TYPE* restrict a,
                                  FM_GLOBAL(send, sources) const uint* restrict sources, const uint first,
                                  const uint staying, const uint count) {
  DATA_TYPE blocks[2][BLOCK_SIZE][CHUNKS][CHANNEL_WIDTH] LANES_OF(4) __attribute__((aligned(64)));
  FM_SERIAL
  for (uint number = 0; number <= count; ++number) {
    const bool is_loaded = number < count;
    const size_t from = is_loaded ? sources[first + number] * BLOCK_ELEMENTS : 0;
    FM_IGNORE_DEPENDENCE(blocks)  // the halves are different ones
    for (uint row = 0; row < BLOCK_SIZE; ++row) {
      FM_IGNORE_DEPENDENCE(blocks)
      FM_PIPELINE
      for (uint chunk = 0; chunk < CHUNKS; ++chunk) {
        const uint start = chunk * CHANNEL_WIDTH;
        if (is_loaded) {
          DATA_TYPE elements[CHANNEL_WIDTH] FM_REGISTERS;
          FM_UNROLL_FULLY
          for (uint k = 0; k < CHANNEL_WIDTH; ++k) elements[k] = a[from + row * BLOCK_SIZE + start + k];
          FM_UNROLL_FULLY
          for (uint lane = 0; lane < CHANNEL_WIDTH; ++lane)
            blocks[number % 2][row][chunk][lane] = elements[ELEMENT(lane, row)];
        }
        if (number > 0) {
          // Column `row` of the block before, rows `start` and on.
          DATA_TYPE lanes[CHANNEL_WIDTH] FM_REGISTERS;
          FM_UNROLL_FULLY
          for (uint lane = 0; lane < CHANNEL_WIDTH; ++lane)
            lanes[lane] = blocks[(number + 1) % 2][start + ELEMENT(lane, row)][row / CHANNEL_WIDTH][lane];
          word column;
          FM_UNROLL_FULLY
          for (uint k = 0; k < CHANNEL_WIDTH; ++k) column.elements[k] = lanes[LANE(k, row)];
          if (number <= staying)
            write_channel_intel(STAYING, column);
          else
            write_channel_intel(OUT, column);
        }
      }
    }
  }
}

// Blocks targets[first] and so on of b and c.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(receive)(FM_GLOBAL(receive, b) const DATA_TYPE* restrict b,
                                     FM_GLOBAL(receive, c) DATA_TYPE* restrict c,
                                     FM_GLOBAL(receive, targets) const uint* restrict targets,
                                     const uint first, const uint staying, const uint count) {
  for (uint number = 0; number < count; ++number) {
    const size_t to = targets[first + number] * BLOCK_ELEMENTS;
    FM_PIPELINE
    for (uint start = 0; start < BLOCK_SIZE * BLOCK_SIZE; start += CHANNEL_WIDTH) {
      word arrived;
      if (number < staying)
        arrived = read_channel_intel(STAYING);
      else
        arrived = read_channel_intel(IN);
      FM_UNROLL_FULLY
      for (uint k = 0; k < CHANNEL_WIDTH; ++k) c[to + start + k] = b[to + start + k] + arrived.elements[k];
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
