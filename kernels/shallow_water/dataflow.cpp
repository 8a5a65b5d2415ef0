// Shallow water as dataflow kernels: piecewise constant elements, a partition of the mesh in the local memory
// of each device (Meyer 2024, section 5.2.1, Figs. 5.9 and 5.10; Faj et al. 2023). Not tried with Vitis.
//
// - The element kernel takes one element a cycle: first those of the core, which need nothing from other
//   devices, so that the halo of the step before arrives meanwhile; then those of the border.
// - The edge kernel gets what the element kernel made of elements at an edge of the partition. It tells what
//   lies beyond outer edges (land, sea, rivers), and passes on the border in the order of messages.
// - A send and a receive kernel are the ends of the way to other devices: links, an engine of messages, or
//   memory that the host exchanges. The receive kernel puts what comes in the order of the border elements.
//
// Both ends add up each word with its number, so that a word that is lost, late, swapped or changed shows.
#include "common/dataflow.hpp"
#include "common/accl.hpp"

#include <cmath>

#if !defined(DATA_TYPE)  // the parameters of the build
#define DATA_TYPE float
#define FLUX rusanov
#define PARTITION_ELEMENTS 8192
#endif
#define ORDER 0
#define WIDTH 1
#define __constant  // OpenCL's, of tables

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
inline void pass_on(const state_word* halo, const int* places, counts has, fm::stream<met_word>& met_words) {
  for (unsigned int i = 0; i < has.own - has.core; ++i) {
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

extern "C" {  // v++ looks for kernels by their plain names

// Over links: neighbour n at link n. `sent`, `received`: sums of what went to and came from each neighbour.

void send_over_links(const shallow_water_kernels::neighbour* neighbours, unsigned int count,
                     unsigned int steps, fm::stream<shallow_water_kernels::state_word>& leaving,
                     fm::stream<shallow_water_kernels::state_word>& link_0,
                     fm::stream<shallow_water_kernels::state_word>& link_1,
                     fm::stream<shallow_water_kernels::state_word>& link_2,
                     fm::stream<shallow_water_kernels::state_word>& link_3, unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = sent bundle = sent
  for (unsigned int step = 0; step < steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const unsigned int elements = neighbours[n].sent;
      unsigned long long sum = 0;
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const shallow_water_kernels::state_word word = leaving.read();
        sum += shallow_water_kernels::mark_of(word, (unsigned long long)step * elements + i);
        if (n == 0) link_0.write(word);
        if (n == 1) link_1.write(word);
        if (n == 2) link_2.write(word);
        if (n == 3) link_3.write(word);
      }
      sent[n] += sum;
    }
  }
}

/// Takes what comes over a link as it comes, so that no device waits for another one's link. `words`: of all
/// steps; `kept` has room for two messages.
void keep_halo(unsigned long long words, fm::stream<shallow_water_kernels::state_word>& link,
               fm::stream<shallow_water_kernels::state_word>& kept) {
  for (unsigned long long i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    kept.write(link.read());
  }
}

void receive_over_links(const shallow_water_kernels::neighbour* neighbours, const int* places,
                        shallow_water_kernels::state_word* halo, shallow_water_kernels::counts has,
                        unsigned int steps, fm::stream<shallow_water_kernels::state_word>& link_0,
                        fm::stream<shallow_water_kernels::state_word>& link_1,
                        fm::stream<shallow_water_kernels::state_word>& link_2,
                        fm::stream<shallow_water_kernels::state_word>& link_3,
                        fm::stream<shallow_water_kernels::met_word>& met_words,
                        unsigned long long* received) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = places bundle = places
#pragma HLS interface mode = m_axi port = received bundle = received
  for (unsigned int step = 0; step < steps; ++step) {
    unsigned int first = 0;
    for (unsigned int n = 0; n < has.neighbours; ++n) {
      const unsigned int elements = neighbours[n].received;
      unsigned long long sum = 0;
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        shallow_water_kernels::state_word word;
        if (n == 0) word = link_0.read();
        if (n == 1) word = link_1.read();
        if (n == 2) word = link_2.read();
        if (n == 3) word = link_3.read();
        sum += shallow_water_kernels::mark_of(word, (unsigned long long)step * elements + i);
        halo[first + i] = word;
      }
      received[n] += sum;
      first += elements;
    }
    shallow_water_kernels::pass_on(halo, places, has, met_words);
  }
}

// By an engine: a stream out, and memory in which messages arrive in the order of the neighbours.

