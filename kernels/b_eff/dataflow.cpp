// b_eff, dataflow kernels. Not tried with Vitis itself.
//
// Over direct channels (Meyer 2024, section 4.1.1.2, Fig. 4.2): pairs of a send and a receive kernel, one
// pair for each neighbour. A message goes word by word over two channels; the receive kernel tells the send
// kernel when one has arrived, and only then the next message leaves. Beside the source, each word is made
// and compared as content.h says: among equal words a lost, late or swapped one would not be seen.
//
// Over an engine of messages (section 5.1.1, Fig. 5.1b): a control kernel that calls it, and for each
// neighbour a kernel that makes the words of messages and one that takes those that arrive.
#include "common/dataflow.hpp"
#include "b_eff/content.h"
#include "common/accl.hpp"

// Elements of 4 bytes that a channel takes in a cycle.
#ifndef CHANNEL_WIDTH
#define CHANNEL_WIDTH 8
#endif

namespace b_eff_kernels {

/// Of a channel of so many bytes: number 2 i of a message over the even channel, 2 i + 1 over the odd one.
template <int Bytes>
using word = fm::words<unsigned char, Bytes>;

template <int Bytes>
word<Bytes> word_of(unsigned char first, unsigned int number) {
  const unsigned char begin = b_eff_byte(first, number * Bytes);
  word<Bytes> made;
  for (unsigned int i = 0; i < Bytes; ++i) {
#pragma HLS unroll
    made.value[i] = b_eff_byte(begin, i);
  }
  return made;
}

/// What a receive kernel has found.
struct findings {
  unsigned int wrong;    ///< bytes
  unsigned int message;  ///< of the first one
  unsigned int byte;     ///< within it
};

/// Compares number `number` of a message, and adds what is wrong.
template <int Bytes>
void compare(const word<Bytes>& found, unsigned char first, unsigned int number, unsigned int message,
             findings& sum) {
  const word<Bytes> expected = word_of<Bytes>(first, number);
  unsigned int wrong = 0;
  unsigned int first_wrong = 0;
  for (unsigned int i = Bytes; i-- > 0;) {
#pragma HLS unroll
    const bool is_wrong = found.value[i] != expected.value[i];
    wrong += is_wrong ? 1 : 0;
    first_wrong = is_wrong ? i : first_wrong;
  }
  if (sum.wrong == 0 && wrong > 0) {
    sum.message = message;
    sum.byte = number * Bytes + first_wrong;
  }
  sum.wrong += wrong;
}

/// Sends `messages` of `words` words on each channel, each but the first when `arrived` tells of one; the
/// first message begins with `first`.
template <int Bytes>
void send(fm::stream<int>& arrived, fm::stream<word<Bytes>>& even, fm::stream<word<Bytes>>& odd,
          unsigned char first, unsigned int words, unsigned int messages) {
  for (unsigned int message = 0; message < messages; ++message) {
    if (message > 0) {
      arrived.read();
      first = b_eff_next(first);
    }
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      even.write(word_of<Bytes>(first, 2 * i));
      odd.write(word_of<Bytes>(first, 2 * i + 1));
    }
  }
}

/// Receives those whose first one begins with `first`, compares each word, and tells of each message but the
/// last. `last`: the last two words, for the host to compare, too; `found`: wrong bytes, and of the first
/// message and place.
template <int Bytes>
void receive(fm::stream<word<Bytes>>& even, fm::stream<word<Bytes>>& odd, fm::stream<int>& arrived,
             unsigned char first, unsigned int words, unsigned int messages, word<Bytes>* last,
             unsigned int* found) {
  findings sum = {};
  word<Bytes> one = {};
  word<Bytes> other = {};
  for (unsigned int message = 0; message < messages; ++message) {
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      one = even.read();
      other = odd.read();
      compare<Bytes>(one, first, 2 * i, message, sum);
      compare<Bytes>(other, first, 2 * i + 1, message, sum);
    }
    first = b_eff_next(first);
    if (message + 1 < messages) arrived.write(1);
  }
  last[0] = one;
  last[1] = other;
  found[0] = sum.wrong;
  found[1] = sum.message;
  found[2] = sum.byte;
}

}  // namespace b_eff_kernels

