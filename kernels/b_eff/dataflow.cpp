// b_eff, dataflow kernels. Not tried with Vitis itself.
//
// Over direct channels (Meyer 2024, section 4.1.1.2, Fig. 4.2): pairs of a send and a receive kernel, one
// pair for each neighbour. A message goes word by word over two channels; what was received last goes from
// the receive to the send kernel, and only then the next message leaves.
//
// Over an engine of messages (section 5.1.1, Fig. 5.1b): a control kernel that calls it, and for each
// neighbour a kernel that makes the words of messages and one that takes those that arrive.
#include "common/dataflow.hpp"
#include "common/accl.hpp"

// Elements of 4 bytes that a channel takes in a cycle.
#ifndef CHANNEL_WIDTH
#define CHANNEL_WIDTH 8
#endif

namespace b_eff_kernels {

/// Lane 0 is the number of the word within its message, lane 1 that of the message, the others the chunk: the
/// source sends equal words, among which a lost, late or swapped one would not be seen.
template <int Width>
using word = fm::words<unsigned int, Width>;

const int first_lane = 2;  // of the chunk

/// A lane of the chunk that is made of a seed: no two are alike.
inline unsigned int lane_of(unsigned int seed, int lane) {
  return seed + static_cast<unsigned int>(lane) * 0x9E3779B9U;
}

/// Whether a word is not that number of that message, or has another chunk than the message's first word.
template <int Width>
unsigned int is_wrong(const word<Width>& found, unsigned int number, unsigned int message,
                      const word<Width>& first) {
  unsigned int differing = (found.value[0] ^ number) | (found.value[1] ^ message);
  for (int lane = first_lane; lane < Width; ++lane) {
#pragma HLS unroll
    differing |= found.value[lane] ^ first.value[lane];
  }
  return differing != 0 ? 1 : 0;
}

/// Sends `messages` of `words` words on each channel: the first with the chunk of `seed`, the others with
/// what `forwarded` brings.
template <int Width>
void send(fm::stream<word<Width>>& forwarded, fm::stream<word<Width>>& even, fm::stream<word<Width>>& odd,
          unsigned int seed, unsigned int words, unsigned int messages) {
  word<Width> chunk;
  for (int lane = 0; lane < Width; ++lane) {
#pragma HLS unroll
    chunk.value[lane] = lane_of(seed, lane);
  }
  for (unsigned int message = 0; message < messages; ++message) {
    if (message > 0) chunk = forwarded.read();
    chunk.value[1] = message;
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      chunk.value[0] = 2 * i;
      even.write(chunk);
      chunk.value[0] = 2 * i + 1;
      odd.write(chunk);
    }
  }
}

/// Receives them, looks at each word, and forwards the last one of each message but the last. `chunk`: the
/// last word of all. `found`: how many words are wrong, and of the first of these message and number.
template <int Width>
void receive(fm::stream<word<Width>>& even, fm::stream<word<Width>>& odd, fm::stream<word<Width>>& forwarded,
             unsigned int words, unsigned int messages, word<Width>* chunk, unsigned int* found) {
  word<Width> last = {};
  unsigned int wrong = 0;
  unsigned int wrong_message = 0;
  unsigned int wrong_number = 0;
  for (unsigned int message = 0; message < messages; ++message) {
    word<Width> first = {};
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      const word<Width> one = even.read();
      last = odd.read();
      if (i == 0) first = one;
      const unsigned int wrong_one = is_wrong<Width>(one, 2 * i, message, first);
      const unsigned int wrong_other = is_wrong<Width>(last, 2 * i + 1, message, first);
      if (wrong == 0 && wrong_one + wrong_other > 0) {
        wrong_message = message;
        wrong_number = 2 * i + 1 - wrong_one;
      }
      wrong += wrong_one + wrong_other;
    }
    if (message + 1 < messages) forwarded.write(last);
  }
  *chunk = last;
  found[0] = wrong;
  found[1] = wrong_message;
  found[2] = wrong_number;
}

}  // namespace b_eff_kernels

