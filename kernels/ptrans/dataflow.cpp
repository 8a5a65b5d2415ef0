// PTRANS over channels: C = B + A^T by pairs of kernels, one pair for each channel of the board (Meyer 2024,
// section 4.1.2.2). The one reads blocks of A into local memory and sends them transposed, word by word; the
// other adds blocks of B to what comes, and writes C. Local memory has room for two blocks, so that one is
// read while the other is sent. Blocks are contiguous in memory, row by row, and the numbers of those to be
// taken are given in their order. The first `staying` of them never leave the device: they go from one kernel
// of the pair to the other.
//
// With ACCL the same kernels write to and read from its engine, which the last two functions call.
#include "common/dataflow.hpp"
#include "common/accl.hpp"

#if !defined(CHANNEL_WIDTH)  // the parameters of the build; the native program takes them as arguments
#define DATA_TYPE float
#define CHANNEL_WIDTH 8
#define BLOCK_SIZE 512
#endif

/// Where an element of a block lies in local memory, which has `Width` lanes, each a memory of its own. Rows
/// are turned against each other, so that neighbours along a row and along a column are in different lanes.
template <int Width>
inline unsigned local_place(unsigned row, unsigned column, unsigned block_size) {
  return (row * (block_size / Width) + column / Width) * Width + (row + column) % Width;
}

// A word to and from other devices: over a channel as it is, by ACCL's engine as a word of its data.

template <typename T, int Width>
void write_word(fm::stream<fm::words<T, Width>>& leaves, const fm::words<T, Width>& word) {
  leaves.write(word);
}
template <typename T, int Width>
void write_word(fm::stream<fm::accl_data>& leaves, const fm::words<T, Width>& word) {
  leaves.write(fm::accl_packed(word.value, 0));
}
template <typename T, int Width>
void read_word(fm::stream<fm::words<T, Width>>& arrives, fm::words<T, Width>& word) {
  word = arrives.read();
}
template <typename T, int Width>
void read_word(fm::stream<fm::accl_data>& arrives, fm::words<T, Width>& word) {
  fm::accl_unpack(arrives.read(), word.value);
}

/// `sources`: numbers of `staying` and then `leaving` blocks of A. `local`: memory for two blocks. `Way`:
/// what the stream to other devices carries.
template <typename T, int Width, typename Way>
void transpose_and_send(const fm::words<T, Width>* a, const unsigned* sources, unsigned staying,
                        unsigned leaving, unsigned block_size, T* local,
                        fm::stream<fm::words<T, Width>>& stays, fm::stream<Way>& leaves) {
  const unsigned elements = block_size * block_size;
  const unsigned words = elements / Width;
  const unsigned words_of_row = block_size / Width;
  const unsigned blocks = staying + leaving;
  for (unsigned turn = 0; turn <= blocks && blocks > 0; ++turn) {
    T* const next = local + turn % 2 * elements;
    const T* const ready = local + (turn + 1) % 2 * elements;
    for (unsigned i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
#pragma HLS dependence variable = local inter false
      const unsigned row = i / words_of_row;
      const unsigned column = i % words_of_row * Width;
      if (turn < blocks) {
        const fm::words<T, Width> word = a[(unsigned long long)sources[turn] * words + i];
        for (int k = 0; k < Width; ++k) {
#pragma HLS unroll
          next[local_place<Width>(row, column + k, block_size)] = word.value[k];
        }
      }
      if (turn > 0) {
        fm::words<T, Width> word;
        for (int k = 0; k < Width; ++k) {
#pragma HLS unroll
          word.value[k] = ready[local_place<Width>(column + k, row, block_size)];
        }
        if (turn <= staying) {
          stays.write(word);
        } else {
          write_word(leaves, word);
        }
      }
    }
  }
}

/// `targets`: numbers of `staying` and then `arriving` blocks of B and C.
template <typename T, int Width, typename Way>
void receive_and_add(fm::stream<fm::words<T, Width>>& stays, fm::stream<Way>& arrives,
                     const fm::words<T, Width>* b, fm::words<T, Width>* c, const unsigned* targets,
                     unsigned staying, unsigned arriving, unsigned block_size) {
  const unsigned words = block_size * block_size / Width;
  for (unsigned block = 0; block < staying + arriving; ++block) {
    const unsigned long long first = (unsigned long long)targets[block] * words;
    for (unsigned i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
      fm::words<T, Width> sum;
      if (block < staying) {
        sum = stays.read();
      } else {
        read_word(arrives, sum);
      }
      const fm::words<T, Width> own = b[first + i];
      for (int k = 0; k < Width; ++k) {
#pragma HLS unroll
        sum.value[k] = own.value[k] + sum.value[k];
      }
      c[first + i] = sum;
    }
  }
}

