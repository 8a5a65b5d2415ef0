// On a CPU: tiles of one vector by as many rows are transposed in registers, so that every line of memory is
// read or written once and whole. What is written is not read again soon and passes the cache.
#define WIDTH_WANTED (VECTOR_BYTES / FM_BYTES(DATA_TYPE))

// Tiles have to fit the block.
#if WIDTH_WANTED >= 16 && BLOCK_SIZE % 16 == 0
#define WIDTH 16
#elif WIDTH_WANTED >= 8 && BLOCK_SIZE % 8 == 0
#define WIDTH 8
#elif WIDTH_WANTED >= 4 && BLOCK_SIZE % 4 == 0
#define WIDTH 4
#elif BLOCK_SIZE % 2 == 0
#define WIDTH 2
#else
#define WIDTH 1
#endif
#define TILES (BLOCK_SIZE / WIDTH)  // along the edge of a block

typedef FM_VECTOR(DATA_TYPE, WIDTH) row_vector;

#if WIDTH > 1
// Row i interleaved with row i + WIDTH / 2. Once for each power of two in WIDTH, this transposes a tile.
static inline void interleave(row_vector rows[WIDTH]) {
  row_vector mixed[WIDTH];
  FM_UNROLL_FULLY
  for (uint i = 0; i < WIDTH / 2; ++i) {
    mixed[2 * i].even = rows[i].lo;
    mixed[2 * i].odd = rows[i + WIDTH / 2].lo;
    mixed[2 * i + 1].even = rows[i].hi;
    mixed[2 * i + 1].odd = rows[i + WIDTH / 2].hi;
  }
  FM_UNROLL_FULLY
  for (uint i = 0; i < WIDTH; ++i) rows[i] = mixed[i];
}
#endif

static inline void transpose_tile(row_vector rows[WIDTH]) {
#if WIDTH > 1
  interleave(rows);
#endif
#if WIDTH > 2
  interleave(rows);
#endif
#if WIDTH > 4
  interleave(rows);
#endif
#if WIDTH > 8
  interleave(rows);
#endif
}

// A square of tiles: so small that lines of `a` next to each other, which the processor fetches together, are
// used soon after each other. A block's rows are too far apart for that.
#define SIDE 8  // tiles

static inline void add_square(__global const row_vector* restrict a, __global const row_vector* restrict b,
                              __global row_vector* restrict c, const uint first_x, const uint first_y) {
  for (uint y = first_y; y < min(first_y + SIDE, (uint)TILES); ++y) {
    for (uint x = first_x; x < min(first_x + SIDE, (uint)TILES); ++x) {
      row_vector rows[WIDTH];
      FM_UNROLL_FULLY
      for (uint i = 0; i < WIDTH; ++i) rows[i] = a[(x * WIDTH + i) * TILES + y];
      transpose_tile(rows);
      const uint tile = y * WIDTH * TILES + x;
      FM_UNROLL_FULLY
      for (uint i = 0; i < WIDTH; ++i) FM_STORE_ONCE(c[tile + i * TILES], rows[i] + b[tile + i * TILES]);
    }
  }
}

// Each work-item does an equal share of the tasks.
FM_INLINE void add_share(__global const row_vector* a, __global const row_vector* theirs,
                         __global const row_vector* b, __global row_vector* c, __global const uint* tasks,
                         const uint first, const uint count) {
  const uint items = (uint)get_global_size(0);
  const uint item = (uint)get_global_id(0);
  const uint end = first + (uint)((ulong)count * (item + 1) / items);
  for (uint task = first + (uint)((ulong)count * item / items); task < end; ++task) {
    const uint source = tasks[2 * task];
    __global const row_vector* from =
        (source & THEIRS ? theirs : a) + (source & ~THEIRS) * (BLOCK_ELEMENTS / WIDTH);
    const size_t place = tasks[2 * task + 1] * (BLOCK_ELEMENTS / WIDTH);
    for (uint y = 0; y < TILES; y += SIDE) {
      for (uint x = 0; x < TILES; x += SIDE) add_square(from, b + place, c + place, x, y);
    }
  }
}

__kernel FM_GROUP_OF(1) void transpose(__global const row_vector* restrict a,
                                       __global const row_vector* restrict b, __global row_vector* restrict c,
                                       __global const uint* restrict tasks, const uint first,
                                       const uint count) {
  add_share(a, a, b, c, tasks, first, count);
}

__kernel FM_GROUP_OF(1) void pull(__global const row_vector* restrict a,
                                  __global const row_vector* restrict theirs,
                                  __global const row_vector* restrict b, __global row_vector* restrict c,
                                  __global const uint* restrict tasks, const uint first, const uint count) {
  add_share(a, theirs, b, c, tasks, first, count);
}
