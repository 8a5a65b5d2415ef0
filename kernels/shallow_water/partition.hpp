// What the dataflow kernels of shallow water are made of (dataflow.cpp): elements and edges of a partition in
// local memory, and the words of its halos. DATA_TYPE, FLUX, ORDER and WIDTH are defined by then.
#ifndef FABRICMARK_SHALLOW_WATER_PARTITION_HPP
#define FABRICMARK_SHALLOW_WATER_PARTITION_HPP

#include "common/dataflow.hpp"

#include <cmath>

namespace shallow_water_kernels {

using std::fabs;
using std::fmax;
using std::fmin;
using std::sqrt;

#include "shallow_water/element.h"

const unsigned int in_engine_word = 4;  // elements

/// xi, U and V of an element, within a device and over a link. The first of a step has the elevation of the
/// sea, and elevation and inflow of rivers.
typedef fm::words<DATA_TYPE, 4> state_word;
/// The same of as many elements as a word of an engine, which has 512 bits, takes.
typedef fm::words<DATA_TYPE, 16> engine_word;
/// What a border element meets at its three sides; nothing where that is an element of the own device.
typedef fm::words<DATA_TYPE, 12> met_word;

/// An edge with nothing beyond it, and where the edge kernel keeps the state of its element.
struct outer_edge {
  unsigned int slot;
  int code;
  DATA_TYPE nx;
  DATA_TYPE ny;
};

/// A message to and one from another device in each step, in elements.
struct neighbour {
  int rank;
  unsigned int sent;
  unsigned int received;
};

/// What a partition has of each.
struct counts {
  unsigned int core;       // elements without a neighbour on another device
  unsigned int own;        // elements
  unsigned int outer;      // edges at land, sea and rivers
  unsigned int projected;  // elements that the edge kernel hears of
  unsigned int leaving;    // elements of all messages to others
  unsigned int neighbours;
};

inline sw_numbers numbers_of(const state_word& word) {
  sw_numbers numbers;
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
#pragma HLS unroll
    numbers.of[unknown][0] = word.value[unknown];
  }
  return numbers;
}

inline state_word word_of(const sw_numbers& numbers) {
  state_word word;
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
#pragma HLS unroll
    word.value[unknown] = numbers.of[unknown][0];
  }
  word.value[SW_UNKNOWNS] = 0;
  return word;
}

inline sw_numbers at_side(const met_word& word, int side) {
  sw_numbers numbers;
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
#pragma HLS unroll
    numbers.of[unknown][0] = word.value[side * SW_UNKNOWNS + unknown];
  }
  return numbers;
}

/// Bits of a word and its number in one: sums of these differ where any word is another, or has another
/// place.
template <int Width>
inline unsigned long long mark_of(const fm::words<DATA_TYPE, Width>& word, unsigned long long number) {
  union bits {
    DATA_TYPE value;
    unsigned int whole;
  };
  unsigned long long mark = 0;
  for (int i = 0; i < Width; ++i) {
#pragma HLS unroll
    bits one;
    one.value = word.value[i];
    mark = mark * 0x9E3779B97F4A7C15ULL + one.whole;
  }
  return mark * (2 * number + 1);
}

/// What flows through a side, beyond which `other` is: an element, or what the edge kernel says of an outer
/// edge.
inline sw_through through_side(const sw_element& element, const sw_state& own, const sw_state& other,
                               int side, const sw_stage& stage) {
  const DATA_TYPE depth =
      sw_edge_place[0] * element.depth[side] + sw_edge_place[0] * element.depth[(side + 1) % 3];
  sw_through through;
  through.flux = sw_edge_flux(own, other, depth, element.nx[side], element.ny[side], stage.gravity);
  if (element.code[side] == SW_LAND) through.flux.water = 0;
  through.depth = depth + own.xi;
  through.depth_beyond = depth + other.xi;
  return through;
}

inline sw_state state_of(const sw_numbers& numbers) {
  const sw_state state = {numbers.of[0][0], numbers.of[1][0], numbers.of[2][0]};
  return state;
}

/// One element: its new state. `met`: at its three sides.
inline sw_numbers next_state(const sw_element& element, const sw_numbers& own, const sw_numbers* met,
                             const sw_stage& stage, DATA_TYPE* outflow, bool* is_in_trouble) {
  sw_sums sums = sw_no_sums();
  for (int side = 0; side < 3; ++side) {
#pragma HLS unroll
    const sw_through through = through_side(element, state_of(own), state_of(met[side]), side, stage);
    sw_add_point(element, through, side, 0, &sums);
  }
  sw_add_volume(element, own, stage, &sums);
  sw_numbers next;
  for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
#pragma HLS unroll
    next.of[unknown][0] = own.of[unknown][0] + stage.dt * sums.rate.of[unknown][0];
  }
  *outflow = stage.dt * sums.outflow;
  *is_in_trouble = sw_is_in_trouble(sums, stage) != 0;
  return next;
}

