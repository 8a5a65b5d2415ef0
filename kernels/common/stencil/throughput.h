// The steps of a stencil on CPUs and GPUs. Rows of a grid lie one after the other, in each the numbers of its
// fields, `pitch` apart; around the grid lie ghost cells, FM_SIDE columns and as many rows as a launch makes
// steps, and one more: of walls, of the opposite side, or of the rank beyond.
//
// On a CPU a work-item takes a band of rows, and in it one tile of columns after the other. Its steps follow
// each other a row apart, as the elements of a cascade on an FPGA do: what a step makes of a row, the next
// one takes while it is in the cache. Around a tile each step computes what the later ones need of it.
#include "common/marks.h"
#include "common/stencil/window.h"

#define FM_SIDE 64
// More, so that numbers of one column do not share the few lines of a cache that their addresses choose
// among.
#define FM_UNEVEN 32

// The place of a row's first cell among all cells.
static inline size_t fm_row_of(int row, uint ghost_rows, uint pitch) {
  return (size_t)(row + (int)ghost_rows) * pitch + FM_SIDE;
}

static inline fm_constants fm_constants_at(__global const scalar* constants) {
  fm_constants all;
  FM_UNROLL_FULLY
  for (int i = 0; i < FM_CONSTANTS; ++i) all.of[i] = constants[i];
  return all;
}

static inline fm_window fm_moved(fm_window window, int columns) {
  window.below += columns;
  window.here += columns;
  window.above += columns;
  window.kinds_below += columns;
  window.kinds_here += columns;
  window.kinds_above += columns;
  return window;
}

#if defined(FM_CPU)

// A mark of special cells in any of eight kinds.
#define FM_SPECIAL_OF_EIGHT 0x8080808080808080UL

static inline int fm_has_special(__global const fm_kind* kinds) {
#if WIDTH > 1
  return any(FM_PASTE(as_char, WIDTH)(FM_PASTE(vload, WIDTH)(0, kinds)));
#else
  return *kinds >= FM_SPECIAL;
#endif
}

// From `x` on, the first vector of a row that has something special, or `end`. All cells are looked at in
// each step, so that it is 64 at a time, where these lie in one line.
static inline int fm_ordinary_end(__global const fm_kind* kinds, int x, int end) {
  for (; x < end; x += WIDTH) {
    for (; x % 64 == 0 && x + 64 <= end; x += 64) {
      __global const ulong* const at = (__global const ulong*)(kinds + x);
      const ulong4 some = vload4(0, at) | vload4(1, at);
      if (((some.x | some.y) | (some.z | some.w)) & FM_SPECIAL_OF_EIGHT) break;
    }
    if (x >= end || fm_has_special(kinds + x)) break;
  }
  return x;
}

// A step of a row of cells: what it reads, where it writes, and what a later step reads from memory, which is
// on the way to the cache meanwhile. Places are those of the window's first cell.
typedef struct {
  fm_window window;
  __global scalar* out;
  size_t out_field;
  __global const scalar* soon;
  __global const scalar* soon_too;
} fm_row_step;

#if !defined(FM_SIMPLE)
#define FM_SIMPLE(constants) 1
#endif

// The loops that most cells go through are compiled for what is known of them. The rest is a call: what it
// keeps in registers would not leave enough to these.
#define FM_CALL static __attribute__((noinline))

FM_INLINE fm_numbers fm_ordinary(const fm_row_step row, int x, const fm_constants constants,
                                 const int is_simple, const int phase) {
  fm_window window = fm_moved(row.window, x);
  window.phase = phase;
  window.is_special = 0;
  window.is_simple = is_simple;
  return fm_next(window, constants);
}

FM_INLINE truth fm_ordinary_cells(const fm_row_step row, int x, int end, const fm_constants constants,
                                  const int is_simple, const int phase) {
  truth trouble = 0;
  for (; x < end; x += WIDTH) {
    FM_PREFETCH_READ(row.soon[x]);
    FM_PREFETCH_READ(row.soon_too[x]);
    const fm_numbers next = fm_ordinary(row, x, constants, is_simple, phase);
    trouble |= next.trouble;
    FM_UNROLL_FULLY
    for (int i = 0; i < FM_FIELDS; ++i) *(__global real*)(row.out + x + i * row.out_field) = next.of[i];
  }
  return trouble;
}

