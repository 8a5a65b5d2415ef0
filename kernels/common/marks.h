// Marks of what ranks exchange: both ends make them of every number, and the host compares them.
#ifndef FABRICMARK_MARKS_H
#define FABRICMARK_MARKS_H

#include "common/numbers.h"

#if defined(FM_NEEDS_DOUBLE)
#define FM_BITS(value) as_ulong(value)
#else
#define FM_BITS(value) ((ulong)as_uint(value))
#endif

// A mark of all that came before, and of one number more: once two differ, they differ until the end, as each
// step can be undone.
static inline ulong fm_marked(ulong mark, const scalar number) {
  mark = (mark ^ FM_BITS(number)) * 0x9E3779B97F4A7C15UL;
  return mark ^ (mark >> 32);
}

#endif
