// HPL, kernels for Intel's external channels (Meyer 2024, section 4.1.3.2 and Figure 4.6): a blocked LU
// factorisation without pivoting over a torus of boards.
//
// The steps of iteration k and the layout of the matrix are those of base.cl. In the communication phase each
// board runs those of these kernels that it has a part in, all at the same time:
//   lu            on the board with block (k, k), whose factors it hands to network_lu,
//   network_lu    L_kk along the row of boards to the right, U_kk down their column; what arrives or comes
//                 from lu goes to this board's top and left,
//   left, top     update their blocks with it and hand these on,
//   network_left  the left blocks along each row of boards, to the left, and into the left panel of each,
//   network_top   the top blocks up each column, into the top panel.
// As each of the three has one kind of data and directions of its own, no board waits for itself. In the
// update phase the copies of `inner` work from the panels; left blocks are not transposed on the way to them,
// as they are in the source.
//
// Channels: 0 to the right and 1 to the left neighbour, 2 to the lower and 3 to the upper one; the cable of a
// board's channel 0 leads to channel 1 of its neighbour, that of 2 to 3. A word is a row of a register block.
#include "common/dialect.h"
#include "hpl/types.h"

#define BLOCKS (BLOCK_SIZE / REGISTER_BLOCK)
#define REGISTER_SIZE REGISTER_BLOCK
#include "common/register_block.h"
#include "hpl/whole_blocks.h"

#if FM_REPLICA == 0  // of these there is one each
typedef struct {
  TILE_VALUE elements[REGISTER_SIZE];
} word;
#endif

#define CHANNEL_WORD word
#define PEER_0 out_1
#define PEER_1 out_0
#define PEER_2 out_3
#define PEER_3 out_2
#include "common/channels.h"

#if FM_REPLICA == 0
#define TO_RIGHT out_0
#define FROM_RIGHT in_0
#define TO_LEFT out_1
#define FROM_LEFT in_1
#define TO_BOTTOM out_2
#define FROM_BOTTOM in_2
#define TO_TOP out_3
#define FROM_TOP in_3

// Where a network kernel's data come from.
#define SOURCE_KERNEL 1
#define SOURCE_BOARD 2

FM_CHANNEL(word, lower_of_lu, 512);
FM_CHANNEL(word, upper_of_lu, 512);
FM_CHANNEL(word, lower_to_top, 512);
FM_CHANNEL(word, upper_to_left, 512);
FM_CHANNEL(word, blocks_of_left, 512);
FM_CHANNEL(word, blocks_of_top, 512);

#define BLOCK_WORDS (BLOCK_SIZE * BLOCKS)  // of a block, row by row

FM_SINGLE_WORK_ITEM
__kernel void lu(FM_GLOBAL(lu, a) TILE_VALUE* restrict a, const uint row, const uint column,
                 const uint columns, const uint is_sent) {
  REGISTER_BLOCKS(block);
  DIAGONAL(diagonal);
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  load_block(block, start, columns);
  factorize_block(block, diagonal);
  store_block(block, start, columns);
  for (uint number = 0; number < BLOCK_WORDS * is_sent; ++number) {
    const uint r = number / BLOCKS;
    const uint j = number % BLOCKS;
    word lower;
    word upper;
    FM_UNROLL_FULLY
    for (uint x = 0; x < REGISTER_SIZE; ++x) {
      lower.elements[x] = lower_factor(block, diagonal, r, j, x);
      upper.elements[x] = upper_factor(block, diagonal, r, j, x);
    }
    write_channel_intel(lower_of_lu, lower);
    write_channel_intel(upper_of_lu, upper);
  }
}

// A source of 0 is of a board that has no part in it; `uses`: this board's top or left takes it, `sends`: the
// next board does.
FM_SINGLE_WORK_ITEM
__kernel void network_lu(const uint lower_source, const uint uses_lower, const uint sends_lower,
                         const uint upper_source, const uint uses_upper, const uint sends_upper) {
  FM_PIPELINE
  for (uint number = 0; number < BLOCK_WORDS; ++number) {
    word lower;
    word upper;
    if (lower_source == SOURCE_KERNEL) lower = read_channel_intel(lower_of_lu);
    if (lower_source == SOURCE_BOARD) lower = read_channel_intel(FROM_LEFT);
    if (upper_source == SOURCE_KERNEL) upper = read_channel_intel(upper_of_lu);
    if (upper_source == SOURCE_BOARD) upper = read_channel_intel(FROM_TOP);
    if (sends_lower) write_channel_intel(TO_RIGHT, lower);
    if (sends_upper) write_channel_intel(TO_BOTTOM, upper);
    if (uses_lower) write_channel_intel(lower_to_top, lower);
    if (uses_upper) write_channel_intel(upper_to_left, upper);
  }
}