extern "C" {  // v++ looks for kernels by their plain names

typedef b_eff_kernels::word<CHANNEL_WIDTH> b_eff_word;
typedef fm::words<unsigned int, 16> b_eff_engine_word;

/// The send kernel of a pair.
void send_messages(fm::stream<b_eff_word>& forwarded, fm::stream<b_eff_word>& even,
                   fm::stream<b_eff_word>& odd, unsigned int seed, unsigned int words,
                   unsigned int messages) {
#pragma HLS interface mode = axis port = forwarded
#pragma HLS interface mode = axis port = even
#pragma HLS interface mode = axis port = odd
  b_eff_kernels::send<CHANNEL_WIDTH>(forwarded, even, odd, seed, words, messages);
}

/// Its receive kernel.
void receive_messages(fm::stream<b_eff_word>& even, fm::stream<b_eff_word>& odd,
                      fm::stream<b_eff_word>& forwarded, unsigned int words, unsigned int messages,
                      b_eff_word* chunk, unsigned int* found) {
#pragma HLS interface mode = axis port = even
#pragma HLS interface mode = axis port = odd
#pragma HLS interface mode = axis port = forwarded
#pragma HLS interface mode = m_axi port = chunk bundle = chunk
#pragma HLS aggregate variable = chunk
#pragma HLS interface mode = m_axi port = found bundle = found
  b_eff_kernels::receive<CHANNEL_WIDTH>(even, odd, forwarded, words, messages, chunk, found);
}

/// Calls the engine: `rounds` times the next `in_round` of `calls`. A round begins when the calls of the one
/// before have ended, and where they are awaited, its messages from the left and from the right have arrived.
/// `failed`: how many calls ended with an error, and the code of the first one.
void call_engine(const fm::accl_command* calls, unsigned int in_round, unsigned int rounds,
                 unsigned int awaits_left, unsigned int awaits_right, fm::stream<fm::accl_command>& commands,
                 fm::stream<fm::accl_status>& statuses, fm::stream<int>& from_left,
                 fm::stream<int>& from_right, int* failed) {
#pragma HLS interface mode = m_axi port = calls bundle = calls
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = axis port = from_left
#pragma HLS interface mode = axis port = from_right
#pragma HLS interface mode = m_axi port = failed bundle = failed
  int failures = 0;
  int first_code = 0;
  for (unsigned int round = 0; round < rounds; ++round) {
    for (unsigned int i = 0; i < in_round; ++i) commands.write(calls[round * in_round + i]);
    for (unsigned int i = 0; i < in_round; ++i) {
      const int code = statuses.read().code;
      if (code != 0 && failures == 0) first_code = code;
      failures += code != 0 ? 1 : 0;
    }
    if (round + 1 < rounds) {
      if (awaits_left != 0) from_left.read();
      if (awaits_right != 0) from_right.read();
    }
  }
  failed[0] = failures;
  failed[1] = first_code;
}

/// The words of messages, each `stride` words behind the one before, to the engine.
void make_words(const b_eff_engine_word* memory, unsigned int words, unsigned int stride,
                unsigned int messages, fm::stream<b_eff_engine_word>& out) {
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = axis port = out
  for (unsigned int message = 0; message < messages; ++message) {
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      out.write(memory[message * stride + i]);
    }
  }
}

/// What the engine delivers, into memory; tells the control kernel of each message but the last.
void take_words(fm::stream<b_eff_engine_word>& in, b_eff_engine_word* memory, unsigned int words,
                unsigned int stride, unsigned int messages, fm::stream<int>& arrived) {
#pragma HLS interface mode = axis port = in
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = axis port = arrived
  for (unsigned int message = 0; message < messages; ++message) {
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      memory[message * stride + i] = in.read();
    }
    if (message + 1 < messages) arrived.write(1);
  }
}

}  // extern "C"
