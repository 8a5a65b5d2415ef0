// On a GPU: a work-group turns a tile of TILE_SIZE x TILE_SIZE elements in local memory, TILE_ROWS rows at a
// time, so that neighbouring work-items touch neighbouring elements of a, b and c.
#define TILES ((BLOCK_SIZE + TILE_SIZE - 1) / TILE_SIZE)  // along the edge of a block

__attribute__((reqd_work_group_size(TILE_SIZE * TILE_ROWS, 1, 1))) __kernel void transpose(
    __global const DATA_TYPE* restrict a, __global const DATA_TYPE* restrict b,
    __global DATA_TYPE* restrict c, __global const uint* restrict tasks, const uint first, const uint count) {
  __local DATA_TYPE tile[TILE_SIZE][TILE_SIZE + 1];  // one more, so that a column is in different banks
  const uint x = (uint)get_local_id(0) % TILE_SIZE;
  const uint y = (uint)get_local_id(0) / TILE_SIZE;
  const uint group = (uint)get_group_id(0);
  const uint task = first + group / (TILES * TILES);
  const uint tile_row = group % (TILES * TILES) / TILES * TILE_SIZE;  // in c
  const uint tile_column = group % TILES * TILE_SIZE;
  const size_t from = tasks[2 * task] * BLOCK_ELEMENTS;
  const size_t to = tasks[2 * task + 1] * BLOCK_ELEMENTS;
  for (uint i = y; i < TILE_SIZE; i += TILE_ROWS) {
    const uint row = tile_column + i, column = tile_row + x;
    if (row < BLOCK_SIZE && column < BLOCK_SIZE) tile[i][x] = a[from + row * BLOCK_SIZE + column];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = y; i < TILE_SIZE; i += TILE_ROWS) {
    const uint row = tile_row + i, column = tile_column + x;
    if (row < BLOCK_SIZE && column < BLOCK_SIZE) {
      const size_t place = to + row * BLOCK_SIZE + column;
      c[place] = tile[x][i] + b[place];
    }
  }
}
