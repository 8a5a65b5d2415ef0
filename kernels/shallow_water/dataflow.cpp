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

#if !defined(DATA_TYPE)  // the parameters of the build
#define DATA_TYPE float
#define FLUX rusanov
#define PARTITION_ELEMENTS 8192
#endif
#define ORDER 0
#define WIDTH 1
#define __constant  // OpenCL's, of tables

#include "shallow_water/partition.hpp"

namespace sw_kernels = shallow_water_kernels;

extern "C" {  // v++ looks for kernels by their plain names

// Over links: neighbour n at link n. `sent`, `received`: sums of what went to and came from each neighbour.

void send_over_links(const sw_kernels::neighbour* neighbours, unsigned int count, unsigned int steps,
                     fm::stream<sw_kernels::state_word>& leaving, fm::stream<sw_kernels::state_word>& link_0,
                     fm::stream<sw_kernels::state_word>& link_1, fm::stream<sw_kernels::state_word>& link_2,
                     fm::stream<sw_kernels::state_word>& link_3, unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = sent bundle = sent
  for (unsigned int step = 0; step < steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const unsigned int elements = neighbours[n].sent;
      unsigned long long sum = 0;
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const sw_kernels::state_word word = leaving.read();
        sum += sw_kernels::mark_of(word, (unsigned long long)step * elements + i);
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
void keep_halo(unsigned long long words, fm::stream<sw_kernels::state_word>& link,
               fm::stream<sw_kernels::state_word>& kept) {
  for (unsigned long long i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    kept.write(link.read());
  }
}

void receive_over_links(const sw_kernels::neighbour* neighbours, const int* places,
                        sw_kernels::state_word* halo, sw_kernels::counts has, unsigned int steps,
                        fm::stream<sw_kernels::state_word>& link_0,
                        fm::stream<sw_kernels::state_word>& link_1,
                        fm::stream<sw_kernels::state_word>& link_2,
                        fm::stream<sw_kernels::state_word>& link_3,
                        fm::stream<sw_kernels::met_word>& met_words, unsigned long long* received) {
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
        sw_kernels::state_word word;
        if (n == 0) word = link_0.read();
        if (n == 1) word = link_1.read();
        if (n == 2) word = link_2.read();
        if (n == 3) word = link_3.read();
        sum += sw_kernels::mark_of(word, (unsigned long long)step * elements + i);
        halo[first + i] = word;
      }
      received[n] += sum;
      first += elements;
    }
    sw_kernels::pass_on(halo, places, has.own - has.core, met_words);
  }
}

// By an engine: a stream out, and memory in which messages arrive in the order of the neighbours.

/// `ready` hears of each message that it begins to leave, where `tells` is not 0.
void send_by_engine(const sw_kernels::neighbour* neighbours, unsigned int count, unsigned int first_step,
                    unsigned int steps, unsigned int tells, fm::stream<sw_kernels::state_word>& leaving,
                    fm::stream<fm::accl_data>& to_engine, fm::stream<int>& ready, unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = sent bundle = sent
  for (unsigned int step = first_step; step < first_step + steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const unsigned int elements = neighbours[n].sent;
      unsigned long long sum = 0;
      sw_kernels::engine_word wide = {};
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const sw_kernels::state_word word = leaving.read();
        if (tells != 0 && i == 0) ready.write(1);
        if (sw_kernels::put(&wide, word, i, elements)) {
          sum += sw_kernels::mark_of(wide, (unsigned long long)step * elements + i);
          to_engine.write(fm::accl_packed(wide.value, 0));
        }
      }
      sent[n] += sum;
    }
  }
}

