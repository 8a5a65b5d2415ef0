// What ACCL's engine (the CCLO) reads and writes: the one home of its command words, codes and flags.
//
// A command is 15 words of 32 bits, each an ap_axiu<32, 0, 0, 0> with all of `keep`; the last one has `last`.
// In this order (ACCLCommand::start_call of driver/hls/accl_hls.h, and run() of the firmware, which reads
// them, kernels/cclo/fw/sw_apps/ccl_offload_control; github.com/Xilinx/ACCL, commit 723d8ec; nothing of
// their text is here):
//
//  word | what                          | word | what
// ------+-------------------------------+------+-------------------------------------------------------------
//     1 | function, accl_function       |    9 | stream flags, accl_stream_flag
//     2 | count, elements               |   10 | address of the first operand, bits 0 to 31
//     3 | address of the communicator   |   11 | bits 32 to 63
//     4 | root, source or destination   |   12 | address of the second operand, bits 0 to 31
//     5 | reduction, accl_reduction     |   13 | bits 32 to 63
//     6 | tag; of a stream that is put  |   14 | address of the result, bits 0 to 31
//       | into, its number              |   15 | bits 32 to 63
//     7 | address of the datapath       |      |
//     8 | compression flags             |      |
//
// Operands are physical addresses in the device's memory, 0 where there is none. Words 3 and 7 are addresses
// in the engine's own memory, where the host has written who the ranks are and what the elements are: the
// host tells them to its kernels. ACCL does not look at the address of an operand that is a stream; the
// emulated engine, to which several kernels may be joined, takes 1 to 256 there for streams 0 to 255.
// A status is one such word: 0, or bits of accl_error. Data are words of 512 bits, ap_axiu<512, 0, 0, 8>,
// whose `dest` is the number of the stream.
#ifndef FABRICMARK_ACCL_WORDS_HPP
#define FABRICMARK_ACCL_WORDS_HPP

// Only a native build has the native streams in its include path.
#if defined(__VITIS_HLS__) || defined(__SYNTHESIS__) || !__has_include(<board/dataflow/stream.hpp>)
#include <ap_axi_sdata.h>
#define FM_ACCL_NATIVE 0
#else
#include <cstring>
#define FM_ACCL_NATIVE 1
#endif