// The same of a launch's last step: what is written is not read again soon. A loop of its own: where a
// compiler joins both kinds of stores it forgets the second one.
FM_INLINE truth fm_last_cells(const fm_row_step row, int x, int end, const fm_constants constants,
                              const int is_simple, const int phase) {
  truth trouble = 0;
  for (; x < end; x += WIDTH) {
    const fm_numbers next = fm_ordinary(row, x, constants, is_simple, phase);
    trouble |= next.trouble;
    FM_UNROLL_FULLY
    for (int i = 0; i < FM_FIELDS; ++i) {
      FM_STORE_ONCE(*(__global real*)(row.out + x + i * row.out_field), next.of[i]);
    }
  }
  return trouble;
}

// Special vectors from `x` on. Returns the place behind them.
FM_CALL int fm_special_cells(const fm_row_step* row, int x, int end, const fm_constants* constants,
                             truth* trouble) {
  for (; x < end && fm_has_special(row->window.kinds_here + x); x += WIDTH) {
    fm_window window = fm_moved(row->window, x);
    window.is_special = 1;
    window.is_simple = FM_SIMPLE(*constants);
    const fm_numbers next = fm_next(window, *constants);
    *trouble |= next.trouble;
    FM_UNROLL_FULLY
    for (int i = 0; i < FM_FIELDS; ++i) {
      *(__global real*)(row->out + x + i * row->out_field) = next.of[i];
    }
  }
  return x;
}

// One kind of these loops.
FM_INLINE truth fm_most_cells(const fm_row_step row, int x, int end, const fm_constants constants,
                              const int is_last, const int phase) {
  const int is_simple = FM_SIMPLE(constants);
  if (is_last) {
    return is_simple ? fm_last_cells(row, x, end, constants, 1, phase)
                     : fm_last_cells(row, x, end, constants, 0, phase);
  }
  return is_simple ? fm_ordinary_cells(row, x, end, constants, 1, phase)
                   : fm_ordinary_cells(row, x, end, constants, 0, phase);
}

// A row, `around` cells before its first one and behind its end included. Returns what is in trouble of the
// row itself: beside it the outermost cells are made of what is not there.
FM_INLINE truth fm_cells(const fm_row_step row, int around, int end, const fm_constants constants,
                         const int is_last) {
  truth found = 0;
  for (int x = -around; x < end + around;) {
    const int is_inside = x >= 0 && x < end;
    const int limit = x < 0 ? 0 : x < end ? end : end + around;
    const int special = fm_ordinary_end(row.window.kinds_here, x, limit);
    truth trouble = FM_PHASES == 1 || row.window.phase == 0
                        ? fm_most_cells(row, x, special, constants, is_last, 0)
                        : fm_most_cells(row, x, special, constants, is_last, 1);
    x = special;
    if (x < limit) {
      // Copies: what others have the address of would be read from memory again for each vector.
      const fm_row_step row_too = row;
      const fm_constants constants_too = constants;
      truth special_trouble = 0;
      x = fm_special_cells(&row_too, x, limit, &constants_too, &special_trouble);
      trouble |= special_trouble;
    }
    if (is_inside) found |= trouble;
  }
  return found;
}

