// On a GPU: the inverses and the panels are row by row without gaps. BLOCK_SIZE is a multiple of BLOCK_ROWS,
// BLOCK_COLUMNS and DEPTH_BLOCK.
#define TILE_INPUT TILE_VALUE
#define TILE_LOAD TILE_IN_PLACE
#if TILE_VALUE_BYTES == 8
#define TILE_MATRIX_UNITS MATRIX_UNITS
#else
#define TILE_MATRIX_UNITS 0
#endif
#include "common/tile_gpu.h"

#if HPL_TYPE == HPL_TYPE_mixed && MATRIX_UNITS
#define PANEL_VALUE half
#define STORE_IN_PANEL(value, panel, index) vstore_half_rte(value, index, panel)
#elif HPL_TYPE == HPL_TYPE_mixed
#define PANEL_VALUE TILE_VALUE
#define STORE_IN_PANEL(value, panel, index) ((panel)[index] = rounded_to_half(value))
FM_INLINE float rounded_to_half(const float value) {
  ushort bits;
  vstore_half_rte(value, 0, (half*)&bits);
  return vload_half(0, (const half*)&bits);
}
#else
#define PANEL_VALUE TILE_VALUE
#define STORE_IN_PANEL(value, panel, index) ((panel)[index] = (value))
#endif

// Columns that lu eliminates at a time, so that they fit what add_products has of local memory. A row there
// has four elements more, so that rows begin in different banks.
#define LU_STRIDE(columns) ((columns) % 4 == 0 ? (columns) + 4 : (columns))
#define LU_FITS(columns) \
  (BLOCK_SIZE % (columns) == 0 && (BLOCK_SIZE + 2) * LU_STRIDE(columns) <= TILE_LOCAL_VALUES)
#if LU_FITS(32)
#define LU_STEP 32
#elif LU_FITS(16)
#define LU_STEP 16
#elif LU_FITS(8)
#define LU_STEP 8
#elif LU_FITS(2)
#define LU_STEP 2
#else
#define LU_STEP 1
#endif
#if LU_STEP % 4 == 0
#define LU_RUN 4
#else
#define LU_RUN 1
#endif
#define LU_ROWS_EACH ((BLOCK_SIZE + GROUP_ITEMS - 1) / GROUP_ITEMS)
// Loads with no store between them.
#define LU_LOADS 8
// LU_RUN values by one access: all work-items of a group share the path to memory.
typedef union {
  FM_VECTOR(TILE_VALUE, LU_RUN) run;
  TILE_VALUE value[LU_RUN];
} lu_run;
#define LU_LOCAL(pointer) (*(__local FM_VECTOR(TILE_VALUE, LU_RUN)*)(pointer))
#define LU_GLOBAL(pointer) (*(__global FM_VECTOR(TILE_VALUE, LU_RUN)*)(pointer))
#define LU_ALIGNED __attribute__((aligned(LU_RUN * TILE_VALUE_BYTES)))

