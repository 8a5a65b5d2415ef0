// RandomAccess, throughput kernel for CPUs and GPUs: each work-item makes LANES stretches of the HPCC
// sequence and applies the updates of its kernel's part of the table.
//
// An update waits in a queue of BUFFER_SIZE while its item is on the way. It then reads and writes the item
// in one go, so that a single work-item loses no update. Of several work-items on one part two may read an
// item before either has written it, and one update is lost: never with ATOMIC, which changes an item at
// once, or, on a device without such an instruction, its halves one by one, as exclusive or treats each bit
// by itself.
#include "common/dialect.h"
#include "random_access/sequence.h"

#if ATOMIC && defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

typedef FM_VECTOR(ulong, LANES) lanes;

typedef struct {
  ulong update[BUFFER_SIZE];  // 0, which is no number of the sequence: none
  uint oldest;
} Queue;

static inline void apply(__global ulong* const items, const ulong update, const uint log_part) {
  const ulong item = own_item(update, log_part);
#if ATOMIC && defined(cl_khr_int64_extended_atomics)
  atom_xor((volatile __global ulong*)(items + item), update);
#elif ATOMIC
  volatile __global uint* const halves = (volatile __global uint*)(items + item);
  atomic_xor(halves, (uint)update);
  atomic_xor(halves + 1, (uint)(update >> 32));
#else
  items[item] ^= update;
#endif
}

static inline void push(Queue* const queue, __global ulong* const items, const ulong update,
                        const uint log_part) {
#if BUFFER_SIZE == 1
  apply(items, update, log_part);
#else
  FM_PREFETCH(items[own_item(update, log_part)]);
  const ulong oldest = queue->update[queue->oldest];
  queue->update[queue->oldest] = update;
  queue->oldest = (queue->oldest + 1) % BUFFER_SIZE;
  if (oldest != 0) apply(items, oldest, log_part);
#endif
}

// All numbers are wanted: LANES of them at a time.
static inline void update_all(Queue* const queue, __global ulong* const items, lanes number,
                              const ulong steps, const uint log_part) {
  for (ulong step = 0; step < steps; ++step) {
    union {
      lanes vector;
      ulong number[LANES];
    } current;
    current.vector = number;
    number = (number << 1) ^ ((0 - (number >> 63)) & RA_POLYNOMIAL);
    FM_UNROLL_FULLY
    for (uint k = 0; k < LANES; ++k) push(queue, items, current.number[k], log_part);
  }
}

// The number `steps` further on, at most MOST_STEPS: the bits shifted out come back times the polynomial.
#define MOST_STEPS 62
static inline ulong later_number(const ulong number, const uint steps) {
  const ulong out = number >> 1 >> (63 - steps);
  return (number << steps) ^ out ^ (out << 1) ^ (out << 2);
}

// Bit 63 - k is set where the number k steps further on is in this part. The bits of an item's address are
// those of `number`, shifted, so that all steps are looked at together; log_part is at least 2.
static inline ulong own_steps(const ulong number, const uint log_part, const uint log_table,
                              const ulong part) {
  ulong own = ~0UL;
  for (uint bit = log_part; bit < log_table; ++bit) {
    const ulong is_set =
        (number << (63 - bit)) ^ (number >> (bit + 1)) ^ (number >> bit) ^ (number >> (bit - 1));
    own &= is_set ^ ((part >> (bit - log_part) & 1) - 1);
  }
  return own;
}

// Only some numbers are wanted: the others are not even generated.
static inline void update_own(Queue* const queue, __global ulong* const items, ulong number,
                              const ulong steps, const uint log_part, const uint log_table,
                              const ulong part) {
  for (ulong left = steps; left > 0;) {
    const uint count = (uint)min(left, (ulong)MOST_STEPS);
    ulong own = own_steps(number, log_part, log_table, part) & (~0UL << (64 - count));
    while (own != 0) {
      const uint step = (uint)clz(own);
      own ^= 1UL << (63 - step);
      push(queue, items, later_number(number, step), log_part);
    }
    number = later_number(number, count);
    left -= count;
  }
}

__kernel void random_access(__global ulong* restrict items, __global const ulong* restrict seeds,
                            const ulong numbers_each, const uint log_part, const uint log_table,
                            const ulong part) {
  const size_t first = get_global_id(0) * LANES;
  Queue queue;
  for (uint k = 0; k < BUFFER_SIZE; ++k) queue.update[k] = 0;
  queue.oldest = 0;
  if (log_part == log_table) {
    lanes number;
    for (uint k = 0; k < LANES; ++k) ((ulong*)&number)[k] = seeds[first + k];
    update_all(&queue, items, number, numbers_each, log_part);
  } else {
    for (uint k = 0; k < LANES; ++k) {
      update_own(&queue, items, seeds[first + k], numbers_each, log_part, log_table, part);
    }
  }
  for (uint k = 0; k < BUFFER_SIZE; ++k) {
    if (queue.update[k] != 0) apply(items, queue.update[k], log_part);
  }
}