// `scratch`: of each band, three rows of a tile for each step of a launch but its last. `trouble`: the first
// state, counted from the start, with something that must not be; later launches do nothing. `band_rows`,
// `tile_columns`: of a band and a tile, the second a multiple of WIDTH.
__kernel void advance(__global const scalar* restrict state, __global scalar* restrict updated,
                      __global const uchar* restrict kinds, __global const scalar* restrict constants,
                      __global int* restrict trouble, __global scalar* scratch, const uint columns,
                      const uint rows, const uint pitch, const uint ghost_rows, const uint band_rows,
                      const uint tile_columns, const uint steps, const uint begin_state) {
  if (trouble[0] <= (int)begin_state) return;
  const fm_constants all = fm_constants_at(constants);
  const int count = (int)steps;
  const int begin = (int)(get_global_id(0) * band_rows);
  const int end = min(begin + (int)band_rows, (int)rows);
  if (begin >= end) return;
  const int last_column = (int)((columns + WIDTH - 1) / WIDTH * WIDTH);
  const size_t width = tile_columns + 2 * FM_SIDE + FM_UNEVEN;  // of a row of scratch memory
  __global scalar* const own = scratch + get_global_id(0) * (count - 1) * 3 * FM_FIELDS * width + FM_SIDE;
  for (int left = 0; left < last_column; left += (int)tile_columns) {
    const int tile = min((int)tile_columns, last_column - left);
    for (int front = begin - (count - 1); front < end + count - 1; ++front) {
      for (int stage = 1; stage <= count; ++stage) {
        const int row = front - (stage - 1);
        const int beyond = count - stage;  // rows around the band that later steps need
        if (row < begin - beyond || row >= end + beyond) continue;
        fm_window window;
        window.is_special = 0;
        window.phase = (int)((begin_state + (uint)(stage - 1)) % FM_PHASES);
        const size_t here = fm_row_of(row, ghost_rows, pitch) + left;
        window.kinds_here = kinds + here;
        window.kinds_below = window.kinds_here - pitch;
        window.kinds_above = window.kinds_here + pitch;
        if (stage == 1) {
          window.field = pitch;
          window.here = state + (here - FM_SIDE - left) * FM_FIELDS + FM_SIDE + left;
          window.below = window.here - pitch * FM_FIELDS;
          window.above = window.here + pitch * FM_FIELDS;
        } else {
          __global scalar* const before = own + (size_t)(stage - 2) * 3 * FM_FIELDS * width;
          const int third = row + (int)ghost_rows;
          window.field = width;
          window.below = before + (third + 2) % 3 * FM_FIELDS * width;
          window.here = before + third % 3 * FM_FIELDS * width;
          window.above = before + (third + 1) % 3 * FM_FIELDS * width;
        }
        truth found;
        fm_row_step work;
        work.window = window;
        if (stage == count) {
          work.out = updated + (here - FM_SIDE - left) * FM_FIELDS + FM_SIDE + left;
          work.out_field = pitch;
          found = fm_cells(work, 0, tile, all, 1);
        } else {
          work.out = own + ((size_t)(stage - 1) * 3 + (row + (int)ghost_rows) % 3) * FM_FIELDS * width;
          work.out_field = width;
          // Each step but the last fetches two fields of the row that the first one takes next.
          const size_t next_row = fm_row_of(front + 2, ghost_rows, pitch) - FM_SIDE;
          const int field = 2 * (stage - 1);
          __global const scalar* const next = state + next_row * FM_FIELDS + FM_SIDE + left;
          work.soon = field < FM_FIELDS ? next + field * pitch : window.here;
          work.soon_too = field + 1 < FM_FIELDS ? next + (field + 1) * pitch : window.here;
          if (stage == 1) {
            for (int i = 0; i < tile; i += 64) FM_PREFETCH_READ(kinds[next_row + FM_SIDE + left + i]);
          }
          found = fm_cells(work, (beyond + WIDTH - 1) / WIDTH * WIDTH, tile, all, 0);
        }
        if (row >= begin && row < end && FM_ANY(found)) atomic_min(trouble, (int)begin_state + stage);
      }
    }
  }
}

#else