// Eliminates LU_STEP columns from row and column `first` on; each work-item has its rows of them in
// registers. panel: the factors, row by row from `first` on. pivots: a row that all need, one behind the
// other, with the reciprocal of its pivot.
FM_INLINE void eliminate(__global TILE_VALUE* const block, const uint first,
                         __local TILE_VALUE panel[BLOCK_SIZE][LU_STRIDE(LU_STEP)],
                         __local TILE_VALUE pivots[2][LU_STEP]) {
  const uint item = (uint)get_local_id(0);
  TILE_VALUE row[LU_ROWS_EACH][LU_STEP];
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LU_ROWS_EACH; ++n) {
    const uint r = first + item + n * GROUP_ITEMS;
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; j += LU_RUN) {
      lu_run values = {(FM_VECTOR(TILE_VALUE, LU_RUN))0};
      if (r < BLOCK_SIZE) values.run = LU_GLOBAL(block + r * BLOCK_SIZE + first + j);
      FM_UNROLL_ON_GPU
      for (uint e = 0; e < LU_RUN; ++e) row[n][j + e] = values.value[e];
    }
  }
  FM_UNROLL_ON_GPU
  for (uint k = 0; k < LU_STEP; ++k) {
    if (item == k % GROUP_ITEMS) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < LU_STEP; ++j) pivots[k % 2][j] = row[k / GROUP_ITEMS][j];
      pivots[k % 2][k] = 1 / row[k / GROUP_ITEMS][k];  // one division for all
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FM_UNROLL_ON_GPU
    for (uint n = 0; n < LU_ROWS_EACH; ++n) {
      if (item + n * GROUP_ITEMS > k) {
        row[n][k] *= pivots[k % 2][k];
        FM_UNROLL_ON_GPU
        for (uint j = 0; j < LU_STEP; j += LU_RUN) {
          const lu_run pivot = {LU_LOCAL(&pivots[k % 2][j])};
          FM_UNROLL_ON_GPU
          for (uint e = 0; e < LU_RUN; ++e) {
            if (j + e > k) row[n][j + e] -= row[n][k] * pivot.value[e];
          }
        }
      }
    }
  }
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LU_ROWS_EACH; ++n) {
    const uint r = item + n * GROUP_ITEMS;
    if (first + r < BLOCK_SIZE) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < LU_STEP; j += LU_RUN) {
        lu_run values;
        FM_UNROLL_ON_GPU
        for (uint e = 0; e < LU_RUN; ++e) values.value[e] = row[n][j + e];
        LU_LOCAL(&panel[r][j]) = values.run;
        LU_GLOBAL(block + (first + r) * BLOCK_SIZE + first + j) = values.run;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// Elements of column c in row `first` and those after it, every `turns`-th.
FM_INLINE void load_column(TILE_VALUE value[LU_LOADS], __global const TILE_VALUE* const block,
                           const uint first, const uint turns, const uint c) {
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LU_LOADS; ++n) {
    const uint r = first + n * turns;
    value[n] = r < BLOCK_SIZE ? block[r * BLOCK_SIZE + c] : 0;
  }
}

// The columns on the right of those that were eliminated: their rows of U, and what is below. While some rows
// are worked on, the next ones are loaded.
FM_INLINE void update_right(__global TILE_VALUE* const block, const uint first,
                            __local const TILE_VALUE panel[BLOCK_SIZE][LU_STRIDE(LU_STEP)]) {
  const uint item = (uint)get_local_id(0);
  for (uint c = first + LU_STEP + item; c < BLOCK_SIZE; c += GROUP_ITEMS) {
    TILE_VALUE upper[LU_STEP];
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) upper[j] = block[(first + j) * BLOCK_SIZE + c];
    FM_UNROLL_ON_GPU
    for (uint k = 0; k < LU_STEP; ++k) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < LU_STEP; ++j) {
        if (j > k) upper[j] -= panel[j][k] * upper[k];
      }
    }
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) block[(first + j) * BLOCK_SIZE + c] = upper[j];
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  // Work-items of a column take its rows interleaved.
  const uint turns = GROUP_ITEMS > BLOCK_SIZE ? GROUP_ITEMS / BLOCK_SIZE : 1;
  const uint begin = first + LU_STEP;
  const uint end = item < turns * BLOCK_SIZE ? BLOCK_SIZE : 0;
  for (uint c = begin + item % BLOCK_SIZE; c < end; c += GROUP_ITEMS) {
    TILE_VALUE upper[LU_STEP];
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) upper[j] = block[(first + j) * BLOCK_SIZE + c];
    uint r = begin + item / BLOCK_SIZE;
    TILE_VALUE next[LU_LOADS];
    load_column(next, block, r, turns, c);
    for (; r < BLOCK_SIZE; r += LU_LOADS * turns) {
      TILE_VALUE value[LU_LOADS];
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LU_LOADS; ++n) value[n] = next[n];
      load_column(next, block, r + LU_LOADS * turns, turns, c);
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LU_LOADS; ++n) {
        if (r + n * turns < BLOCK_SIZE) {
          FM_UNROLL_ON_GPU
          for (uint j = 0; j < LU_STEP; j += LU_RUN) {
            const lu_run factor = {LU_LOCAL(&panel[r + n * turns - first][j])};
            FM_UNROLL_ON_GPU
            for (uint e = 0; e < LU_RUN; ++e) value[n] -= factor.value[e] * upper[j + e];
          }
          block[(r + n * turns) * BLOCK_SIZE + c] = value[n];
        }
      }
    }
  }
}

