// HPL, dataflow kernels for a square torus of devices with direct links, and for an engine of messages (Meyer
// 2024, section 4.1.3.2, Figures 4.6 to 4.8). In iteration k:
//
//   lu       on the owner of block (k, k): factorises it; L leaves for the devices of its row, U for those of
//            its column, while lu is still at work: each step's column and row when they are done.
//   forward  a network kernel for L, another for U: what comes from lu, or over a link, goes to the kernel of
//            this device and on to the next device.
//   top      on the owner's row: A_kj = L^-1 A_kj, each block leaves for its column. The first block's steps
//            are done as L comes.
//   left     on the owner's column: A_ik = A_ik U^-1, each block leaves for its row. Likewise, as U comes.
//   keep     a network kernel for the top blocks, another for the left ones: what comes from top or left, or
//            over a link, is kept in memory for inner, and goes on to the next device.
//   inner    A_ij -= A_ik A_kj from what is kept, block by block.
//
// No kernel waits for what depends on its own words: the data path through the torus has no cycle. Without
// links `put` and `take` are in the place of the network kernels: they write to and read from memory, and
// `carry`, or the host, has the engine of messages broadcast what lies there.
//
// Blocks are on their way as register blocks of G x G, one behind the other, in words as wide as a link: row
// by row, but for L, which goes column by column. `a` is this device's part of the matrix, row by row with
// `stride` elements from one to the next. `spent`: what a block takes beside its words [cycles]; `computes`
// is false where only time is asked for. Both are for native runs alone.
#include "common/accl.hpp"
#include "hpl/dataflow_steps.hpp"

namespace hpl {

const int word_bytes = 32;

template <typename T>
using word = fm::words<T, word_bytes / static_cast<int>(sizeof(T))>;

/// Number `i` of a block's words.
template <typename T>
word<T> word_of(const T* block, int i) {
  const int width = word_bytes / static_cast<int>(sizeof(T));
  word<T> found;
  for (int x = 0; x < width; ++x) {
#pragma HLS unroll
    found.value[x] = block[i * width + x];
  }
  return found;
}

template <typename T>
void set_word(T* block, int i, const word<T>& value) {
  const int width = word_bytes / static_cast<int>(sizeof(T));
  for (int x = 0; x < width; ++x) {
#pragma HLS unroll
    block[i * width + x] = value.value[x];
  }
}

/// How kernels move blocks: `words` for each, as many for each of its rows of register blocks.
struct shape {
  int size;     // of a block
  int words;    // of it
  long stride;  // of the matrix
  long spent;   // cycles of a block
  bool computes;
};

/// Of `cycles` for a block what step `k` of `tiles` takes: it works on `tiles - k` rows or columns of it.
inline long of_step(long cycles, int tiles, int k) {
  const long all = static_cast<long>(tiles) * (tiles + 1) / 2;
  const long rest = static_cast<long>(tiles - k) * (tiles - k + 1) / 2;
  return cycles * rest / all - cycles * (rest - tiles + k) / all;
}

/// `sends_lower`, `sends_upper`: where anybody waits for it.
template <typename T, int G>
void lu(T* a, fm::stream<word<T>>& lower, fm::stream<word<T>>& upper, shape as, bool sends_lower,
        bool sends_upper) {
  T block[most_elements];
  T inverses[2 * most_block * G];
  const int width = word_bytes / static_cast<int>(sizeof(T));
  const int tiles = as.size / G;
  if (as.computes) load_block<T, G>(block, a, as.stride, as.size);
  for (int k = 0; k < tiles; ++k) {
    if (as.computes) factorize_step<T, G>(block, inverses, as.size, k);
    for (int i = 0; i < as.words / tiles; ++i) {
#pragma HLS pipeline II = 1
      word<T> of_lower = {};
      word<T> of_upper = {};
      if (as.computes) {
        for (int x = 0; x < width; ++x) {
#pragma HLS unroll
          const int number = (i * width + x) / (G * G);
          const int within = (i * width + x) % (G * G);
          const int inverse = 2 * k * G * G + within;
          of_lower.value[x] = number == k ? inverses[inverse] : block[(number * tiles + k) * G * G + within];
          of_upper.value[x] =
              number == k ? inverses[inverse + G * G] : block[(k * tiles + number) * G * G + within];
        }
      }
      if (sends_lower) lower.write(of_lower);
      if (sends_upper) upper.write(of_upper);
    }
    if (as.computes) update_behind<T, G>(block, as.size, k);
    fm::spend_cycles(of_step(as.spent, tiles, k));
  }
  if (as.computes) store_block<T, G>(block, a, as.stride, as.size);
}

/// Receives what step `k` needs of a factor: column k of L, or row k of U.
template <typename T, int G, bool IsTop>
void receive_step(T* factors, fm::stream<word<T>>& factor, shape as, int k) {
  const int width = word_bytes / static_cast<int>(sizeof(T));
  const int tiles = as.size / G;
  for (int i = 0; i < as.words / tiles; ++i) {
#pragma HLS pipeline II = 1
    const word<T> part = factor.read();
    const int number = i * width / (G * G);
    const int tile = IsTop ? number * tiles + k : k * tiles + number;
    if (as.computes) set_word<T>(factors + tile * G * G, i % (G * G / width), part);
  }
}

/// Receives a factor, and updates `blocks` blocks, `step` elements from one to the next, in which it is the
/// left or the right factor.
template <typename T, int G, bool IsTop>
void panel(T* a, fm::stream<word<T>>& factor, fm::stream<word<T>>& updated, shape as, int blocks, long step) {
  T factors[most_elements];
  T block[most_elements];
  const int tiles = as.size / G;
  for (int number = 0; number < blocks; ++number) {
    T* start = a + number * step;
    if (as.computes) load_block<T, G>(block, start, as.stride, as.size);
    for (int k = 0; k < tiles; ++k) {
      if (number == 0) receive_step<T, G, IsTop>(factors, factor, as, k);
      if (as.computes) {
        if (IsTop) {
          solve_top_step<T, G>(block, factors, as.size, k);
        } else {
          solve_left_step<T, G>(block, factors, as.size, k);
        }
      }
      fm::spend_cycles(of_step(as.spent, tiles, k));
    }
    if (as.computes) store_block<T, G>(block, start, as.stride, as.size);
    for (int i = 0; i < as.words; ++i) {
#pragma HLS pipeline II = 1
      word<T> part = {};
      if (as.computes) part = word_of<T>(block, i);
      updated.write(part);
    }
  }
}

/// What `arriving` brings goes to a kernel of this device, where `keeps`, and to the next device, where
/// `passes`.
template <typename T>
void forward(fm::stream<word<T>>& arriving, fm::stream<word<T>>& kept, fm::stream<word<T>>& onward, int words,
             bool keeps, bool passes) {
  for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const word<T> part = arriving.read();
    if (keeps) kept.write(part);
    if (passes) onward.write(part);
  }
}