namespace fm {

const int accl_words_of_command = 15;
const unsigned int accl_keep_word = 0xf;  ///< all 4 bytes
const int accl_bytes_of_data = 64;        ///< of a word of data

/// Word 1 (constants.hpp and ccl_offload_control.h of ACCL). ACCL has no put: only the emulated engine does.
enum accl_function {
  accl_function_config = 0,
  accl_function_copy = 1,
  accl_function_combine = 2,
  accl_function_send = 3,
  accl_function_recv = 4,
  accl_broadcast = 5,
  accl_scatter = 6,
  accl_gather = 7,
  accl_reduce = 8,
  accl_all_gather = 9,
  accl_all_reduce = 10,
  accl_reduce_scatter = 11,
  accl_barrier = 12,
  accl_all_to_all = 13,
  accl_function_put = 254,
  accl_function_nop = 255
};

/// Word 5. ACCL has no minimum: only the emulated engine does.
enum accl_reduction { accl_sum = 0, accl_max = 1, accl_min = 2 };

/// Word 6 of a receive that takes any tag, and the last stream that may be put into: ACCL routes others.
const unsigned int accl_any_tag = 0xffffffffU;
const unsigned int accl_last_stream = 246;

/// Word 8, bits. The emulated engine has memory of whole numbers only, so that it takes the last one alone.
enum accl_compression_flag {
  accl_compressed_a = 1,
  accl_compressed_b = 2,
  accl_compressed_result = 4,
  accl_compressed_wire = 8
};

/// Word 9, bits; 8 to 10 say in ACCL which operands lie in the host's memory.
enum accl_stream_flag { accl_stream_a = 1, accl_stream_result = 2 };

/// Bits of a status (constants.hpp of ACCL), as far as the emulated engine says them.
enum accl_error {
  accl_dma_decode_error = 1 << 2,
  accl_dma_slave_error = 1 << 3,
  accl_config_switch_error = 1 << 8,
  accl_receive_timeout_error = 1 << 11,
  accl_spare_buffer_index_error = 1 << 13,
  accl_not_implemented = 1 << 14,
  accl_rendezvous_threshold_invalid = 1 << 17,
  accl_dma_size_error = 1 << 18,
  accl_pack_timeout_error = 1 << 20,
  accl_pack_sequence_error = 1 << 21,
  accl_kernel_timeout_error = 1 << 23,
  accl_segmenter_error = 1 << 25
};

/// The twelve arguments of a call.
struct accl_command {
  unsigned int function;
  unsigned int count;
  unsigned int communicator;
  unsigned int peer;
  unsigned int reduction;
  unsigned int tag;
  unsigned int datapath;
  unsigned int compression;
  unsigned int streams;
  unsigned long long a;
  unsigned long long b;
  unsigned long long result;
};

/// Word `place` of it, counted from 0.
inline unsigned int accl_word_of(const accl_command& command, int place) {
  switch (place) {
    case 0:
      return command.function;
    case 1:
      return command.count;
    case 2:
      return command.communicator;
    case 3:
      return command.peer;
    case 4:
      return command.reduction;
    case 5:
      return command.tag;
    case 6:
      return command.datapath;
    case 7:
      return command.compression;
    case 8:
      return command.streams;
    default: {
      const unsigned long long address = place < 11 ? command.a : place < 13 ? command.b : command.result;
      return static_cast<unsigned int>(place % 2 == 1 ? address : address >> 32);
    }
  }
}

#if FM_ACCL_NATIVE

/// ap_axiu<32, 0, 0, 0>.
struct accl_word {
  unsigned int data;
  unsigned char keep;  ///< a bit for each byte
  bool last;
};

/// ap_axiu<512, 0, 0, 8>.
struct accl_data {
  unsigned char data[accl_bytes_of_data];
  unsigned long long keep;
  bool last;
  unsigned char dest;
};

/// What a kernel writes to have a call: natively all words of the command at once, so that one takes a cycle
/// of the port, as before words were counted. What the 15 take is part of the described `start_latency`.
struct accl_request {
  accl_word words[accl_words_of_command];
};

#else

typedef ap_axiu<32, 0, 0, 0> accl_word;
typedef ap_axiu<8 * accl_bytes_of_data, 0, 0, 8> accl_data;
typedef accl_word accl_request;

#endif

/// Word `place` of a command as it is on the stream.
inline accl_word accl_sent_word(const accl_command& command, int place) {
  accl_word word;
  word.data = accl_word_of(command, place);
  word.keep = accl_keep_word;
  word.last = place + 1 == accl_words_of_command;
  return word;
}

/// How many values a command is on a stream of accl_request, and number `place` of them.
#if FM_ACCL_NATIVE
const int accl_requests_of_command = 1;
inline accl_request accl_requested(const accl_command& command, int /*place*/) {
  accl_request request;
  for (int i = 0; i < accl_words_of_command; ++i) request.words[i] = accl_sent_word(command, i);
  return request;
}
#else
const int accl_requests_of_command = accl_words_of_command;
inline accl_request accl_requested(const accl_command& command, int place) {
  return accl_sent_word(command, place);
}
#endif

/// The command, to the engine.
template <typename Requests>
void accl_issue(Requests& commands, const accl_command& command) {
  for (int i = 0; i < accl_requests_of_command; ++i) {
    commands.write(accl_requested(command, i));
  }
}

/// How the oldest call that has not been answered ended: 0, or bits of accl_error.
template <typename Statuses>
unsigned int accl_wait(Statuses& statuses) {
  const accl_word word = statuses.read();
  return static_cast<unsigned int>(word.data);
}

/// How calls have ended, for the host: how many with an error, and the status of the first of these.
struct accl_outcome {
  int failed;
  int first;
};

/// Waits for the oldest call, and counts it.
template <typename Statuses>
void accl_count(Statuses& statuses, accl_outcome& outcome) {
  const int status = (int)accl_wait(statuses);
  if (status == 0) return;
  if (outcome.failed == 0) outcome.first = status;
  ++outcome.failed;
}

inline void accl_tell(const accl_outcome& outcome, int* failed) {
  failed[0] = outcome.failed;
  failed[1] = outcome.first;
}

#if !FM_ACCL_NATIVE
/// The number without sign that has the bits of an element.
template <int Bytes>
struct accl_bits;
template <>
struct accl_bits<4> {
  typedef unsigned int type;
};
template <>
struct accl_bits<8> {
  typedef unsigned long long type;
};
#endif

/// 64 bytes of elements as a word of data for stream `dest`. As ACCLData::push does it, each word is a packet
/// of its own: the engine counts elements.
template <typename T>
accl_data accl_packed(const T* values, unsigned char dest) {
  accl_data word;
#if FM_ACCL_NATIVE
  std::memcpy(word.data, values, accl_bytes_of_data);
  word.keep = ~0ULL;
#else
  const int bits = 8 * sizeof(T);
  for (int i = 0; i < 8 * accl_bytes_of_data / bits; ++i) {
#pragma HLS unroll
    union {
      T value;
      typename accl_bits<sizeof(T)>::type bits;
    } one;
    one.value = values[i];
    word.data.range(bits * i + bits - 1, bits * i) = one.bits;
  }
  word.keep = -1;
#endif
  word.last = true;
  word.dest = dest;
  return word;
}

template <typename T>
void accl_unpack(const accl_data& word, T* values) {
#if FM_ACCL_NATIVE
  std::memcpy(values, word.data, accl_bytes_of_data);
#else
  const int bits = 8 * sizeof(T);
  for (int i = 0; i < 8 * accl_bytes_of_data / bits; ++i) {
#pragma HLS unroll
    union {
      T value;
      typename accl_bits<sizeof(T)>::type bits;
    } one;
    one.bits = word.data.range(bits * i + bits - 1, bits * i);
    values[i] = one.value;
  }
#endif
}

}  // namespace fm

#endif