FM_INLINE void copy_block(__global TILE_VALUE* const to, const size_t to_columns,
                          __global const TILE_VALUE* const from, const size_t from_columns) {
  for (uint i = get_local_id(0); i < BLOCK_SIZE * BLOCK_SIZE; i += LU_LOADS * GROUP_ITEMS) {
    TILE_VALUE value[LU_LOADS];
    FM_UNROLL_ON_GPU
    for (uint n = 0; n < LU_LOADS; ++n) {
      const uint at = i + n * GROUP_ITEMS;
      value[n] = at < BLOCK_SIZE * BLOCK_SIZE ? from[at / BLOCK_SIZE * from_columns + at % BLOCK_SIZE] : 0;
    }
    FM_UNROLL_ON_GPU
    for (uint n = 0; n < LU_LOADS; ++n) {
      const uint at = i + n * GROUP_ITEMS;
      if (at < BLOCK_SIZE * BLOCK_SIZE) to[at / BLOCK_SIZE * to_columns + at % BLOCK_SIZE] = value[n];
    }
  }
}

// One work-group.
__kernel ONE_GROUP void lu(__global TILE_VALUE* a, const uint row, const uint column, const uint columns,
                           __global TILE_VALUE* block) {
  __local LU_ALIGNED TILE_VALUE panel[BLOCK_SIZE][LU_STRIDE(LU_STEP)];
  __local LU_ALIGNED TILE_VALUE pivots[2][LU_STEP];
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  copy_block(block, BLOCK_SIZE, start, columns);
  for (uint first = 0; first < BLOCK_SIZE; first += LU_STEP) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    eliminate(block, first, panel, pivots);
    update_right(block, first, panel);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  copy_block(start, columns, block, BLOCK_SIZE);
}

// Columns of an inverse that a work-group keeps in local memory, all their rows at once: columns do not
// depend on each other.
#define INVERT_FITS(width) \
  (BLOCK_SIZE % (width) == 0 && (BLOCK_SIZE + LU_STEP) * (width) + LU_STEP * LU_STEP <= TILE_LOCAL_VALUES)
#if INVERT_FITS(16)
#define INVERT_COLUMNS 16
#elif INVERT_FITS(4)
#define INVERT_COLUMNS 4
#else
#define INVERT_COLUMNS 1
#endif

// LU_STEP elements of a row of the block from column k on.
FM_INLINE void take_factors(lu_run factor[LU_STEP / LU_RUN], __global const TILE_VALUE* const row,
                            const uint k) {
  FM_UNROLL_ON_GPU
  for (uint n = 0; n < LU_STEP / LU_RUN; ++n) factor[n].run = LU_GLOBAL(row + k + n * LU_RUN);
}

