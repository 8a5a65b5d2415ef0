// b_eff, kernels for Intel's external channels (Meyer 2024, section 4.1.1.2 and Figure 4.2).
//
// To each neighbour in the ring goes a pair of kernels over two channels: `send` writes a message chunk by
// chunk, as much as both channels take in a cycle, until its length is reached; `receive` takes what the
// neighbour's pair sends and hands the chunk to its own `send`, whose next message is made of it. Pair 0 has
// the channels 0 and 1 and exchanges with the right neighbour's pair 1, which has 2 and 3. All four kernels
// run at the same time.
//
// Beside the source, so that more mistakes show: the bytes of a chunk differ, to each of a chunk that was
// handed to it `send` adds one, that of pair 1 three, and `receive` keeps the bits in which any chunk of a
// message differs from the first one, as only the last one is handed on.
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
#define FORWARD FM_PASTE(forward_, FM_REPLICA)
#define out_0_of_0 out_0
#define out_1_of_0 out_1
#define out_0_of_1 out_2
#define out_1_of_1 out_3
#define in_0_of_0 in_0
#define in_1_of_0 in_1
#define in_0_of_1 in_2
#define in_1_of_1 in_3

FM_CHANNEL(chunk, FORWARD, 1);

// `messages` of `chunks` chunks each; byte k of the first message's chunks is `value` + k.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(send)(const uchar value, const uint chunks, const uint messages) {
  chunk sent;
  FM_UNROLL_FULLY
  for (uint k = 0; k < WORD_BYTES; ++k) {
    sent.words[0].bytes[k] = value + k;
    sent.words[1].bytes[k] = value + WORD_BYTES + k;
  }
  for (uint message = 0; message < messages; ++message) {
    if (message > 0) {
      sent = read_channel_intel(FORWARD);
      FM_UNROLL_FULLY
      for (uint k = 0; k < WORD_BYTES; ++k) {
        sent.words[0].bytes[k] += 2 * FM_REPLICA + 1;
        sent.words[1].bytes[k] += 2 * FM_REPLICA + 1;
      }
    }
    FM_PIPELINE
    for (uint i = 0; i < chunks; ++i) {
      write_channel_intel(OUT(0), sent.words[0]);
      write_channel_intel(OUT(1), sent.words[1]);
    }
  }
}

// received: the last chunk, and behind it the bits in which others differed from the first of their message.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(receive)(FM_GLOBAL(receive, received) uchar* restrict received, const uint chunks,
                                     const uint messages) {
  chunk first;
  chunk latest;
  chunk different;
  FM_UNROLL_FULLY
  for (uint k = 0; k < WORD_BYTES; ++k) different.words[0].bytes[k] = different.words[1].bytes[k] = 0;
  for (uint message = 0; message < messages; ++message) {
    FM_PIPELINE
    for (uint i = 0; i < chunks; ++i) {
      latest.words[0] = read_channel_intel(IN(0));
      latest.words[1] = read_channel_intel(IN(1));
      if (i == 0) first = latest;
      FM_UNROLL_FULLY
      for (uint lane = 0; lane < 2; ++lane) {
        FM_UNROLL_FULLY
        for (uint k = 0; k < WORD_BYTES; ++k) {
          different.words[lane].bytes[k] |= latest.words[lane].bytes[k] ^ first.words[lane].bytes[k];
        }
      }
    }
    if (message + 1 < messages) write_channel_intel(FORWARD, latest);
  }
  FM_UNROLL_FULLY  // else the chunks would have to be in memory, to be read by an index
  for (uint lane = 0; lane < 2; ++lane) {
    FM_UNROLL_FULLY
    for (uint k = 0; k < WORD_BYTES; ++k) {
      received[lane * WORD_BYTES + k] = latest.words[lane].bytes[k];
      received[(2 + lane) * WORD_BYTES + k] = different.words[lane].bytes[k];
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