/// Calls the engine by two ports: a send to each neighbour, once its elements come in stream 0; a receive
/// from each into memory at address `memory`, one after the other. `arrived` hears of each that is there.
/// `communicator` to `compression`: what commands of the host's have there (fm::accl_use).
/// `failed`: how many calls ended with an error, and the status of the first one.
void call_for_halos(const sw_kernels::neighbour* neighbours, unsigned int count, unsigned int steps,
                    unsigned long long memory, unsigned int communicator, unsigned int datapath,
                    unsigned int compression, fm::stream<int>& ready, fm::stream<int>& arrived,
                    fm::stream<fm::accl_request>& sends, fm::stream<fm::accl_word>& sent,
                    fm::stream<fm::accl_request>& receives, fm::stream<fm::accl_word>& received,
                    int* failed) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = failed bundle = failed
  const fm::accl_use calling = {communicator, datapath, compression};
  const unsigned int in_word = 16;  // elements of the engine
  fm::accl_outcome outcome = {};
  for (unsigned int step = 0; step < steps; ++step) {
    for (unsigned int n = 0; n < count; ++n) {
      const sw_kernels::neighbour other = neighbours[n];
      ready.read();
      const unsigned int elements = in_word * sw_kernels::words_of(other.sent);
      fm::accl_issue(sends, fm::accl_send(calling, fm::accl_stream(0), elements, other.rank, 0));
    }
    unsigned long long first = 0;
    for (unsigned int n = 0; n < count; ++n) {
      const sw_kernels::neighbour other = neighbours[n];
      const unsigned int elements = in_word * sw_kernels::words_of(other.received);
      fm::accl_issue(receives,
                     fm::accl_recv(calling, fm::accl_memory(memory + first), elements, other.rank, 0));
      first += elements * sizeof(DATA_TYPE);
      fm::accl_count(received, outcome);
      arrived.write(1);
    }
    for (unsigned int n = 0; n < count; ++n) fm::accl_count(sent, outcome);
  }
  fm::accl_tell(outcome, failed);
}

/// From memory, in which messages lie in the order of the `count` neighbours, for so many elements at the
/// `border`; where `waits` is not 0, each is read once `arrived` says that it is there.
void receive_from_memory(const sw_kernels::neighbour* neighbours, const int* places,
                         const sw_kernels::engine_word* memory, sw_kernels::state_word* halo,
                         unsigned int count, unsigned int border, unsigned int first_step, unsigned int steps,
                         unsigned int waits, fm::stream<int>& arrived,
                         fm::stream<sw_kernels::met_word>& met_words, unsigned long long* received) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = places bundle = places
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = m_axi port = received bundle = received
  for (unsigned int step = first_step; step < first_step + steps; ++step) {
    unsigned int first = 0;
    unsigned int first_word = 0;
    for (unsigned int n = 0; n < count; ++n) {
      const unsigned int elements = neighbours[n].received;
      if (waits != 0) arrived.read();
      unsigned long long sum = 0;
      for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
        const sw_kernels::engine_word wide = memory[first_word + i / sw_kernels::in_engine_word];
        if (sw_kernels::ends_word(i, elements)) {
          sum += sw_kernels::mark_of(wide, (unsigned long long)step * elements + i);
        }
        halo[first + i] = sw_kernels::taken(wide, i);
      }
      fm::spend_cycles(elements);
      received[n] += sum;
      first += elements;
      first_word += sw_kernels::words_of(elements);
    }
    sw_kernels::pass_on(halo, places, border, met_words);
  }
}

/// The halo of one step into memory, which the host sends on: the message to each neighbour one behind the
/// other.
void store_halo(const sw_kernels::neighbour* neighbours, unsigned int count, unsigned int step,
                fm::stream<sw_kernels::state_word>& leaving, sw_kernels::engine_word* memory,
                unsigned long long* sent) {
#pragma HLS interface mode = m_axi port = neighbours bundle = neighbours
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = m_axi port = sent bundle = sent
  unsigned int first = 0;
  for (unsigned int n = 0; n < count; ++n) {
    const unsigned int elements = neighbours[n].sent;
    unsigned long long sum = 0;
    sw_kernels::engine_word wide = {};
    for (unsigned int i = 0; i < elements; ++i) {
#pragma HLS pipeline II = 1
      const sw_kernels::state_word word = leaving.read();
      if (sw_kernels::put(&wide, word, i, elements)) {
        sum += sw_kernels::mark_of(wide, (unsigned long long)step * elements + i);
        memory[first + i / sw_kernels::in_engine_word] = wide;
      }
    }
    sent[n] += sum;
    first += sw_kernels::words_of(elements);
  }
}