// sums[j][c] = element (first + j, column + c) of the unit matrix, minus row first + j of `block` times the
// rows of the inverse from `begin` up to `end`, multiples of LU_STEP.
FM_INLINE void subtract(__local TILE_VALUE sums[LU_STEP][INVERT_COLUMNS],
                        __global const TILE_VALUE* const block,
                        __local const TILE_VALUE inverse[BLOCK_SIZE][INVERT_COLUMNS], const uint first,
                        const uint begin, const uint end, const uint column) {
  for (uint i = (uint)get_local_id(0); i < LU_STEP * INVERT_COLUMNS; i += GROUP_ITEMS) {
    const uint j = i / INVERT_COLUMNS, c = i % INVERT_COLUMNS;
    __global const TILE_VALUE* const factors = block + (first + j) * BLOCK_SIZE;
    TILE_VALUE sum[LU_RUN];  // which do not wait for each other
    FM_UNROLL_ON_GPU
    for (uint e = 0; e < LU_RUN; ++e) sum[e] = 0;
    lu_run next[LU_STEP / LU_RUN];  // loaded while those before are multiplied
    take_factors(next, factors, min(begin, (uint)(BLOCK_SIZE - LU_STEP)));
    for (uint k = begin; k < end; k += LU_STEP) {
      lu_run factor[LU_STEP / LU_RUN];
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LU_STEP / LU_RUN; ++n) factor[n] = next[n];
      take_factors(next, factors, min(k + LU_STEP, (uint)(BLOCK_SIZE - LU_STEP)));
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LU_STEP; ++n) {
        sum[n % LU_RUN] = TILE_FMA(factor[n / LU_RUN].value[n % LU_RUN], inverse[k + n][c], sum[n % LU_RUN]);
      }
    }
    TILE_VALUE value = first + j == column + c ? 1 : 0;
    FM_UNROLL_ON_GPU
    for (uint e = 0; e < LU_RUN; ++e) value -= sum[e];
    sums[j][c] = value;
  }
}

// The LU_STEP x LU_STEP elements of the block on its diagonal, with the reciprocals of those of U.
FM_INLINE void take_diagonal(__local TILE_VALUE diagonal[LU_STEP][LU_STEP],
                             __global const TILE_VALUE* const block, const uint first) {
  for (uint i = (uint)get_local_id(0); i < LU_STEP * LU_STEP; i += GROUP_ITEMS) {
    const TILE_VALUE value = block[(first + i / LU_STEP) * BLOCK_SIZE + first + i % LU_STEP];
    diagonal[i / LU_STEP][i % LU_STEP] = i / LU_STEP == i % LU_STEP ? 1 / value : value;
  }
}

// Solves with the diagonal block: a work-item has a whole column.
FM_INLINE void solve_lower(__local TILE_VALUE inverse[BLOCK_SIZE][INVERT_COLUMNS],
                           __local const TILE_VALUE sums[LU_STEP][INVERT_COLUMNS],
                           __local const TILE_VALUE diagonal[LU_STEP][LU_STEP], const uint first) {
  for (uint c = (uint)get_local_id(0); c < INVERT_COLUMNS; c += GROUP_ITEMS) {
    TILE_VALUE value[LU_STEP];
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) value[j] = sums[j][c];
    FM_UNROLL_ON_GPU
    for (uint k = 0; k < LU_STEP; ++k) {
      FM_UNROLL_ON_GPU
      for (uint j = k + 1; j < LU_STEP; ++j) value[j] -= diagonal[j][k] * value[k];
    }
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) inverse[first + j][c] = value[j];
  }
}

FM_INLINE void solve_upper(__local TILE_VALUE inverse[BLOCK_SIZE][INVERT_COLUMNS],
                           __local const TILE_VALUE sums[LU_STEP][INVERT_COLUMNS],
                           __local const TILE_VALUE diagonal[LU_STEP][LU_STEP], const uint first) {
  for (uint c = (uint)get_local_id(0); c < INVERT_COLUMNS; c += GROUP_ITEMS) {
    TILE_VALUE value[LU_STEP];
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) value[j] = sums[j][c];
    FM_UNROLL_ON_GPU
    for (uint n = 0; n < LU_STEP; ++n) {
      const uint k = LU_STEP - 1 - n;
      value[k] *= diagonal[k][k];
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < k; ++j) value[j] -= diagonal[j][k] * value[k];
    }
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < LU_STEP; ++j) inverse[first + j][c] = value[j];
  }
}

FM_INLINE void store_columns(__global TILE_VALUE* const to,
                             __local const TILE_VALUE inverse[BLOCK_SIZE][INVERT_COLUMNS],
                             const uint column) {
  for (uint i = (uint)get_local_id(0); i < BLOCK_SIZE * INVERT_COLUMNS; i += GROUP_ITEMS) {
    to[i / INVERT_COLUMNS * BLOCK_SIZE + column + i % INVERT_COLUMNS] =
        inverse[i / INVERT_COLUMNS][i % INVERT_COLUMNS];
  }
}

