// Blocks of PTRANS in global and in local memory, for the single work-item kernels.
#ifndef FABRICMARK_PTRANS_BLOCKS_H
#define FABRICMARK_PTRANS_BLOCKS_H

#include "common/dialect.h"

#define ELEMENT_BYTES FM_BYTES(DATA_TYPE)

#define CHUNKS (BLOCK_SIZE / CHANNEL_WIDTH)  // of a row, each moved in one cycle
#define BLOCK_ELEMENTS ((size_t)BLOCK_SIZE * BLOCK_SIZE)

// Local memory has CHANNEL_WIDTH lanes, each a memory of its own. Element k of a chunk lies in lane (k + row)
// mod CHANNEL_WIDTH, so that the elements of a chunk, which are read or written in the same cycle, are in
// different lanes along a row and along a column. They are turned in registers: a lane whose number is known
// at run time only could be any of the memories. A CPU, whose memory has no lanes, need not turn them.
// LANES_OF: the last dimension are the lanes; LANES_IN: the last dimension goes through them interleaved.
#define LANES_OF(dimension) FM_BANKS(CHANNEL_WIDTH, ELEMENT_BYTES) FM_PARTITION(dimension)
#if CHANNEL_WIDTH > 1
#define LANES_IN(dimension) \
  FM_BANKS(CHANNEL_WIDTH, ELEMENT_BYTES) FM_PARTITION_CYCLIC(CHANNEL_WIDTH, dimension)
#else
#define LANES_IN(dimension)
#endif
#if defined(FM_CPU)
#define LANE(k, row) (k)
#define ELEMENT(lane, row) (lane)
#else
#define LANE(k, row) (((k) + (row)) % CHANNEL_WIDTH)
#define ELEMENT(lane, row) (((lane) + CHANNEL_WIDTH - (row) % CHANNEL_WIDTH) % CHANNEL_WIDTH)
#endif

#endif