/// The element kernel over steps `first` to `first` + `steps`. `states`: two of each element, of which the
/// first is that of the first step. `beyond_edges`: room for what lies beyond outer edges. `trouble`: the
/// step in which an element was not deep enough, too fast or not a number, from which on the states stay as
/// they are; else as it was. Without `Computes` only words pass.
template <bool Computes>
void update_elements(const sw_element* elements, sw_numbers* states, DATA_TYPE* outflow,
                     sw_numbers* beyond_edges, counts has, sw_stage stage, unsigned int first,
                     unsigned int steps, fm::stream<state_word>& beyond, fm::stream<met_word>& met_words,
                     fm::stream<state_word>& projected, int* trouble) {
  int found = *trouble;
  for (unsigned int step = 0; step < steps; ++step) {
    const sw_numbers* const before = states + (step % 2) * has.own;
    sw_numbers* const after = states + ((step + 1) % 2) * has.own;
    const state_word forcing = beyond.read();
    stage.sea_xi = forcing.value[0];
    stage.river_xi = forcing.value[1];
    stage.river_inflow = forcing.value[2];
    for (unsigned int edge = 0; edge < has.outer; ++edge) {
#pragma HLS pipeline II = 1
      const state_word word = beyond.read();
      if (Computes) beyond_edges[edge] = numbers_of(word);
    }
    const bool goes_on = found < 0;
    unsigned int outer = 0;
    const unsigned int start = Computes ? 0 : (has.core < has.own ? has.core : has.own - 1);
    unsigned int cycles = start;  // since the last word
    for (unsigned int i = start; i < has.own; ++i) {
#pragma HLS pipeline II = 1
#pragma HLS dependence variable = states inter false
      met_word others;
      if (i >= has.core) {
        fm::spend_cycles(cycles);
        cycles = 0;
        others = met_words.read();
      }
      bool is_at_edge = i >= has.core || i + 1 == has.own;
      sw_numbers next = {};
      if (Computes) {
        const sw_element& element = elements[i];
        sw_numbers met[3];
        bool is_open = false;
        for (int side = 0; side < 3; ++side) {
#pragma HLS unroll
          const int code = element.code[side];
          if (code < 0) {
            met[side] = beyond_edges[outer++];
            is_at_edge = true;
            is_open = is_open || code < SW_LAND;
          } else if ((unsigned int)(code >> 2) < has.own) {
            met[side] = before[code >> 2];
          } else {
            met[side] = at_side(others, side);
          }
        }
        if (goes_on) {
          DATA_TYPE out;
          bool is_in_trouble;
          next = next_state(element, before[i], met, stage, &out, &is_in_trouble);
          after[i] = next;
          if (is_open) outflow[i] += out;
          if (is_in_trouble && found < 0) found = (int)(first + step);
        } else {
          next = before[i];
          after[i] = next;
        }
      }
      ++cycles;
      if (is_at_edge && step + 1 < steps) {
        fm::spend_cycles(cycles);
        cycles = 0;
        projected.write(word_of(next));
      }
    }
    fm::spend_cycles(cycles);
  }
  *trouble = found;
}

/// The edge kernel. `states`: of the elements that it hears of, at the first step. `slots`: of those that
/// leave, in the order of messages. `forcing`: a word for each step.
template <bool Computes>
void update_edges(sw_numbers* states, const outer_edge* edges, const unsigned int* slots,
                  const state_word* forcing, counts has, unsigned int steps,
                  fm::stream<state_word>& projected, fm::stream<state_word>& beyond,
                  fm::stream<state_word>& leaving) {
  const unsigned int words = has.outer > has.leaving ? has.outer : has.leaving;
  for (unsigned int step = 0; step < steps; ++step) {
    for (unsigned int i = 0; step > 0 && i < has.projected; ++i) {
#pragma HLS pipeline II = 1
      const state_word word = projected.read();
      if (Computes) states[i] = numbers_of(word);
    }
    const state_word now = forcing[Computes ? step : 0];
    beyond.write(now);
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      if (i < has.outer) {
        state_word word = {};
        if (Computes) {
          const outer_edge edge = edges[i];
          const sw_state state = state_of(states[edge.slot]);
          const sw_state other =
              sw_beyond(state, state, edge.code, edge.nx, edge.ny, now.value[0], now.value[1], now.value[2]);
          word.value[0] = other.xi;
          word.value[1] = other.u;
          word.value[2] = other.v;
        }
        beyond.write(word);
      }
      if (i < has.leaving) leaving.write(Computes ? word_of(states[slots[i]]) : state_word());
    }
  }
}

/// Puts a halo in the order of the border elements. `places`: in the halo, of what each of them meets at its
/// three sides; below 0 where that is on the own device.
inline void pass_on(const state_word* halo, const int* places, unsigned int border,
                    fm::stream<met_word>& met_words) {
  for (unsigned int i = 0; i < border; ++i) {
#pragma HLS pipeline II = 1
    met_word word = {};
    for (int side = 0; side < 3; ++side) {
#pragma HLS unroll
      const int place = places[3 * i + side];
      for (int unknown = 0; unknown < SW_UNKNOWNS; ++unknown) {
#pragma HLS unroll
        if (place >= 0) word.value[side * SW_UNKNOWNS + unknown] = halo[place].value[unknown];
      }
    }
    met_words.write(word);
  }
}

/// Words of a message, which begins with a word of its own.
inline unsigned int words_of(unsigned int elements) {
  return (elements + in_engine_word - 1) / in_engine_word;
}

/// Whether an element of a message is the last one in a word.
inline bool ends_word(unsigned int place, unsigned int elements) {
  return place % in_engine_word + 1 == in_engine_word || place + 1 == elements;
}

/// Puts an element of a message in its place in a word; whether that is complete then.
inline bool put(engine_word* wide, const state_word& word, unsigned int place, unsigned int elements) {
  const unsigned int lane = place % in_engine_word;
  if (lane == 0) *wide = engine_word();
  for (unsigned int i = 0; i < 4; ++i) {
#pragma HLS unroll
    wide->value[4 * lane + i] = word.value[i];
  }
  return ends_word(place, elements);
}

inline state_word taken(const engine_word& wide, unsigned int place) {
  state_word word;
  for (unsigned int i = 0; i < 4; ++i) {
#pragma HLS unroll
    word.value[i] = wide.value[4 * (place % in_engine_word) + i];
  }
  return word;
}

}  // namespace shallow_water_kernels

#endif