/// `ready` hears of each message that it begins to leave, where `tells` is not 0.
void send_by_engine(const shallow_water_kernels::neighbour* neighbours, unsigned int count,
                    unsigned int first_step, unsigned int steps, unsigned int tells,
                    fm::stream<shallow_water_kernels::state_word>& leaving,
                    fm::stream<shallow_water_kernels::engine_word>& out, fm::stream<int>& ready,
                    unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = sent bundle = sent
  for (unsigned int step = first_step; step < first_step + steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const unsigned int elements = neighbours[n].sent;
      unsigned long long sum = 0;
      shallow_water_kernels::engine_word wide = {};
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const shallow_water_kernels::state_word word = leaving.read();
        if (tells != 0 && i == 0) ready.write(1);
        if (shallow_water_kernels::put(&wide, word, i, elements)) {
          sum += shallow_water_kernels::mark_of(wide, (unsigned long long)step * elements + i);
          out.write(wide);
        }
      }
      sent[n] += sum;
    }
  }
}

/// Calls the engine by two ports: a send to each neighbour, once its elements come in stream 0; a receive
/// from each into memory `memory`, one after the other. `arrived` hears of each that is there. `failed`: how
/// many calls ended with an error, and the code of the first one.
void call_for_halos(const shallow_water_kernels::neighbour* neighbours, unsigned int count,
                    unsigned int steps, int memory, fm::stream<int>& ready, fm::stream<int>& arrived,
                    fm::stream<fm::accl_command>& sends, fm::stream<fm::accl_status>& sent,
                    fm::stream<fm::accl_command>& receives, fm::stream<fm::accl_status>& received,
                    int* failed) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = failed bundle = failed
  const unsigned int in_word = 16;  // elements of the engine
  int failures = 0;
  int first_code = 0;
  for (unsigned int step = 0; step < steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const shallow_water_kernels::neighbour other = neighbours[n];
      ready.read();
      sends.write(fm::accl_send(fm::accl_stream(0), in_word * shallow_water_kernels::words_of(other.sent),
                                other.rank, 0));
    }
    unsigned long long first = 0;
    for (unsigned int n = 0; n < count; ++n) {
      const shallow_water_kernels::neighbour other = neighbours[n];
      const unsigned int elements = in_word * shallow_water_kernels::words_of(other.received);
      receives.write(fm::accl_recv(fm::accl_memory(memory, first), elements, other.rank, 0));
      first += elements;
      const int code = received.read().code;
      if (code != 0 && failures == 0) first_code = code;
      failures += code != 0 ? 1 : 0;
      arrived.write(1);
    }
    for (unsigned int n = 0; n < count; ++n) {
      const int code = sent.read().code;
      if (code != 0 && failures == 0) first_code = code;
      failures += code != 0 ? 1 : 0;
    }
  }
  failed[0] = failures;
  failed[1] = first_code;
}

/// From memory, in which messages lie in the order of the neighbours; where `waits` is not 0, each is read
/// once `arrived` says that it is there.
void receive_from_memory(const shallow_water_kernels::neighbour* neighbours, const int* places,
                         const shallow_water_kernels::engine_word* memory,
                         shallow_water_kernels::state_word* halo, shallow_water_kernels::counts has,
                         unsigned int first_step, unsigned int steps, unsigned int waits,
                         fm::stream<int>& arrived, fm::stream<shallow_water_kernels::met_word>& met_words,
                         unsigned long long* received) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = places bundle = places
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = m_axi port = received bundle = received
  for (unsigned int step = first_step; step < first_step + steps; ++step) {
    unsigned int first = 0;
    unsigned int first_word = 0;
    for (unsigned int n = 0; n < has.neighbours; ++n) {
      const unsigned int elements = neighbours[n].received;
      if (waits != 0) arrived.read();
      unsigned long long sum = 0;
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const shallow_water_kernels::engine_word wide =
            memory[first_word + i / shallow_water_kernels::in_engine_word];
        if (shallow_water_kernels::ends_word(i, elements)) {
          sum += shallow_water_kernels::mark_of(wide, (unsigned long long)step * elements + i);
        }
        halo[first + i] = shallow_water_kernels::taken(wide, i);
      }
      fm::spend_cycles(elements);
      received[n] += sum;
      first += elements;
      first_word += shallow_water_kernels::words_of(elements);
    }
    shallow_water_kernels::pass_on(halo, places, has, met_words);
  }
}