extern "C" {  // v++ looks for kernels by their plain names

typedef b_eff_kernels::word<4 * CHANNEL_WIDTH> b_eff_word;
typedef fm::words<unsigned int, 16> b_eff_engine_word;

/// The send kernel of a pair.
void send_messages(fm::stream<int>& arrived, fm::stream<b_eff_word>& even, fm::stream<b_eff_word>& odd,
                   unsigned char first, unsigned int words, unsigned int messages) {
#pragma HLS interface mode = axis port = arrived
#pragma HLS interface mode = axis port = even
#pragma HLS interface mode = axis port = odd
  b_eff_kernels::send<4 * CHANNEL_WIDTH>(arrived, even, odd, first, words, messages);
}

/// Its receive kernel.
void receive_messages(fm::stream<b_eff_word>& even, fm::stream<b_eff_word>& odd, fm::stream<int>& arrived,
                      unsigned char first, unsigned int words, unsigned int messages, b_eff_word* last,
                      unsigned int* found) {
#pragma HLS interface mode = axis port = even
#pragma HLS interface mode = axis port = odd
#pragma HLS interface mode = axis port = arrived
#pragma HLS interface mode = m_axi port = last bundle = last
#pragma HLS aggregate variable = last
#pragma HLS interface mode = m_axi port = found bundle = found
  b_eff_kernels::receive<4 * CHANNEL_WIDTH>(even, odd, arrived, first, words, messages, last, found);
}

/// Calls the engine: `rounds` times the next `in_round` of `calls`. A round begins when the calls of the one
/// before have ended, and where they are awaited, its messages from the left and from the right have arrived.
/// `failed`: how many calls ended with an error, and the status of the first one.
void call_engine(const fm::accl_command* calls, unsigned int in_round, unsigned int rounds,
                 unsigned int awaits_left, unsigned int awaits_right, fm::stream<fm::accl_request>& commands,
                 fm::stream<fm::accl_word>& statuses, fm::stream<int>& from_left, fm::stream<int>& from_right,
                 int* failed) {
#pragma HLS interface mode = m_axi port = calls bundle = calls
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = axis port = from_left
#pragma HLS interface mode = axis port = from_right
#pragma HLS interface mode = m_axi port = failed bundle = failed
  fm::accl_outcome outcome = {};
  for (unsigned int round = 0; round < rounds; ++round) {
    for (unsigned int i = 0; i < in_round; ++i) {
      const fm::accl_command call = calls[round * in_round + i];
      for (int k = 0; k < fm::accl_requests_of_command; ++k) commands.write(fm::accl_requested(call, k));
    }
    for (unsigned int i = 0; i < in_round; ++i) fm::accl_count(statuses, outcome);
    if (round + 1 < rounds) {
      if (awaits_left != 0) from_left.read();
      if (awaits_right != 0) from_right.read();
    }
  }
  fm::accl_tell(outcome, failed);
}

/// The words of messages, each `stride` words behind the one before, to the engine.
void make_words(const b_eff_engine_word* memory, unsigned int words, unsigned int stride,
                unsigned int messages, fm::stream<fm::accl_data>& leaving) {
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = axis port = leaving
  for (unsigned int message = 0; message < messages; ++message) {
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      leaving.write(fm::accl_packed(memory[message * stride + i].value, 0));
    }
  }
}

/// What the engine delivers, into memory; tells the control kernel of each message but the last.
void take_words(fm::stream<fm::accl_data>& arriving, b_eff_engine_word* memory, unsigned int words,
                unsigned int stride, unsigned int messages, fm::stream<int>& arrived) {
#pragma HLS interface mode = axis port = arriving
#pragma HLS interface mode = m_axi port = memory bundle = memory
#pragma HLS aggregate variable = memory
#pragma HLS interface mode = axis port = arrived
  for (unsigned int message = 0; message < messages; ++message) {
    for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      b_eff_engine_word word;
      fm::accl_unpack(arriving.read(), word.value);
      memory[message * stride + i] = word;
    }
    if (message + 1 < messages) arrived.write(1);
  }
}

// ACCL has one stream in each direction: on a card these two are between it and the kernels above. The
// emulated engine has a stream for each of them.

/// The words of messages in both directions in turn, as the calls for them follow each other.
void join_words(fm::stream<fm::accl_data>& first, fm::stream<fm::accl_data>& second, unsigned int words,
                unsigned int messages, fm::stream<fm::accl_data>& joined) {
#pragma HLS interface mode = axis port = first
#pragma HLS interface mode = axis port = second
#pragma HLS interface mode = axis port = joined
  for (unsigned int i = 0; i < 2 * messages; ++i) {
    for (unsigned int k = 0; k < words; ++k) {
#pragma HLS pipeline II = 1
      joined.write(i % 2 == 0 ? first.read() : second.read());
    }
  }
}

/// `words` words to whom they are for, as `dest` says: 0 or 1.
void route_words(fm::stream<fm::accl_data>& arriving, unsigned int words, fm::stream<fm::accl_data>& first,
                 fm::stream<fm::accl_data>& second) {
#pragma HLS interface mode = axis port = arriving
#pragma HLS interface mode = axis port = first
#pragma HLS interface mode = axis port = second
  for (unsigned int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const fm::accl_data word = arriving.read();
    if (word.dest == 0) {
      first.write(word);
    } else {
      second.write(word);
    }
  }
}

}  // extern "C"
