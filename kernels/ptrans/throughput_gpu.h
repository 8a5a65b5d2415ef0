// On a GPU: a work-group turns a tile of TILE_SIZE x TILE_SIZE elements in local memory, TILE_ROWS rows at a
// time, so that neighbouring work-items touch neighbouring elements of a, b and c.
#define TILES ((BLOCK_SIZE + TILE_SIZE - 1) / TILE_SIZE)  // along the edge of a block

typedef DATA_TYPE tile_row[TILE_SIZE + 1];  // one more, so that a column is in different banks

// Tile `number` of a block; `tile` has TILE_SIZE rows.
FM_INLINE void add_tile(__global const DATA_TYPE* from, __global const DATA_TYPE* b, __global DATA_TYPE* c,
                        __local tile_row* tile, const uint number) {
  const uint x = (uint)get_local_id(0) % TILE_SIZE;
  const uint y = (uint)get_local_id(0) / TILE_SIZE;
  const uint first_row = number / TILES * TILE_SIZE;  // in c
  const uint first_column = number % TILES * TILE_SIZE;
  for (uint i = y; i < TILE_SIZE; i += TILE_ROWS) {
    const uint row = first_column + i, column = first_row + x;
    if (row < BLOCK_SIZE && column < BLOCK_SIZE) tile[i][x] = from[row * BLOCK_SIZE + column];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = y; i < TILE_SIZE; i += TILE_ROWS) {
    const uint row = first_row + i, column = first_column + x;
    if (row < BLOCK_SIZE && column < BLOCK_SIZE) {
      const uint place = row * BLOCK_SIZE + column;
      c[place] = tile[x][i] + b[place];
    }
  }
}

__kernel FM_GROUP_OF(TILE_SIZE* TILE_ROWS) void transpose(__global const DATA_TYPE* restrict a,
                                                          __global const DATA_TYPE* restrict b,
                                                          __global DATA_TYPE* restrict c,
                                                          __global const uint* restrict tasks,
                                                          const uint first, const uint count) {
  FM_LOCAL tile_row tile[TILE_SIZE];
  const uint group = (uint)get_group_id(0);
  const uint task = first + group / (TILES * TILES);
  const size_t to = tasks[2 * task + 1] * BLOCK_ELEMENTS;
  add_tile(a + tasks[2 * task] * BLOCK_ELEMENTS, b + to, c + to, tile, group % (TILES * TILES));
}

// Work-groups take tiles of two tasks in turn: the block of one may come from another GPU's memory, which has
// time for the other meanwhile.
__kernel FM_GROUP_OF(TILE_SIZE* TILE_ROWS) void pull(__global const DATA_TYPE* restrict a,
                                                     __global const DATA_TYPE* restrict theirs,
                                                     __global const DATA_TYPE* restrict b,
                                                     __global DATA_TYPE* restrict c,
                                                     __global const uint* restrict tasks, const uint first,
                                                     const uint count) {
  FM_LOCAL tile_row tile[TILE_SIZE];
  const uint group = (uint)get_group_id(0);
  const uint of_pair = group % (2 * TILES * TILES);
  const uint before = group / (2 * TILES * TILES) * 2;  // tasks
  const bool is_alone = before + 1 == count;
  const uint task = first + before + (is_alone ? 0 : of_pair % 2);
  const uint source = tasks[2 * task];
  const size_t to = tasks[2 * task + 1] * BLOCK_ELEMENTS;
  add_tile((source & THEIRS ? theirs : a) + (source & ~THEIRS) * BLOCK_ELEMENTS, b + to, c + to, tile,
           is_alone ? of_pair : of_pair / 2);
}