// Row `number / BLOCKS` of a block, in its register block.
#define ROW_OF(block, number) \
  block[(number) / BLOCKS / REGISTER_SIZE][(number) % BLOCKS][(number) / BLOCKS % REGISTER_SIZE]

static inline void store_word(TILE_VALUE row[REGISTER_SIZE], const word data) {
  FM_UNROLL_FULLY
  for (uint x = 0; x < REGISTER_SIZE; ++x) row[x] = data.elements[x];
}

static inline word load_word(TILE_VALUE row[REGISTER_SIZE]) {
  word data;
  FM_UNROLL_FULLY
  for (uint x = 0; x < REGISTER_SIZE; ++x) data.elements[x] = row[x];
  return data;
}

// `blocks` blocks below each other.
FM_SINGLE_WORK_ITEM
__kernel void left(FM_GLOBAL(left, a) TILE_VALUE* restrict a, const uint row, const uint column,
                   const uint columns, const uint blocks) {
  REGISTER_BLOCKS(factor);
  for (uint i = 0; i < BLOCK_WORDS; ++i) store_word(ROW_OF(factor, i), read_channel_intel(upper_to_left));
  FM_SERIAL
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (row + (size_t)step * BLOCK_SIZE) * columns + column;
    load_block(block, start, columns);
    solve_left(block, factor);
    store_block(block, start, columns);
    for (uint i = 0; i < BLOCK_WORDS; ++i) write_channel_intel(blocks_of_left, load_word(ROW_OF(block, i)));
  }
}

// `blocks` blocks beside each other.
FM_SINGLE_WORK_ITEM
__kernel void top(FM_GLOBAL(top, a) TILE_VALUE* restrict a, const uint row, const uint column,
                  const uint columns, const uint blocks) {
  REGISTER_BLOCKS(factor);
  for (uint i = 0; i < BLOCK_WORDS; ++i) store_word(ROW_OF(factor, i), read_channel_intel(lower_to_top));
  FM_SERIAL
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (size_t)row * columns + column + (size_t)step * BLOCK_SIZE;
    load_block(block, start, columns);
    solve_top(block, factor);
    store_block(block, start, columns);
    for (uint i = 0; i < BLOCK_WORDS; ++i) write_channel_intel(blocks_of_top, load_word(ROW_OF(block, i)));
  }
}

// The panels hold their blocks one behind the other.
FM_SINGLE_WORK_ITEM
__kernel void network_left(FM_GLOBAL(network_left, panel) TILE_VALUE* restrict panel, const uint blocks,
                           const uint source, const uint sends) {
  FM_PIPELINE
  for (size_t i = 0; i < (size_t)blocks * BLOCK_WORDS; ++i) {
    word data;
    if (source == SOURCE_KERNEL)
      data = read_channel_intel(blocks_of_left);
    else
      data = read_channel_intel(FROM_RIGHT);
    if (sends) write_channel_intel(TO_LEFT, data);
    FM_UNROLL_FULLY
    for (uint x = 0; x < REGISTER_SIZE; ++x) panel[i * REGISTER_SIZE + x] = data.elements[x];
  }
}

FM_SINGLE_WORK_ITEM
__kernel void network_top(FM_GLOBAL(network_top, panel) TILE_VALUE* restrict panel, const uint blocks,
                          const uint source, const uint sends) {
  FM_PIPELINE
  for (size_t i = 0; i < (size_t)blocks * BLOCK_WORDS; ++i) {
    word data;
    if (source == SOURCE_KERNEL)
      data = read_channel_intel(blocks_of_top);
    else
      data = read_channel_intel(FROM_BOTTOM);
    if (sends) write_channel_intel(TO_TOP, data);
    FM_UNROLL_FULLY
    for (uint x = 0; x < REGISTER_SIZE; ++x) panel[i * REGISTER_SIZE + x] = data.elements[x];
  }
}
#endif

// `count` blocks from number `first` on, counted row by row in a rectangle with `width` blocks in a row,
// whose first one is at `row` and `column`; its blocks of the panels begin at left_start and top_start.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(inner)(FM_GLOBAL(inner, a) TILE_VALUE* restrict a,
                                   FM_GLOBAL(inner, left_panel) const TILE_VALUE* restrict left_panel,
                                   FM_GLOBAL(inner, top_panel) const TILE_VALUE* restrict top_panel,
                                   const uint left_start, const uint top_start, const uint row,
                                   const uint column, const uint columns, const uint width, const uint first,
                                   const uint count) {
  FM_SERIAL
  for (uint number = first; number < first + count; ++number) {
    const size_t i = number / width;
    const size_t j = number % width;
    update_block(a + (row + i * BLOCK_SIZE) * columns + column + j * BLOCK_SIZE, columns,
                 left_panel + (left_start + i) * BLOCK_SIZE * BLOCK_SIZE,
                 top_panel + (top_start + j) * BLOCK_SIZE * BLOCK_SIZE);
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