/// The same, kept in memory.
template <typename T>
void keep(fm::stream<word<T>>& arriving, word<T>* kept, fm::stream<word<T>>& onward, long words, bool keeps,
          bool passes) {
  for (long i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const word<T> part = arriving.read();
    if (keeps) kept[i] = part;
    if (passes) onward.write(part);
  }
}

/// Without a link: to memory.
template <typename T>
void put(fm::stream<word<T>>& arriving, word<T>* kept, long words, bool keeps) {
  for (long i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    const word<T> part = arriving.read();
    if (keeps) kept[i] = part;
  }
}

/// Without a link: from memory.
template <typename T>
void take(const word<T>* kept, fm::stream<word<T>>& leaving, int words, bool keeps) {
  for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II = 1
    word<T> part = {};
    if (keeps) part = kept[i];
    leaving.write(part);
  }
}

/// `count` elements of memory that go from rank `root` of a communicator to all of it.
struct broadcast {
  fm::accl_use use;
  int root;
  unsigned long long address;  // where they are, and come to
  unsigned int count;          // 0: none
};

/// Has the engine broadcast along the device's row and its column, both at the same time.
inline void carry(fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
                  broadcast along_row, broadcast along_column, fm::accl_outcome* outcome) {
  for (int i = 0; i < 2; ++i) {
    const broadcast& one = i == 0 ? along_row : along_column;
    if (one.count == 0) continue;
    const fm::accl_operand elements = fm::accl_memory(one.address);
    fm::accl_issue(commands, fm::accl_collective(one.use, fm::accl_broadcast, one.root, one.count, elements,
                                                 fm::accl_no_operand()));
  }
  for (int i = 0; i < 2; ++i) {
    if ((i == 0 ? along_row : along_column).count > 0) fm::accl_count(statuses, *outcome);
  }
}

/// Those of the inner blocks that a kernel updates: `count` from number `first` on, row by row in a rectangle
/// with `width` in a row, whose first is block (row, column), counted from where the panels begin.
struct part {
  int row;
  int column;
  int width;
  int first;
  int count;
};

template <typename T, int G>
void inner(T* a, const T* left, const T* top, shape as, part blocks) {
  T left_block[most_elements];
  T top_block[most_elements];
  T product[most_elements];
  const int elements = as.size * as.size;
  for (int number = blocks.first; number < blocks.first + blocks.count; ++number) {
    fm::spend_cycles(as.spent);
    if (!as.computes) continue;
    const long i = blocks.row + number / blocks.width;
    const long j = blocks.column + number % blocks.width;
    for (int x = 0; x < elements; ++x) {
#pragma HLS pipeline II = 1
      left_block[x] = left[i * elements + x];
      top_block[x] = top[j * elements + x];
    }
    multiply_blocks<T, G>(product, left_block, top_block, as.size);
    subtract_block<T, G>(product, a + i * as.size * as.stride + j * as.size, as.stride, as.size);
  }
}

}  // namespace hpl

#if defined(__SYNTHESIS__)  // v++ looks for kernels by their plain names; types and sizes are those of a
                            // build

