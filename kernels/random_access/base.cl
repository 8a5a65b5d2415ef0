// RandomAccess, base kernel: a single work-item design for FPGAs (Meyer 2024, sections 3.1.3
// and 4.1.4).
//
// 2^LOG_RNGS generators each make a stretch of the HPCC sequence, all together the whole of it. In every
// cycle each one whose number belongs to this kernel's part of the table puts it into a shift register
// (Fig. 4.9), unless the place is taken: then it waits. Numbers of other parts are dropped. So the more parts
// there are, the more generators keep the one update unit busy.
//
// The update unit takes what leaves the register. BUFFER_SIZE cycles read items into local memory, then as
// many write them back: the memory sees long runs of one kind, but where two of these cycles name the same
// item the earlier update is lost. With BUFFER_SIZE 1 none is lost, unless IGNORE_DEPENDENCE lets the tool
// begin a read before the writes of earlier cycles have arrived.
#include "common/dialect.h"
#include "random_access/sequence.h"

#define RNGS (1 << LOG_RNGS)
#define REGISTER_LENGTH ((RNGS - 1) * RNG_DISTANCE + 1)

#if FM_REPLICA == 0
typedef struct {
  ulong number[RNGS];            // the next of each generator
  ulong left[RNGS];              // how many it has still to give
  ulong place[REGISTER_LENGTH];  // 0, which is no number of the sequence: free
  long unfinished;               // numbers that are neither dropped nor out of the register
} Generators;

// One cycle; returns the update that leaves the register, or 0.
static inline ulong cycle(Generators* const state, const uint log_part, const uint log_table,
                          const ulong part) {
  uint finished = 0;
  FM_UNROLL_FULLY
  for (uint r = 0; r < RNGS; ++r) {
    const bool is_wanted = is_own(state->number[r], log_part, log_table, part);
    const bool is_free = state->place[r * RNG_DISTANCE] == 0;
    if (state->left[r] == 0 || (is_wanted && !is_free)) continue;
    if (is_wanted) state->place[r * RNG_DISTANCE] = state->number[r];
    finished += is_wanted ? 0 : 1;
    state->number[r] = next_number(state->number[r]);
    --state->left[r];
  }
  const ulong update = state->place[0];
  FM_UNROLL_FULLY
  for (uint i = 0; i + 1 < REGISTER_LENGTH; ++i) state->place[i] = state->place[i + 1];
  state->place[REGISTER_LENGTH - 1] = 0;
  state->unfinished -= (long)finished + (update != 0 ? 1 : 0);
  return update;
}
#endif

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(random_access)(__global ulong* restrict table,
                                           __global const ulong* restrict seeds, const ulong numbers_each,
                                           const uint log_part, const uint log_table, const ulong part) {
  Generators state;
  for (uint r = 0; r < RNGS; ++r) {
    state.number[r] = seeds[r];
    state.left[r] = numbers_each;
  }
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_LENGTH; ++i) state.place[i] = 0;
  state.unfinished = (long)(numbers_each * RNGS);

#if BUFFER_SIZE == 1
#if IGNORE_DEPENDENCE
  FM_IGNORE_DEPENDENCE(table)
#endif
  FM_PIPELINE
  while (state.unfinished > 0) {
    const ulong update = cycle(&state, log_part, log_table, part);
    if (update != 0) table[own_item(update, log_part)] ^= update;
  }
#else
  while (state.unfinished > 0) {
    ulong update[BUFFER_SIZE];
    ulong item[BUFFER_SIZE];
    FM_PIPELINE
    for (uint k = 0; k < BUFFER_SIZE; ++k) {
      update[k] = cycle(&state, log_part, log_table, part);
      if (update[k] != 0) item[k] = table[own_item(update[k], log_part)];
    }
    FM_PIPELINE
    for (uint k = 0; k < BUFFER_SIZE; ++k) {
      if (update[k] != 0) table[own_item(update[k], log_part)] = item[k] ^ update[k];
    }
  }
#endif
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