extern "C" {  // v++ looks for kernels by their plain names

void send_blocks(const fm::words<DATA_TYPE, CHANNEL_WIDTH>* a, const unsigned* sources, unsigned staying,
                 unsigned leaving, fm::stream<fm::words<DATA_TYPE, CHANNEL_WIDTH>>& stays,
                 fm::stream<fm::words<DATA_TYPE, CHANNEL_WIDTH>>& leaves) {
#pragma HLS interface mode = m_axi port = a bundle = a
#pragma HLS aggregate variable = a
#pragma HLS interface mode = m_axi port = sources bundle = sources
  DATA_TYPE local[2 * BLOCK_SIZE * BLOCK_SIZE];
#pragma HLS array_partition variable = local cyclic factor = CHANNEL_WIDTH
  transpose_and_send<DATA_TYPE, CHANNEL_WIDTH>(a, sources, staying, leaving, BLOCK_SIZE, local, stays,
                                               leaves);
}

void receive_blocks(fm::stream<fm::words<DATA_TYPE, CHANNEL_WIDTH>>& stays,
                    fm::stream<fm::words<DATA_TYPE, CHANNEL_WIDTH>>& arrives,
                    const fm::words<DATA_TYPE, CHANNEL_WIDTH>* b, fm::words<DATA_TYPE, CHANNEL_WIDTH>* c,
                    const unsigned* targets, unsigned staying, unsigned arriving) {
#pragma HLS interface mode = m_axi port = b bundle = b
#pragma HLS aggregate variable = b
#pragma HLS interface mode = m_axi port = c bundle = c
#pragma HLS aggregate variable = c
#pragma HLS interface mode = m_axi port = targets bundle = targets
  receive_and_add<DATA_TYPE, CHANNEL_WIDTH>(stays, arrives, b, c, targets, staying, arriving, BLOCK_SIZE);
}

// The same with ACCL's engine in the place of a channel: words of 64 bytes.

const int engine_width = 64 / sizeof(DATA_TYPE);

void send_blocks_by_engine(const fm::words<DATA_TYPE, engine_width>* a, const unsigned* sources,
                           unsigned staying, unsigned leaving,
                           fm::stream<fm::words<DATA_TYPE, engine_width>>& stays,
                           fm::stream<fm::accl_data>& leaves) {
#pragma HLS interface mode = m_axi port = a bundle = a
#pragma HLS aggregate variable = a
#pragma HLS interface mode = m_axi port = sources bundle = sources
#pragma HLS interface mode = axis port = stays
#pragma HLS interface mode = axis port = leaves
  DATA_TYPE local[2 * BLOCK_SIZE * BLOCK_SIZE];
#pragma HLS array_partition variable = local cyclic factor = engine_width
  transpose_and_send<DATA_TYPE, engine_width>(a, sources, staying, leaving, BLOCK_SIZE, local, stays, leaves);
}

void receive_blocks_by_engine(fm::stream<fm::words<DATA_TYPE, engine_width>>& stays,
                              fm::stream<fm::accl_data>& arrives, const fm::words<DATA_TYPE, engine_width>* b,
                              fm::words<DATA_TYPE, engine_width>* c, const unsigned* targets,
                              unsigned staying, unsigned arriving) {
#pragma HLS interface mode = axis port = stays
#pragma HLS interface mode = axis port = arrives
#pragma HLS interface mode = m_axi port = b bundle = b
#pragma HLS aggregate variable = b
#pragma HLS interface mode = m_axi port = c bundle = c
#pragma HLS aggregate variable = c
#pragma HLS interface mode = m_axi port = targets bundle = targets
  receive_and_add<DATA_TYPE, engine_width>(stays, arrives, b, c, targets, staying, arriving, BLOCK_SIZE);
}

/// Has the engine send what sending kernels write: `elements[i]` from stream i to stream i of `peer`, for
/// each of `streams`. A command counts with 32 bits: more elements are more commands, of whole words.
/// `communicator` to `compression`: what commands of the host's have there (fm::accl_use).
/// `failed`: how many calls ended with an error, and the status of the first one.
void put_words(fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
               const unsigned long long* elements, int streams, int peer, unsigned int communicator,
               unsigned int datapath, unsigned int compression, int* failed) {
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = m_axi port = elements bundle = elements
#pragma HLS interface mode = m_axi port = failed bundle = failed
  const fm::accl_use calling = {communicator, datapath, compression};
  const unsigned long long most = 1ULL << 31;
  unsigned long long made = 0;
  for (int i = 0; i < streams; ++i) {
    unsigned long long left = elements[i];
    do {
      const unsigned int count = (unsigned int)(left < most ? left : most);
      fm::accl_issue(commands, fm::accl_stream_put(calling, fm::accl_stream(i), count, peer, i));
      left -= count;
      ++made;
    } while (left > 0);
  }
  fm::accl_outcome outcome = {};
  for (unsigned long long i = 0; i < made; ++i) fm::accl_count(statuses, outcome);
  fm::accl_tell(outcome, failed);
}

/// Has the engine carry blocks between memories: `receives` into memory at `arrived` and `sends` from memory
/// at `a`, each three numbers: rank, place in blocks, tag. `elements`: of a block, which has `bytes`.
void exchange_blocks(fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
                     const int* receives, int receiving, const int* sends, int sending,
                     unsigned long long arrived, unsigned long long a, unsigned int elements,
                     unsigned long long bytes, unsigned int communicator, unsigned int datapath,
                     unsigned int compression, int* failed) {
#pragma HLS interface mode = axis port = commands
#pragma HLS interface mode = axis port = statuses
#pragma HLS interface mode = m_axi port = receives bundle = receives
#pragma HLS interface mode = m_axi port = sends bundle = sends
#pragma HLS interface mode = m_axi port = failed bundle = failed
  const fm::accl_use calling = {communicator, datapath, compression};
  for (int i = 0; i < receiving + sending; ++i) {
    const bool is_receive = i < receiving;
    const int* const one = is_receive ? receives + 3 * i : sends + 3 * (i - receiving);
    const fm::accl_operand block = fm::accl_memory((is_receive ? arrived : a) + one[1] * bytes);
    fm::accl_issue(commands, is_receive ? fm::accl_recv(calling, block, elements, one[0], one[2])
                                        : fm::accl_send(calling, block, elements, one[0], one[2]));
  }
  fm::accl_outcome outcome = {};
  for (int i = 0; i < receiving + sending; ++i) fm::accl_count(statuses, outcome);
  fm::accl_tell(outcome, failed);
}

}  // extern "C"

#undef DATA_TYPE
#undef CHANNEL_WIDTH
#undef BLOCK_SIZE
