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
// Which of 2^log_table items a kernel has: those whose number has these bits where `mask` has ones.
typedef struct {
  ulong mask;
  ulong bits;
} Part;

static inline Part make_part(const uint log_part, const uint log_table, const ulong part) {
  const Part found = {(1UL << log_table) - (1UL << log_part), part << log_part};
  return found;
}

// One cycle of the generators; returns the update that leaves the register, or 0. `number`: the next of each;
// `left`: how many it has still to give; `place`: the register, where 0, which is no number of the sequence,
// is free; `unfinished`: numbers that are neither dropped nor out of the register.
static inline ulong cycle(ulong number[RNGS], ulong left[RNGS], ulong place[REGISTER_LENGTH],
                          long* const unfinished, const Part part) {
  FM_HLS(inline)
  uint finished = 0;
  FM_UNROLL_FULLY
  for (uint r = 0; r < RNGS; ++r) {
    FM_HLS(unroll)
    const bool is_wanted = (number[r] & part.mask) == part.bits;
    const bool is_free = place[r * RNG_DISTANCE] == 0;
    if (left[r] == 0 || (is_wanted && !is_free)) continue;
    if (is_wanted) place[r * RNG_DISTANCE] = number[r];
    finished += is_wanted ? 0 : 1;
    number[r] = next_number(number[r]);
    --left[r];
  }
  const ulong update = place[0];
  FM_UNROLL_FULLY
  for (uint i = 0; i + 1 < REGISTER_LENGTH; ++i) {
    FM_HLS(unroll)
    place[i] = place[i + 1];
  }
  place[REGISTER_LENGTH - 1] = 0;
  *unfinished -= (long)finished + (update != 0 ? 1 : 0);
  return update;
}
#endif

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(random_access)(FM_GLOBAL(random_access, items) ulong* restrict items,
                                           FM_GLOBAL(random_access, seeds) const ulong* restrict seeds,
                                           const ulong numbers_each, const uint log_part,
                                           const uint log_table, const ulong part) {
  FM_PORT(items)
  FM_PORT(seeds)
  FM_SCALAR(numbers_each)
  FM_SCALAR(log_part)
  FM_SCALAR(log_table)
  FM_SCALAR(part)
  FM_CONTROL
  // All in registers: each cycle changes all of it.
  ulong number[RNGS] FM_REGISTERS;
  FM_HLS(array_partition variable = number complete dim = 0)
  ulong left[RNGS] FM_REGISTERS;
  FM_HLS(array_partition variable = left complete dim = 0)
  ulong place[REGISTER_LENGTH] FM_REGISTERS;
  FM_HLS(array_partition variable = place complete dim = 0)
  FM_UNROLL_FULLY
  for (uint r = 0; r < RNGS; ++r) {
    FM_HLS(unroll)
    number[r] = seeds[r];
    left[r] = numbers_each;
  }
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_LENGTH; ++i) {
    FM_HLS(unroll)
    place[i] = 0;
  }
  long unfinished = (long)(numbers_each * RNGS);
  const Part own = make_part(log_part, log_table, part);

#if BUFFER_SIZE == 1
#if IGNORE_DEPENDENCE
  FM_IGNORE_DEPENDENCE(items)
#endif
  FM_PIPELINE
  while (unfinished > 0) {
    FM_HLS(pipeline II = 1)
#if IGNORE_DEPENDENCE
    FM_HLS(dependence variable = items inter false)
#endif
    const ulong update = cycle(number, left, place, &unfinished, own);
    if (update != 0) items[own_item(update, log_part)] ^= update;
  }
#else
  FM_SERIAL
  while (unfinished > 0) {
    ulong update[BUFFER_SIZE];
    ulong item[BUFFER_SIZE];
    FM_PIPELINE
    for (uint k = 0; k < BUFFER_SIZE; ++k) {
      FM_HLS(pipeline II = 1)
      update[k] = cycle(number, left, place, &unfinished, own);
      if (update[k] != 0) item[k] = items[own_item(update[k], log_part)];
    }
    FM_NO_FUSION
    FM_PIPELINE
    for (uint k = 0; k < BUFFER_SIZE; ++k) {
      FM_HLS(pipeline II = 1)
      if (update[k] != 0) items[own_item(update[k], log_part)] = item[k] ^ update[k];
    }
  }
#endif
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
