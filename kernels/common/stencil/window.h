// What a stencil is to its user: one function that makes the next numbers of a cell from the cells around it.
// The file that defines it is compiled for every kind of kernel, and as C++ for the host's reference:
//
//     #define FM_FIELDS 1                       numbers of a cell
//     #define FM_CONSTANTS 1                    numbers that are the same for all cells
//     #define FM_EDGE_KIND 1                    what lies beyond the edge of the grid
//     #include "common/stencil/window.h"
//     static inline fm_numbers fm_next(const fm_window window, const fm_constants constants) {
//       fm_numbers next;
//       next.of[0] = ... FM_FIELD(window, 0, -1, 0) ...;
//       next.trouble = 0;                       or comparisons: the run must not go on
//       return next;
//     }
//     #include "common/stencil/engine.h"
//
// Functions that fm_next calls with a window are FM_INLINE: what a compiler calls takes windows from memory,
// and does not know that there are no special cells.
//
// FM_FIELD(window, field, dx, dy): a number of the cell at that distance, of -1, 0 or 1 in each direction;
// FM_KIND(window, dx, dy): what that cell is, of 0 to 127. A number is a `real`, a kind a `whole`, which may
// be vectors: they are compared and chosen from by FM_CHOOSE (numbers.h). A cell of a kind other than 0 is a
// special one. Where there is none around, kinds are 0 for the compiler, and what is chosen by them is not
// there.
// Where constants may be such that a step takes less, as a force of none, its user may say when, by
// `#define FM_SIMPLE(constants) ...` before fm_next, which asks FM_IS_SIMPLE(window, constants): a CPU has a
// loop of its own for them.
// A step that looks further than to the next cell has two phases, `#define FM_PHASES 2`, and fm_next asks
// which of them it is to make: `window.phase`, from 0 on. What one leaves for the other are numbers of the
// cell.
#ifndef FABRICMARK_STENCIL_WINDOW_H
#define FABRICMARK_STENCIL_WINDOW_H

#if defined(FM_STREAMED)
#define WIDTH 1
#elif !defined(FM_ON_HOST)
#include "common/width.h"
#endif

#include "common/numbers.h"

#if !defined(FM_PHASES)
#define FM_PHASES 1
#endif
#if FM_PHASES > 2
#error "a step has one phase or two"
#endif

typedef struct {
  scalar of[FM_CONSTANTS];
} fm_constants;

typedef struct {
  real of[FM_FIELDS];
  truth trouble;
} fm_numbers;

#if defined(FM_STREAMED)

// A cell as it streams: its numbers, and its kind.
typedef struct {
  scalar of[FM_FIELDS + 1];
} fm_cell;

typedef struct {
  fm_cell at[3][3];
  int phase;
} fm_window;

// What a window is to a cell where columns stream one after the other: its rows are columns of the grid.
static inline fm_window fm_turned(const fm_window window) {
  fm_window turned;
  turned.phase = window.phase;
  FM_UNROLL_FULLY
  for (int row = 0; row < 3; ++row) {
    FM_UNROLL_FULLY
    for (int column = 0; column < 3; ++column) turned.at[column][row] = window.at[row][column];
  }
  return turned;
}

// The parameter `orientation` as a number: whether columns stream one after the other. Kernels that are built
// for neither are told.
#define FM_AXIS_auto 0
#define FM_AXIS_x 0
#define FM_AXIS_y 1
#if defined(ORIENTATION)
#define FM_IS_TURNED(told) FM_PASTE(FM_AXIS_, ORIENTATION)
#else
#define FM_IS_TURNED(told) (told)
#endif

#define FM_FIELD(window, field, dx, dy) ((window).at[1 + (dy)][1 + (dx)].of[field])
#define FM_KIND(window, dx, dy) ((int)(window).at[1 + (dy)][1 + (dx)].of[FM_FIELDS])

#else

#if !defined(__cplusplus)
#define FM_MEMORY __global
typedef uchar fm_kind;
#else
#define FM_MEMORY
typedef unsigned char fm_kind;
#endif

// Three rows, each from the first cell that is computed on; the numbers of a field are `field` behind those
// of the one before.
typedef struct {
  FM_MEMORY const scalar* below;
  FM_MEMORY const scalar* here;
  FM_MEMORY const scalar* above;
  FM_MEMORY const fm_kind* kinds_below;
  FM_MEMORY const fm_kind* kinds_here;
  FM_MEMORY const fm_kind* kinds_above;
  size_t field;
  int phase;       // known to the compiler
  int is_special;  // there are special cells; known to the compiler
  int is_simple;   // FM_SIMPLE of the constants, in kernels on CPUs; known to the compiler
} fm_window;

#if WIDTH > 1
#define FM_LOAD(place) FM_PASTE(vload, WIDTH)(0, place)
#define FM_LOAD_KINDS(place) FM_PASTE(convert_int, WIDTH)(FM_PASTE(vload, WIDTH)(0, place))
#else
#define FM_LOAD(place) (*(place))
#define FM_LOAD_KINDS(place) ((int)*(place))
#endif

// A kind's bit beside it: the cell itself, or one of the eight around it, is special.
#define FM_SPECIAL 128

#define FM_ROW(window, dy) ((dy) < 0 ? (window).below : (dy) > 0 ? (window).above : (window).here)
#define FM_KINDS(window, dy) \
  ((dy) < 0 ? (window).kinds_below : (dy) > 0 ? (window).kinds_above : (window).kinds_here)
#define FM_FIELD(window, field_number, dx, dy) \
  FM_LOAD(FM_ROW(window, dy) + (field_number) * (window).field + (dx))
#define FM_KIND(window, dx, dy) \
  ((window).is_special ? (FM_LOAD_KINDS(FM_KINDS(window, dy) + (dx)) & (FM_SPECIAL - 1)) : (whole)(0))

#endif

#if defined(FM_CPU) && !defined(FM_STREAMED)
#define FM_IS_SIMPLE(window, constants) ((window).is_simple)
#else
#define FM_IS_SIMPLE(window, constants) FM_SIMPLE(constants)
#endif

// Its windows and numbers are many: they are never to be passed through memory.
static inline fm_numbers fm_next(const fm_window window, const fm_constants constants)
    __attribute__((always_inline));

#endif