// The inverses of L and U, which lu left in `block`: each work-group takes columns of one of them. Rows of
// the inverse of L are found from the top down, those of U's from the bottom up; the others are 0.
__kernel ONE_GROUP void invert(__global const TILE_VALUE* block, __global TILE_VALUE* lower,
                               __global TILE_VALUE* upper) {
  __local TILE_VALUE inverse[BLOCK_SIZE][INVERT_COLUMNS];
  __local TILE_VALUE sums[LU_STEP][INVERT_COLUMNS];
  __local TILE_VALUE diagonal[LU_STEP][LU_STEP];
  const uint parts = BLOCK_SIZE / INVERT_COLUMNS;
  for (uint part = (uint)get_group_id(0); part < 2 * parts; part += (uint)get_num_groups(0)) {
    const bool is_lower = part < parts;
    const uint column = part % parts * INVERT_COLUMNS;
    const uint begin = column / LU_STEP * LU_STEP;
    const uint end = ((column + INVERT_COLUMNS - 1) / LU_STEP + 1) * LU_STEP;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < BLOCK_SIZE * INVERT_COLUMNS; i += GROUP_ITEMS) {
      inverse[i / INVERT_COLUMNS][i % INVERT_COLUMNS] = 0;
    }
    const uint steps = is_lower ? (BLOCK_SIZE - begin) / LU_STEP : end / LU_STEP;
    for (uint step = 0; step < steps; ++step) {
      const uint first = is_lower ? begin + step * LU_STEP : end - (step + 1) * LU_STEP;
      barrier(CLK_LOCAL_MEM_FENCE);
      take_diagonal(diagonal, block, first);
      subtract(sums, block, inverse, first, is_lower ? begin : first + LU_STEP, is_lower ? first : end,
               column);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (is_lower) {
        solve_lower(inverse, sums, diagonal, first);
      } else {
        solve_upper(inverse, sums, diagonal, first);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_columns(is_lower ? lower : upper, inverse, column);
  }
}

// Left and top form their products in place: the inverses are triangular, so that a product needs what lies
// on one side of it in A alone, and the other side comes first. `depth`: of DEPTH_BLOCK at a time; what is
// beyond meets zeros.
#define WHOLE_DEPTH(depth) min((uint)BLOCK_SIZE, ((depth) + DEPTH_BLOCK - 1) / DEPTH_BLOCK * DEPTH_BLOCK)

// Each work-group updates BLOCK_ROWS rows.
__kernel ONE_GROUP void left(__global TILE_VALUE* a, __global const TILE_VALUE* restrict upper,
                             __global PANEL_VALUE* restrict panel, const uint panel_start, const uint row,
                             const uint column, const uint columns, const uint tiles) {
  TILE_LOCAL;
  const size_t first = get_group_id(0) * BLOCK_ROWS;
  __global TILE_VALUE* start = a + (row + first) * columns + column;
  __global PANEL_VALUE* own = panel + panel_start + first * BLOCK_SIZE;
  for (uint end = BLOCK_SIZE; end > 0; end -= BLOCK_COLUMNS) {
    const uint c = end - BLOCK_COLUMNS;
    TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS];
    clear(sum);
    add_products(sum, TILE_MEMORY, start, columns, upper + c, BLOCK_SIZE, WHOLE_DEPTH(end));
    barrier(CLK_GLOBAL_MEM_FENCE);
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < SUM_ROWS; ++i) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < SUM_COLUMNS; ++j) {
        start[SUM_ROW(i) * (size_t)columns + c + SUM_COLUMN(j)] = sum[i][j];
        STORE_IN_PANEL(SCALE_LEFT(sum[i][j]), own, SUM_ROW(i) * BLOCK_SIZE + c + SUM_COLUMN(j));
      }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