/// The halo of one step into memory, which the host sends on: the message to each neighbour one behind the
/// other.
void store_halo(const shallow_water_kernels::neighbour* neighbours, unsigned int count, unsigned int step,
                fm::stream<shallow_water_kernels::state_word>& leaving,
                shallow_water_kernels::engine_word* memory, unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = m_axi port = sent bundle = sent
  unsigned int first = 0;
  for (unsigned int n = 0; n < count; ++n) {
    const unsigned int elements = neighbours[n].sent;
    unsigned long long sum = 0;
    shallow_water_kernels::engine_word wide = {};
    for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
      const shallow_water_kernels::state_word word = leaving.read();
      if (shallow_water_kernels::put(&wide, word, i, elements)) {
        sum += shallow_water_kernels::mark_of(wide, (unsigned long long)step * elements + i);
        memory[first + i / shallow_water_kernels::in_engine_word] = wide;
      }
    }
    sent[n] += sum;
    first += shallow_water_kernels::words_of(elements);
  }
}

/// The element kernel, with all of the partition in local memory from its start to its end.
void element_kernel(const shallow_water_kernels::sw_element* elements,
                    shallow_water_kernels::sw_numbers* states, DATA_TYPE* outflow,
                    shallow_water_kernels::counts has, shallow_water_kernels::sw_stage stage,
                    unsigned int first, unsigned int steps,
                    fm::stream<shallow_water_kernels::state_word>& beyond,
                    fm::stream<shallow_water_kernels::met_word>& met_words,
                    fm::stream<shallow_water_kernels::state_word>& projected, int* trouble) {
#pragma HLS interface mode = m_axi port = elements bundle = elements
#pragma HLS interface mode = m_axi port = states bundle = states
#pragma HLS interface mode = m_axi port = outflow bundle = outflow
#pragma HLS interface mode = m_axi port = trouble bundle = trouble
  static shallow_water_kernels::sw_element local_elements[PARTITION_ELEMENTS];
  static shallow_water_kernels::sw_numbers local_states[2 * PARTITION_ELEMENTS];
  static shallow_water_kernels::sw_numbers beyond_edges[PARTITION_ELEMENTS];
  static DATA_TYPE local_outflow[PARTITION_ELEMENTS];
  for (unsigned int i = 0; i < has.own; ++i) {
    local_elements[i] = elements[i];
    local_states[i] = states[i];
    local_outflow[i] = outflow[i];
  }
  shallow_water_kernels::update_elements<true>(local_elements, local_states, local_outflow, beyond_edges, has,
                                               stage, first, steps, beyond, met_words, projected, trouble);
  for (unsigned int i = 0; i < has.own; ++i) {
    states[i] = local_states[(steps % 2) * has.own + i];
    outflow[i] = local_outflow[i];
  }
}

/// The edge kernel, the same.
void edge_kernel(const shallow_water_kernels::sw_numbers* states,
                 const shallow_water_kernels::outer_edge* edges, const unsigned int* slots,
                 const shallow_water_kernels::state_word* forcing, shallow_water_kernels::counts has,
                 unsigned int steps, fm::stream<shallow_water_kernels::state_word>& projected,
                 fm::stream<shallow_water_kernels::state_word>& beyond,
                 fm::stream<shallow_water_kernels::state_word>& leaving) {
#pragma HLS interface mode = m_axi port = states bundle = states
#pragma HLS interface mode = m_axi port = edges bundle = edges
#pragma HLS interface mode = m_axi port = slots bundle = slots
#pragma HLS interface mode = m_axi port = forcing bundle = forcing
  static shallow_water_kernels::sw_numbers local_states[PARTITION_ELEMENTS];
  static shallow_water_kernels::outer_edge local_edges[PARTITION_ELEMENTS];
  static unsigned int local_slots[2 * PARTITION_ELEMENTS];
  for (unsigned int i = 0; i < has.projected; ++i) local_states[i] = states[i];
  for (unsigned int i = 0; i < has.outer; ++i) local_edges[i] = edges[i];
  for (unsigned int i = 0; i < has.leaving; ++i) local_slots[i] = slots[i];
  shallow_water_kernels::update_edges<true>(local_states, local_edges, local_slots, forcing, has, steps,
                                            projected, beyond, leaving);
}

}  // extern "C"

#undef DATA_TYPE
#undef FLUX
#undef PARTITION_ELEMENTS
#undef ORDER
#undef WIDTH
#undef __constant
