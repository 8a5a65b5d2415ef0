// A stencil as dataflow kernels: a cascade of elements, each of which makes one step, through the boards of a
// ring (Mondigo 2020, chapter 3). The first board has the grid in its memory. In a pass it streams through
// the elements of all boards, a step each, and back; in the last pass elements beyond the steps that are left
// pass it on as it is. Not tried with Vitis.
//
// To be included behind the header of a stencil (window.h), by its dataflow.cpp.
#ifndef FABRICMARK_STENCIL_DATAFLOW_HPP
#define FABRICMARK_STENCIL_DATAFLOW_HPP

#include "common/dataflow.hpp"

/// A grid as elements take it.
struct fm_stream_shape {
  unsigned int in_row;  // words of a row
  unsigned int rows;
  int edge_kind;  // of what lies beyond the grid
  int is_turned;  // its rows are columns of the grid
};

/// What an element does in a run: it is one of so many in a pass.
struct fm_turns {
  unsigned int element;   // its number
  unsigned int elements;  // of all boards
  unsigned int steps;     // of the run
  unsigned int passes;
};

/// A word that is one longer than a row and a word is not kept: the longest row that elements have room for.
#if !defined(FM_ROW_WORDS)
#define FM_ROW_WORDS 65536
#endif

/// What came so far, and one word more: once two such numbers differ, they differ until the end.
template <int PIPELINES>
unsigned long long fm_marked_word(unsigned long long mark, const fm_word<PIPELINES>& word) {
  for (int lane = 0; lane < PIPELINES; ++lane) {
#pragma HLS unroll
    for (int i = 0; i <= FM_FIELDS; ++i) {
#pragma HLS unroll
      union {
        float number;
        unsigned int bits;
      } as;
      as.number = (float)word.cell[lane].of[i];
      mark += (unsigned long long)as.bits * (2 * (lane * (FM_FIELDS + 1) + i) + 1);
    }
  }
  mark *= 0x9E3779B97F4A7C15ULL;
  return mark ^ (mark >> 32);
}

/// From memory into the first element: a pass. `computes` is false where only time is asked for.
template <int PIPELINES, bool computes>
void fm_load(const fm_word<PIPELINES>* state, unsigned int words, fm::stream<fm_word<PIPELINES>>& leaving) {
#pragma HLS interface mode = m_axi port = state bundle = state
#pragma HLS aggregate variable = state
  for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    leaving.write(computes ? state[i] : fm_word<PIPELINES>{});
  }
}

/// From the last element into memory: a pass.
template <int PIPELINES, bool computes>
void fm_store(fm_word<PIPELINES>* updated, unsigned int words, fm::stream<fm_word<PIPELINES>>& arriving) {
#pragma HLS interface mode = m_axi port = updated bundle = updated
#pragma HLS aggregate variable = updated
  for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const fm_word<PIPELINES> word = arriving.read();
    if (computes) updated[i] = word;
  }
}

/// To or from a link: `mark` is of all words that passed, which the host compares with the other end's.
template <int PIPELINES, bool computes>
void fm_pass_on(fm::stream<fm_word<PIPELINES>>& arriving, fm::stream<fm_word<PIPELINES>>& leaving,
                unsigned long long words, unsigned long long* mark) {
  unsigned long long now = *mark;
  for (unsigned long long i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const fm_word<PIPELINES> word = arriving.read();
    if (computes) now = fm_marked_word(now, word);
    leaving.write(word);
  }
  *mark = now;
}

/// One step of each pass: a word goes out for the one that came a row and a word before. `kept`: two rows.
/// `trouble`: the first pass in which a cell was in trouble, counted from 1, and 0 where none was.
template <int PIPELINES, bool computes>
void fm_element_kernel(fm::stream<fm_word<PIPELINES>>& arriving, fm::stream<fm_word<PIPELINES>>& leaving,
                       fm_word<PIPELINES>* kept, fm_stream_shape shape, fm_turns turns,
                       fm_constants constants, unsigned int* trouble) {
  const unsigned int count = shape.in_row * shape.rows;
  const unsigned int behind = shape.in_row + 1;
  for (unsigned int pass = 0; pass < turns.passes; ++pass) {
    const bool is_active = pass * turns.elements + turns.element < turns.steps;
    fm_word<PIPELINES> words[3][3] = {};
    const int phase = (int)((pass * turns.elements + turns.element) % FM_PHASES);
    fm_position at = {0, 0, (int)shape.in_row, (int)shape.rows, shape.edge_kind, phase, shape.is_turned};
    unsigned int column = 0;
    int is_in_trouble = 0;
    for (unsigned int i = 0; i < count + behind; ++i) {
#pragma HLS pipeline II = 1
#pragma HLS dependence variable = kept inter false
      fm_word<PIPELINES> incoming = {};
      if (i < count) incoming = arriving.read();
      if (computes) {
        for (int row = 0; row < 3; ++row) {
#pragma HLS unroll
          words[row][0] = words[row][1];
          words[row][1] = words[row][2];
        }
        words[0][2] = kept[column];
        words[1][2] = kept[shape.in_row + column];
        words[2][2] = incoming;
        kept[column] = words[1][2];
        kept[shape.in_row + column] = incoming;
        column = column + 1 == shape.in_row ? 0 : column + 1;
      }
      if (i < behind) continue;
      if (!computes) {
        leaving.write(incoming);
        continue;
      }
      leaving.write(is_active ? fm_element<PIPELINES>(words, at, constants, &is_in_trouble) : words[1][1]);
      at.column = at.column + 1 == at.in_row ? 0 : at.column + 1;
      if (at.column == 0) ++at.row;
    }
    fm::end_loop();
    if (is_in_trouble != 0 && *trouble == 0) *trouble = pass + 1;
  }
}

#if defined(__SYNTHESIS__) || defined(__VITIS_HLS__)

extern "C" {  // v++ looks for kernels by their plain names

void load_cells(const fm_word<fm_built_pipelines>* state, unsigned int words,
                fm::stream<fm_word<fm_built_pipelines>>& leaving) {
  fm_load<fm_built_pipelines, true>(state, words, leaving);
}

void store_cells(fm_word<fm_built_pipelines>* updated, unsigned int words,
                 fm::stream<fm_word<fm_built_pipelines>>& arriving) {
  fm_store<fm_built_pipelines, true>(updated, words, arriving);
}

void pass_on_cells(fm::stream<fm_word<fm_built_pipelines>>& arriving,
                   fm::stream<fm_word<fm_built_pipelines>>& leaving, unsigned long long words,
                   unsigned long long* mark) {
#pragma HLS interface mode = m_axi port = mark bundle = mark
  fm_pass_on<fm_built_pipelines, true>(arriving, leaving, words, mark);
}

void make_step(fm::stream<fm_word<fm_built_pipelines>>& arriving,
               fm::stream<fm_word<fm_built_pipelines>>& leaving, fm_stream_shape shape, fm_turns turns,
               fm_constants constants, unsigned int* trouble) {
#pragma HLS interface mode = m_axi port = trouble bundle = trouble
  static fm_word<fm_built_pipelines> kept[2 * FM_ROW_WORDS];
  fm_element_kernel<fm_built_pipelines, true>(arriving, leaving, kept, shape, turns, constants, trouble);
}
}

#endif

#endif