/// The element kernel, with all of the partition in local memory from its start to its end. Numbers are those
/// of sw_kernels::counts and sw_stage, one by one, as hosts give no structures.
void element_kernel(const sw_kernels::sw_element* elements, sw_kernels::sw_numbers* states,
                    DATA_TYPE* outflow, unsigned int core, unsigned int own, unsigned int outer, DATA_TYPE dt,
                    DATA_TYPE gravity, DATA_TYPE friction, DATA_TYPE linear_friction, DATA_TYPE coriolis,
                    DATA_TYPE least_depth, unsigned int first, unsigned int steps,
                    fm::stream<sw_kernels::state_word>& beyond, fm::stream<sw_kernels::met_word>& met_words,
                    fm::stream<sw_kernels::state_word>& projected, int* trouble) {
#pragma HLS interface mode = m_axi port = elements bundle = elements
#pragma HLS interface mode = m_axi port = states bundle = states
#pragma HLS interface mode = m_axi port = outflow bundle = outflow
#pragma HLS interface mode = m_axi port = trouble bundle = trouble
  sw_kernels::counts has = {};
  has.core = core;
  has.own = own;
  has.outer = outer;
  sw_kernels::sw_stage stage = {};
  stage.dt = dt;
  stage.take = 1;
  stage.gravity = gravity;
  stage.friction = friction;
  stage.linear_friction = linear_friction;
  stage.coriolis = coriolis;
  stage.least_depth = least_depth;
  static sw_kernels::sw_element local_elements[PARTITION_ELEMENTS];
  static sw_kernels::sw_numbers local_states[2 * PARTITION_ELEMENTS];
  static sw_kernels::sw_numbers beyond_edges[PARTITION_ELEMENTS];
  static DATA_TYPE local_outflow[PARTITION_ELEMENTS];
  for (unsigned int i = 0; i < has.own; ++i) {
    local_elements[i] = elements[i];
    local_states[i] = states[i];
    local_outflow[i] = outflow[i];
  }
  sw_kernels::update_elements<true>(local_elements, local_states, local_outflow, beyond_edges, has, stage,
                                    first, steps, beyond, met_words, projected, trouble);
  for (unsigned int i = 0; i < has.own; ++i) {
    states[i] = local_states[(steps % 2) * has.own + i];
    outflow[i] = local_outflow[i];
  }
}

/// The edge kernel, the same.
void edge_kernel(const sw_kernels::sw_numbers* states, const sw_kernels::outer_edge* edges,
                 const unsigned int* slots, const sw_kernels::state_word* forcing, unsigned int outer,
                 unsigned int known, unsigned int leaves, unsigned int steps,
                 fm::stream<sw_kernels::state_word>& projected, fm::stream<sw_kernels::state_word>& beyond,
                 fm::stream<sw_kernels::state_word>& leaving) {
#pragma HLS interface mode = m_axi port = states bundle = states
#pragma HLS interface mode = m_axi port = edges bundle = edges
#pragma HLS interface mode = m_axi port = slots bundle = slots
#pragma HLS interface mode = m_axi port = forcing bundle = forcing
  sw_kernels::counts has = {};
  has.outer = outer;
  has.projected = known;
  has.leaving = leaves;
  static sw_kernels::sw_numbers local_states[PARTITION_ELEMENTS];
  static sw_kernels::outer_edge local_edges[PARTITION_ELEMENTS];
  static unsigned int local_slots[2 * PARTITION_ELEMENTS];
  for (unsigned int i = 0; i < has.projected; ++i) local_states[i] = states[i];
  for (unsigned int i = 0; i < has.outer; ++i) local_edges[i] = edges[i];
  for (unsigned int i = 0; i < has.leaving; ++i) local_slots[i] = slots[i];
  sw_kernels::update_edges<true>(local_states, local_edges, local_slots, forcing, has, steps, projected,
                                 beyond, leaving);
}

}  // extern "C"

#undef DATA_TYPE
#undef FLUX
#undef PARTITION_ELEMENTS
#undef ORDER
#undef WIDTH
#undef __constant