#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#ifndef REGISTER_BLOCK
#define REGISTER_BLOCK 8
#endif

// Hosts give numbers, and no structures: `first` and `stride` are elements of `a`, `size` rows of a block.

using hpl_word = hpl::word<DATA_TYPE>;

inline hpl::shape hpl_shape(unsigned int size, unsigned long long stride) {
  const int words = (int)(size * size) / (hpl::word_bytes / (int)sizeof(DATA_TYPE));
  const hpl::shape as = {(int)size, words, (long)stride, 0, true};
  return as;
}

extern "C" {

void hpl_lu(DATA_TYPE* a, unsigned long long first, unsigned long long stride, unsigned int size,
            fm::stream<hpl_word>& lower, fm::stream<hpl_word>& upper, unsigned int sends) {
#pragma HLS interface mode = m_axi port = a bundle = a
  hpl::lu<DATA_TYPE, REGISTER_BLOCK>(a + first, lower, upper, hpl_shape(size, stride), sends != 0,
                                     sends != 0);
}

void hpl_top(DATA_TYPE* a, unsigned long long first, unsigned long long stride, unsigned int size,
             fm::stream<hpl_word>& factor, fm::stream<hpl_word>& updated, unsigned int blocks) {
#pragma HLS interface mode = m_axi port = a bundle = a
  hpl::panel<DATA_TYPE, REGISTER_BLOCK, true>(a + first, factor, updated, hpl_shape(size, stride),
                                              (int)blocks, (long)size);
}

void hpl_left(DATA_TYPE* a, unsigned long long first, unsigned long long stride, unsigned int size,
              fm::stream<hpl_word>& factor, fm::stream<hpl_word>& updated, unsigned int blocks) {
#pragma HLS interface mode = m_axi port = a bundle = a
  hpl::panel<DATA_TYPE, REGISTER_BLOCK, false>(a + first, factor, updated, hpl_shape(size, stride),
                                               (int)blocks, (long)(size * stride));
}

void hpl_forward(fm::stream<hpl_word>& arriving, fm::stream<hpl_word>& kept, fm::stream<hpl_word>& onward,
                 int words, bool keeps, bool passes) {
  hpl::forward<DATA_TYPE>(arriving, kept, onward, words, keeps, passes);
}

void hpl_keep(fm::stream<hpl_word>& arriving, hpl_word* kept, fm::stream<hpl_word>& onward, long words,
              bool keeps, bool passes) {
#pragma HLS interface mode = m_axi port = kept bundle = kept
#pragma HLS aggregate variable = kept
  hpl::keep<DATA_TYPE>(arriving, kept, onward, words, keeps, passes);
}

void hpl_put(fm::stream<hpl_word>& arriving, hpl_word* kept, unsigned int words) {
#pragma HLS interface mode = m_axi port = kept bundle = kept
#pragma HLS aggregate variable = kept
  hpl::put<DATA_TYPE>(arriving, kept, (long)words, true);
}

void hpl_take(const hpl_word* kept, fm::stream<hpl_word>& leaving, unsigned int words) {
#pragma HLS interface mode = m_axi port = kept bundle = kept
#pragma HLS aggregate variable = kept
  hpl::take<DATA_TYPE>(kept, leaving, (int)words, true);
}

/// Of each way what hpl::broadcast has; `failed`: how many calls ended with an error, and the status of the
/// first one.
void hpl_carry(fm::stream<fm::accl_request>& commands, fm::stream<fm::accl_word>& statuses,
               unsigned int row_communicator, unsigned int row_datapath, unsigned int row_compression,
               int row_root, unsigned long long row_address, unsigned int row_count,
               unsigned int column_communicator, unsigned int column_datapath,
               unsigned int column_compression, int column_root, unsigned long long column_address,
               unsigned int column_count, int* failed) {
#pragma HLS interface mode = m_axi port = failed bundle = failed
  const hpl::broadcast along_row = {
      {row_communicator, row_datapath, row_compression}, row_root, row_address, row_count};
  const hpl::broadcast along_column = {
      {column_communicator, column_datapath, column_compression}, column_root, column_address, column_count};
  fm::accl_outcome outcome = {};
  hpl::carry(commands, statuses, along_row, along_column, &outcome);
  fm::accl_tell(outcome, failed);
}

/// `rows` x `columns` blocks from element `first` on.
void hpl_inner(DATA_TYPE* a, unsigned long long first, unsigned long long stride, unsigned int size,
               const DATA_TYPE* left, const DATA_TYPE* top, unsigned int rows, unsigned int columns) {
#pragma HLS interface mode = m_axi port = a bundle = a
#pragma HLS interface mode = m_axi port = left bundle = panels
#pragma HLS interface mode = m_axi port = top bundle = panels
  const hpl::part blocks = {0, 0, (int)columns, 0, (int)(rows * columns)};
  hpl::inner<DATA_TYPE, REGISTER_BLOCK>(a + first, left, top, hpl_shape(size, stride), blocks);
}

}  // extern "C"

#endif