// A cell is a work-item, and a launch makes one step.
__kernel void advance(__global const scalar* restrict state, __global scalar* restrict updated,
                      __global const uchar* restrict kinds, __global const scalar* restrict constants,
                      __global int* restrict trouble, __global scalar* scratch, const uint columns,
                      const uint rows, const uint pitch, const uint ghost_rows, const uint band_rows,
                      const uint tile_columns, const uint steps, const uint begin_state) {
  const uint in_row = (columns + FM_SIDE - 1) / FM_SIDE * FM_SIDE;
  const int column = (int)(get_global_id(0) % in_row);
  const int row = (int)(get_global_id(0) / in_row);
  if (column >= (int)columns || row >= (int)rows) return;
  const int is_over = trouble[0] <= (int)begin_state;
  const fm_constants all = fm_constants_at(constants);
  const size_t here = fm_row_of(row, ghost_rows, pitch) + column;
  const size_t numbers = (size_t)(row + (int)ghost_rows) * pitch * FM_FIELDS + FM_SIDE + column;
  fm_window window;
  window.field = pitch;
  window.here = state + numbers;
  window.below = window.here - pitch * FM_FIELDS;
  window.above = window.here + pitch * FM_FIELDS;
  window.kinds_here = kinds + here;
  window.kinds_below = window.kinds_here - pitch;
  window.kinds_above = window.kinds_here + pitch;
  // What most cells need is loaded without waiting to know whether this is one of them.
  window.is_special = 0;
  window.phase = (int)(begin_state % FM_PHASES);
  fm_numbers next = fm_next(window, all);
  if (*window.kinds_here >= FM_SPECIAL) {
    window.is_special = 1;
    next = fm_next(window, all);
  }
  if (is_over) return;
  FM_UNROLL_FULLY
  for (int i = 0; i < FM_FIELDS; ++i) updated[numbers + (size_t)i * pitch] = next.of[i];
  if (next.trouble) atomic_min(trouble, (int)begin_state + 1);
}

#endif

// The ghost cells of a periodic grid, each from the opposite side: a work-item for each cell of the grid with
// its ghosts. `across`, `along`: whether columns and rows are periodic; of several ranks rows are not, and
// ghost rows have come by then.
__kernel void wrap(__global scalar* state, const uint columns, const uint rows, const uint pitch,
                   const uint ghost_rows, const uint across, const uint along) {
  const int column = (int)(get_global_id(0) % pitch) - FM_SIDE;
  const int row = (int)(get_global_id(0) / pitch) - (int)ghost_rows;
  const int is_beside = across && (column < 0 || column >= (int)columns);
  const int is_beyond = along && (row < 0 || row >= (int)rows);
  if (!is_beside && !is_beyond) return;
  const int from_column = is_beside ? (column + FM_SIDE * (int)columns) % (int)columns : column;
  const int from_row = is_beyond ? (row + (int)ghost_rows * (int)rows) % (int)rows : row;
  const size_t to = (size_t)(row + (int)ghost_rows) * pitch * FM_FIELDS + FM_SIDE + column;
  const size_t from = (size_t)(from_row + (int)ghost_rows) * pitch * FM_FIELDS + FM_SIDE + from_column;
  FM_UNROLL_FULLY
  for (int i = 0; i < FM_FIELDS; ++i) state[to + (size_t)i * pitch] = state[from + (size_t)i * pitch];
}

// Whole rows, with their ghost columns, for messages to other ranks: a work-item for each column. Rows from
// `row` on, counted from the first ghost row, `place` numbers behind the start of the packed ones. marks[mark
// + column] is of all that left in this column; the host compares it with that of the rank that got it.
__kernel void pack(__global const scalar* restrict state, __global scalar* restrict packed,
                   __global ulong* restrict marks, const uint pitch, const uint row, const uint rows,
                   const uint place, const uint mark) {
  const uint column = (uint)get_global_id(0);
  ulong now = marks[mark + column];
  for (uint i = 0; i < rows * FM_FIELDS; ++i) {
    const scalar value = state[((size_t)row * FM_FIELDS + i) * pitch + column];
    packed[place + (size_t)i * pitch + column] = value;
    now = fm_marked(now, value);
  }
  marks[mark + column] = now;
}

// The same the other way round, for what has come.
__kernel void unpack(__global scalar* restrict state, __global const scalar* restrict packed,
                     __global ulong* restrict marks, const uint pitch, const uint row, const uint rows,
                     const uint place, const uint mark) {
  const uint column = (uint)get_global_id(0);
  ulong now = marks[mark + column];
  for (uint i = 0; i < rows * FM_FIELDS; ++i) {
    const scalar value = packed[place + (size_t)i * pitch + column];
    state[((size_t)row * FM_FIELDS + i) * pitch + column] = value;
    now = fm_marked(now, value);
  }
  marks[mark + column] = now;
}