// Each work-group updates BLOCK_COLUMNS columns, which in the panel lie in one piece: [group][BLOCK_SIZE]
// [BLOCK_COLUMNS].
__kernel ONE_GROUP void top(__global TILE_VALUE* a, __global const TILE_VALUE* restrict lower,
                            __global PANEL_VALUE* restrict panel, const uint panel_start, const uint row,
                            const uint column, const uint columns) {
  TILE_LOCAL;
  const size_t group = get_group_id(0);
  __global TILE_VALUE* start = a + (size_t)row * columns + column + group * BLOCK_COLUMNS;
  __global PANEL_VALUE* own = panel + panel_start + group * BLOCK_SIZE * BLOCK_COLUMNS;
  for (uint end = BLOCK_SIZE; end > 0; end -= BLOCK_ROWS) {
    const uint r = end - BLOCK_ROWS;
    TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS];
    clear(sum);
    add_products(sum, TILE_MEMORY, lower + r * BLOCK_SIZE, BLOCK_SIZE, start, columns, WHOLE_DEPTH(end));
    barrier(CLK_GLOBAL_MEM_FENCE);
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < SUM_ROWS; ++i) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < SUM_COLUMNS; ++j) {
        start[(r + SUM_ROW(i)) * (size_t)columns + SUM_COLUMN(j)] = sum[i][j];
        STORE_IN_PANEL(sum[i][j], own, (r + SUM_ROW(i)) * BLOCK_COLUMNS + SUM_COLUMN(j));
      }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

#if HPL_TYPE == HPL_TYPE_mixed && MATRIX_UNITS
#include "hpl/inner_halves.h"
#endif

#if SUM_ROWS % 2 == 0
#define ROWS_AT_ONCE 2
#else
#define ROWS_AT_ONCE 1
#endif

// Each work-group updates a block of BLOCK_ROWS x BLOCK_COLUMNS, counted from `first` row by row in the
// rectangle from block (row_begin, column_begin) up to (row_end, column_end).
__kernel ONE_GROUP void inner(__global TILE_VALUE* restrict a,
                              __global const PANEL_VALUE* restrict left_panel,
                              __global const PANEL_VALUE* restrict top_panel, const uint left_start,
                              const uint top_start, const uint row, const uint column, const uint columns,
                              const uint row_begin, const uint row_end, const uint column_begin,
                              const uint column_end, const uint first) {
  TILE_LOCAL;
  const uint group = first + (uint)get_group_id(0);
  const size_t r = row_begin + group / (column_end - column_begin);
  const size_t c = column_begin + group % (column_end - column_begin);
  __global TILE_VALUE* start = a + (row + r * BLOCK_ROWS) * columns + column + c * BLOCK_COLUMNS;
  TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS];
  clear(sum);
  add_products(sum, TILE_MEMORY, left_panel + left_start + r * BLOCK_ROWS * BLOCK_SIZE, BLOCK_SIZE,
               top_panel + top_start + c * BLOCK_SIZE * BLOCK_COLUMNS, BLOCK_COLUMNS, BLOCK_SIZE);
  // Rows that are read together: one after the other each would wait for the memory.
  FM_UNROLL_ON_GPU
  for (uint first_row = 0; first_row < SUM_ROWS; first_row += ROWS_AT_ONCE) {
    TILE_VALUE old[ROWS_AT_ONCE][SUM_COLUMNS];
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < ROWS_AT_ONCE; ++i) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < SUM_COLUMNS; ++j)
        old[i][j] = start[SUM_ROW(first_row + i) * (size_t)columns + SUM_COLUMN(j)];
    }
    FM_UNROLL_ON_GPU
    for (uint i = 0; i < ROWS_AT_ONCE; ++i) {
      FM_UNROLL_ON_GPU
      for (uint j = 0; j < SUM_COLUMNS; ++j)
        start[SUM_ROW(first_row + i) * (size_t)columns + SUM_COLUMN(j)] =
            old[i][j] - UNSCALE_LEFT(sum[first_row + i][j]);
    }
  }
}
