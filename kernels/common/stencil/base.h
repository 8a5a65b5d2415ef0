// The FPGA design of a stencil: cells stream through an element that makes one step of them. In each cycle a
// word of PIPELINES cells comes in and one of the next state goes out, a row and a word later (Mondigo 2020,
// section 3.2). Two rows are kept in local memory, and the words around the one that is computed in
// registers.
#include "common/stencil/window.h"

// In C++ kernels of several widths may stand side by side.
#if !defined(__cplusplus)
#define FM_OF_ANY_WIDTH
#define FM_WORD struct fm_word
#else
#define FM_OF_ANY_WIDTH template <int PIPELINES>
#define FM_WORD struct fm_word<PIPELINES>
#endif

FM_OF_ANY_WIDTH struct fm_word { fm_cell cell[PIPELINES]; };

// Where the words of a grid are: `column` and `row` of one, of so many in a row; what lies beyond the grid.
typedef struct {
  int column, row, in_row, rows, edge_kind;
  int phase;      // of the step that is made
  int is_turned;  // columns of the grid stream one after the other
} fm_position;

// The cell `beside` those of the middle word, from the left one of which it is counted; beyond the grid there
// is what `at` says.
FM_OF_ANY_WIDTH static inline fm_cell fm_cell_at(const FM_WORD words[3][3], int dy, int beside,
                                                 const fm_position at) {
  const int word = beside < 0 ? 0 : beside >= PIPELINES ? 2 : 1;
  const int lane = (beside + PIPELINES) % PIPELINES;
  const int column = at.column + word - 1;
  const int row = at.row + dy;
  fm_cell cell = words[1 + dy][word].cell[lane];
  if (column < 0 || column >= at.in_row || row < 0 || row >= at.rows)
    cell.of[FM_FIELDS] = (scalar)at.edge_kind;
  return cell;
}

// The next state of the middle word.
FM_OF_ANY_WIDTH static inline FM_WORD fm_element(const FM_WORD words[3][3], const fm_position at,
                                                 const fm_constants constants, int* trouble) {
  FM_WORD made;
  FM_UNROLL_FULLY
  for (int lane = 0; lane < PIPELINES; ++lane) {
    fm_window window;
    window.phase = at.phase;
    FM_UNROLL_FULLY
    for (int dy = -1; dy <= 1; ++dy) {
      FM_UNROLL_FULLY
      for (int dx = -1; dx <= 1; ++dx) window.at[1 + dy][1 + dx] = fm_cell_at(words, dy, lane + dx, at);
    }
    const fm_numbers next = fm_next(FM_IS_TURNED(at.is_turned) ? fm_turned(window) : window, constants);
    FM_UNROLL_FULLY
    for (int i = 0; i < FM_FIELDS; ++i) made.cell[lane].of[i] = next.of[i];
    made.cell[lane].of[FM_FIELDS] = window.at[1][1].of[FM_FIELDS];
    if (next.trouble) *trouble = 1;
  }
  return made;
}

#if !defined(__cplusplus)

// Numbers that are kept of a column, of two rows: each in a memory of its own, so that all are read and
// written in each cycle. Intel's tools want a power of two of them; those that nobody touches are not made.
#define FM_KEPT_NUMBERS (2 * PIPELINES * (FM_FIELDS + 1))
#if FM_KEPT_NUMBERS <= 8
#define FM_KEPT_BANKS 8
#elif FM_KEPT_NUMBERS <= 16
#define FM_KEPT_BANKS 16
#elif FM_KEPT_NUMBERS <= 32
#define FM_KEPT_BANKS 32
#elif FM_KEPT_NUMBERS <= 64
#define FM_KEPT_BANKS 64
#elif FM_KEPT_NUMBERS <= 128
#define FM_KEPT_BANKS 128
#else
#define FM_KEPT_BANKS 256
#endif
#define FM_KEPT(row, lane, number) ((((row)*PIPELINES) + (lane)) * (FM_FIELDS + 1) + (number))

// One step. A cell has its numbers and its kind one after the other. `trouble`: as of the throughput kernel.
FM_SINGLE_WORK_ITEM
__kernel void advance(__global const scalar* restrict state, __global scalar* restrict updated,
                      __global const scalar* restrict constants, __global int* restrict trouble,
                      const uint columns, const uint rows, const uint begin_state) {
  if (trouble[0] <= (int)begin_state) return;
  scalar kept[ROW_CELLS / PIPELINES][FM_KEPT_BANKS] FM_BANKS(FM_KEPT_BANKS, FM_BYTES(DATA_TYPE))
      FM_PARTITION(2);
  FM_WORD words[3][3];
  fm_constants all;
  FM_UNROLL_FULLY
  for (int i = 0; i < FM_CONSTANTS; ++i) all.of[i] = constants[i];
  const uint in_row = columns / PIPELINES;
  const uint count = in_row * rows;
  const uint behind = in_row + 1;  // words between one that comes and the one that is computed
  fm_position at = {0, 0, (int)in_row, (int)rows, FM_EDGE_KIND, (int)(begin_state % FM_PHASES), 0};
  uint column = 0;
  int is_in_trouble = 0;
  FM_PIPELINE
  FM_IGNORE_DEPENDENCE(kept)
  for (uint i = 0; i < count + behind; ++i) {
    FM_WORD incoming;
    FM_UNROLL_FULLY
    for (int lane = 0; lane < PIPELINES; ++lane) {
      FM_UNROLL_FULLY
      for (int number = 0; number <= FM_FIELDS; ++number) {
        incoming.cell[lane].of[number] =
            i < count ? state[((size_t)i * PIPELINES + lane) * (FM_FIELDS + 1) + number] : 0;
      }
    }
    FM_UNROLL_FULLY
    for (int row = 0; row < 3; ++row) {
      words[row][0] = words[row][1];
      words[row][1] = words[row][2];
    }
    FM_UNROLL_FULLY
    for (int lane = 0; lane < PIPELINES; ++lane) {
      FM_UNROLL_FULLY
      for (int number = 0; number <= FM_FIELDS; ++number) {
        words[0][2].cell[lane].of[number] = kept[column][FM_KEPT(0, lane, number)];
        words[1][2].cell[lane].of[number] = kept[column][FM_KEPT(1, lane, number)];
        kept[column][FM_KEPT(0, lane, number)] = words[1][2].cell[lane].of[number];
        kept[column][FM_KEPT(1, lane, number)] = incoming.cell[lane].of[number];
      }
    }
    words[2][2] = incoming;
    column = column + 1 == in_row ? 0 : column + 1;
    if (i >= behind) {
      const FM_WORD made = fm_element(words, at, all, &is_in_trouble);
      FM_UNROLL_FULLY
      for (int lane = 0; lane < PIPELINES; ++lane) {
        FM_UNROLL_FULLY
        for (int number = 0; number <= FM_FIELDS; ++number) {
          updated[((size_t)(i - behind) * PIPELINES + lane) * (FM_FIELDS + 1) + number] =
              made.cell[lane].of[number];
        }
      }
      if (at.column + 1 == at.in_row) {
        at.column = 0;
        ++at.row;
      } else {
        ++at.column;
      }
    }
  }
  if (is_in_trouble) trouble[0] = (int)begin_state + 1;
}

#endif
