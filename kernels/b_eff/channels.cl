// b_eff, kernels for Intel's external channels (Meyer 2024, section 4.1.1.2 and Figure 4.2).
//
// To each neighbour in the ring goes a pair of kernels over two channels: `send` writes a message chunk by
// chunk, as much as both channels take in a cycle, until its length is reached; `receive` takes what the
// neighbour's pair sends and tells its own `send`, which then sends the next message. Pair 0 has the channels
// 0 and 1 and exchanges with the right neighbour's pair 1, which has 2 and 3. All four kernels run at the
// same time.
//
// Beside the source, each byte is made and compared as content.h says, so that more mistakes show.
#include "b_eff/content.h"
#include "common/dialect.h"

#if FM_REPLICA == 0
#define WORD_BYTES (4 * CHANNEL_WIDTH)
typedef struct {
  uchar bytes[WORD_BYTES];
} word;

typedef struct {
  word words[2];
} chunk;
#endif

#define CHANNEL_WORD word
#define PEER_0 out_2
#define PEER_1 out_3
#define PEER_2 out_0
#define PEER_3 out_1
#include "common/channels.h"

// Number `lane` of a pair's two channels.
#define OUT(lane) FM_PASTE(out_##lane##_of_, FM_REPLICA)
#define IN(lane) FM_PASTE(in_##lane##_of_, FM_REPLICA)
#define ARRIVED FM_PASTE(arrived_, FM_REPLICA)
#define out_0_of_0 out_0
#define out_1_of_0 out_1
#define out_0_of_1 out_2
#define out_1_of_1 out_3
#define in_0_of_0 in_0
#define in_1_of_0 in_1
#define in_0_of_1 in_2
#define in_1_of_1 in_3

FM_CHANNEL(uchar, ARRIVED, 1);

// `messages` of `chunks` chunks each, the first of which begins with `first`.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(send)(const uchar first, const uint chunks, const uint messages) {
  uchar value = first;
  for (uint message = 0; message < messages; ++message) {
    if (message > 0) {
      const uchar told = read_channel_intel(ARRIVED);
      value = b_eff_next(value);
    }
    FM_PIPELINE
    for (uint i = 0; i < chunks; ++i) {
      const uchar begin = b_eff_byte(value, i * 2 * WORD_BYTES);
      chunk sent;
      FM_UNROLL_FULLY
      for (uint k = 0; k < WORD_BYTES; ++k) {
        sent.words[0].bytes[k] = b_eff_byte(begin, k);
        sent.words[1].bytes[k] = b_eff_byte(begin, WORD_BYTES + k);
      }
      write_channel_intel(OUT(0), sent.words[0]);
      write_channel_intel(OUT(1), sent.words[1]);
    }
  }
}

// Those whose first one begins with `first`. `received`: the last chunk, for the host to compare, too;
// `found`: how many bytes are wrong, and of the first one the message and the place in it.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(receive)(FM_GLOBAL(receive, received) uchar* restrict received,
                                     FM_GLOBAL(receive, found) uint* restrict found, const uchar first,
                                     const uint chunks, const uint messages) {
  uchar value = first;
  uint wrong = 0;
  uint wrong_message = 0;
  uint wrong_byte = 0;
  chunk latest;
  for (uint message = 0; message < messages; ++message) {
    FM_PIPELINE
    for (uint i = 0; i < chunks; ++i) {
      const uchar begin = b_eff_byte(value, i * 2 * WORD_BYTES);
      latest.words[0] = read_channel_intel(IN(0));
      latest.words[1] = read_channel_intel(IN(1));
      uint wrong_here = 0;
      uint first_here = 0;
      FM_UNROLL_FULLY
      for (uint lane = 2; lane-- > 0;) {
        FM_UNROLL_FULLY
        for (uint k = WORD_BYTES; k-- > 0;) {
          const uint place = lane * WORD_BYTES + k;
          const bool is_wrong = latest.words[lane].bytes[k] != b_eff_byte(begin, place);
          wrong_here += is_wrong ? 1 : 0;
          first_here = is_wrong ? place : first_here;
        }
      }
      if (wrong == 0 && wrong_here > 0) {
        wrong_message = message;
        wrong_byte = i * 2 * WORD_BYTES + first_here;
      }
      wrong += wrong_here;
    }
    value = b_eff_next(value);
    if (message + 1 < messages) write_channel_intel(ARRIVED, value);
  }
  FM_UNROLL_FULLY  // else the chunk would have to be in memory, to be read by an index
  for (uint lane = 0; lane < 2; ++lane) {
    FM_UNROLL_FULLY
    for (uint k = 0; k < WORD_BYTES; ++k) received[lane * WORD_BYTES + k] = latest.words[lane].bytes[k];
  }
  found[0] = wrong;
  found[1] = wrong_message;
  found[2] = wrong_byte;
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
