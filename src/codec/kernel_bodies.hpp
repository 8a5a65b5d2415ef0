#pragma once

// What the kernels do, to be inlined into a function for each kind of processor (kernels.cpp).
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fabricmark::codec::bodies {

#define FM_INLINE [[gnu::always_inline]] inline

static_assert(std::endian::native == std::endian::little, "bits are packed as this machine's words lie");

inline constexpr std::size_t kGroup = 8;  ///< classes that stand in a word of 64 bits, one a byte

template <typename Word>
struct Classes;
/// Of 32 bits: lengths 0, 4 .. 24, 32.
template <>
struct Classes<std::uint32_t> {
  static constexpr unsigned kBits = 3;
  static constexpr unsigned kLongest = 7;
};
/// Of 64 bits: lengths 0, 4 .. 56, 64.
template <>
struct Classes<std::uint64_t> {
  static constexpr unsigned kBits = 4;
  static constexpr unsigned kLongest = 15;
};

template <typename Word>
FM_INLINE Word loaded(const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

FM_INLINE std::uint32_t swapped(std::uint32_t word) { return __builtin_bswap32(word); }
FM_INLINE std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }

template <typename Word>
constexpr Word kTop = Word{1} << (8 * sizeof(Word) - 1);

template <typename Word>
FM_INLINE Word sign_of(Word word) {
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(word) >> (8 * sizeof(Word) - 1));
}

template <typename Word>
FM_INLINE void map(const std::byte* numbers, std::size_t count, bool is_float, bool swap, Word* words) {
  if (swap) {
    for (std::size_t i = 0; i < count; ++i) words[i] = swapped(loaded<Word>(numbers + i * sizeof(Word)));
  } else {
    std::memcpy(words, numbers, count * sizeof(Word));
  }
  if (!is_float) return;
  for (std::size_t i = 0; i < count; ++i) words[i] ^= kTop<Word> | sign_of(words[i]);
}

template <typename Word>
FM_INLINE void unmap(const Word* words, std::size_t count, bool is_float, bool swap, std::byte* numbers) {
  for (std::size_t i = 0; i < count; ++i) {
    Word word = words[i];
    if (is_float) word ^= kTop<Word> | sign_of(static_cast<Word>(~word));
    if (swap) word = swapped(word);
    std::memcpy(numbers + i * sizeof(Word), &word, sizeof(Word));
  }
}

template <typename Word>
FM_INLINE Word zigzag(Word word) {
  return static_cast<Word>(word << 1U) ^ sign_of(word);
}
template <typename Word>
FM_INLINE Word from_zigzag(Word word) {
  return static_cast<Word>(word >> 1U) ^ static_cast<Word>(Word{0} - (word & 1U));
}

template <typename Word>
FM_INLINE void line_residuals(const Word* words, std::size_t count, std::size_t lag, Word* residuals) {
  const Word* const before = words - lag;
  const Word* const long_before = before - lag;
  for (std::size_t i = 0; i < count; ++i)
    residuals[i] = zigzag(static_cast<Word>(words[i] - 2 * before[i] + long_before[i]));
}

template <typename Word>
FM_INLINE void differences(const Word* words, std::size_t count, std::size_t lag, int order, Word* made) {
  const Word* const before = words - lag;
  if (order == 1) {
    for (std::size_t i = 0; i < count; ++i) made[i] = words[i] - before[i];
    return;
  }
  const Word* const long_before = before - lag;
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<Word>(words[i] - 2 * before[i] + long_before[i]);
}

template <typename Word>
FM_INLINE void row_residuals(const Word* differences, std::size_t count, Word* __restrict row,
                             Word* __restrict second_row, Word* __restrict residuals) {
  if (second_row == nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
      residuals[i] = zigzag(static_cast<Word>(differences[i] - row[i]));
      row[i] = differences[i];
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Word across = differences[i] - row[i];
    row[i] = differences[i];
    residuals[i] = zigzag(static_cast<Word>(across - second_row[i]));
    second_row[i] = across;
  }
}

/// Words of cells no longer than this are taken as many at a time, whatever the cell has: what is too much
/// is written again by the next one.
inline constexpr std::size_t kWide = 16;

/// The difference that a residual stands for, or that is given as it is.
template <typename Word, bool kIsZigzag>
FM_INLINE Word given(Word from) {
  return kIsZigzag ? from_zigzag(from) : from;
}

/// `words[i] = words[i - lag] + slope(i)`: of order 1 slopes are given, of order 2 their differences.
template <typename Word, int kOrder, bool kIsZigzag>
FM_INLINE void sums_of_one(const Word* from, std::size_t count, Word* last, Word* words) {
  Word word = words[-1];
  Word slope = kOrder == 2 ? last[0] : Word{0};
  for (std::size_t i = 0; i < count; ++i) {
    slope = given<Word, kIsZigzag>(from[i]) + (kOrder == 2 ? slope : Word{0});
    word += slope;
    words[i] = word;
  }
  if (kOrder == 2) last[0] = slope;
}

template <typename Word, int kOrder, bool kIsZigzag>
FM_INLINE void sums_of_few(const Word* from, std::size_t count, std::size_t lag, Word* last, Word* words) {
  Word word[kWide];
  Word slope[kWide];
  for (std::size_t j = 0; j < kWide; ++j) word[j] = j < lag ? words[j - lag] : 0;
  for (std::size_t j = 0; j < kWide; ++j) slope[j] = kOrder == 2 && j < lag ? last[j] : 0;
  std::size_t i = 0;
  for (; i + lag <= count; i += lag) {
    for (std::size_t j = 0; j < kWide; ++j) {
      slope[j] = given<Word, kIsZigzag>(from[i + j]) + (kOrder == 2 ? slope[j] : Word{0});
      word[j] += slope[j];
    }
    std::memcpy(words + i, word, sizeof(word));
  }
  for (std::size_t j = 0; i + j < count; ++j) {  // a part of all lanes
    slope[j] = given<Word, kIsZigzag>(from[i + j]) + (kOrder == 2 ? slope[j] : Word{0});
    words[i + j] = word[j] + slope[j];
  }
  if (kOrder == 2) std::memcpy(last, slope, lag * sizeof(Word));
}

template <typename Word, int kOrder, bool kIsZigzag>
FM_INLINE void sums_of_many(const Word* from, std::size_t count, std::size_t lag, Word* __restrict last,
                            Word* words) {
  for (std::size_t i = 0; i < count; i += lag) {
    const std::size_t here = count - i < lag ? count - i : lag;
    const Word* const before = words + i - lag;
    Word* const now = words + i;
    for (std::size_t j = 0; j < here; ++j) {
      const Word slope = given<Word, kIsZigzag>(from[i + j]) + (kOrder == 2 ? last[j] : Word{0});
      if (kOrder == 2) last[j] = slope;
      now[j] = before[j] + slope;
    }
  }
}

template <typename Word, int kOrder, bool kIsZigzag>
FM_INLINE void sums(const Word* from, std::size_t count, std::size_t lag, Word* last, Word* words) {
  if (lag == 1) return sums_of_one<Word, kOrder, kIsZigzag>(from, count, last, words);
  if (lag <= kWide) return sums_of_few<Word, kOrder, kIsZigzag>(from, count, lag, last, words);
  sums_of_many<Word, kOrder, kIsZigzag>(from, count, lag, last, words);
}

template <typename Word>
FM_INLINE void row_differences(const Word* residuals, std::size_t count, Word* __restrict row,
                               Word* __restrict second_row, Word* __restrict made) {
  if (second_row == nullptr) {
    for (std::size_t i = 0; i < count; ++i) made[i] = row[i] += from_zigzag(residuals[i]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    second_row[i] += from_zigzag(residuals[i]);
    made[i] = row[i] += second_row[i];
  }
}

/// By comparisons, which compilers make of several residuals at once.
template <typename Word>
FM_INLINE std::uint8_t class_of(Word residual) {
  Word found = residual > 0;
  for (unsigned bits = 4; bits <= 4 * (Classes<Word>::kLongest - 1); bits += 4)
    found += residual > static_cast<Word>((Word{1} << bits) - 1);
  return static_cast<std::uint8_t>(found);
}

constexpr std::uint64_t each_byte(std::uint64_t value) { return value * 0x0101010101010101U; }

/// Classes that stand in bytes, one behind the other.
template <typename Word>
FM_INLINE std::uint64_t joined(std::uint64_t bytes) {
  if constexpr (Classes<Word>::kBits == 3) {
    bytes = (bytes | bytes >> 5U) & 0x003F003F003F003FU;
    bytes = (bytes | bytes >> 10U) & 0x00000FFF00000FFFU;
    return (bytes | bytes >> 20U) & 0xFFFFFFU;
  } else {
    bytes = (bytes | bytes >> 4U) & 0x00FF00FF00FF00FFU;
    bytes = (bytes | bytes >> 8U) & 0x0000FFFF0000FFFFU;
    return (bytes | bytes >> 16U) & 0xFFFFFFFFU;
  }
}
template <typename Word>
FM_INLINE std::uint64_t spread(std::uint64_t bits) {
  if constexpr (Classes<Word>::kBits == 3) {
    bits = (bits | bits << 20U) & 0x00000FFF00000FFFU;
    bits = (bits | bits << 10U) & 0x003F003F003F003FU;
    return (bits | bits << 5U) & each_byte(7);
  } else {
    bits = (bits | bits << 16U) & 0x0000FFFF0000FFFFU;
    bits = (bits | bits << 8U) & 0x00FF00FF00FF00FFU;
    return (bits | bits << 4U) & each_byte(15);
  }
}

/// Lengths in fours of bits, of classes in bytes.
template <typename Word>
FM_INLINE std::uint64_t lengths_of(std::uint64_t classes) {
  return classes + ((classes + each_byte(1)) >> Classes<Word>::kBits & each_byte(1));
}
template <typename Word>
FM_INLINE unsigned length_of(unsigned of_class) {
  return (of_class + ((of_class + 1) >> Classes<Word>::kBits)) * 4;
}

/// Joins bits to words of 64.
class Bits {
 public:
  FM_INLINE explicit Bits(std::uint8_t* to) : at_(to) {}
  /// `value` has no bits from `length` on, which is at most 64.
  FM_INLINE void put(std::uint64_t value, unsigned length) {
    const std::uint64_t word = open_ | value << used_;
    std::memcpy(at_, &word, sizeof(word));
    const unsigned used = used_ + length;
    const std::uint64_t rest = value >> 1U >> (63U - used_);
    open_ = used >= 64U ? rest : word;
    at_ += used >> 6U << 3U;
    used_ = used & 63U;
  }
  /// Writes what is left, with bits that are 0 behind it; returns how many bits there are.
  FM_INLINE std::size_t end(const std::uint8_t* start) {
    std::memcpy(at_, &open_, sizeof(open_));
    return 8 * static_cast<std::size_t>(at_ - start) + used_;
  }

 private:
  std::uint8_t* at_;
  std::uint64_t open_ = 0;
  unsigned used_ = 0;
};

template <typename Word>
FM_INLINE void put_residuals(Bits& bits, const Word* residuals, const std::uint8_t* classes,
                             std::size_t count) {
  if constexpr (sizeof(Word) == 4) {
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
      const unsigned first = length_of<Word>(classes[i]);
      const unsigned second = length_of<Word>(classes[i + 1]);
      bits.put(residuals[i] | std::uint64_t{residuals[i + 1]} << first, first + second);
    }
    if (i < count) bits.put(residuals[i], length_of<Word>(classes[i]));
  } else {
    for (std::size_t i = 0; i < count; ++i) bits.put(residuals[i], length_of<Word>(classes[i]));
  }
}

FM_INLINE void put_single(Bits& bits, std::uint32_t residual, unsigned of_class) {
  constexpr unsigned kBits = Classes<std::uint32_t>::kBits;
  bits.put(of_class | std::uint64_t{residual} << kBits, kBits + length_of<std::uint32_t>(of_class));
}
FM_INLINE void put_single(Bits& bits, std::uint64_t residual, unsigned of_class) {
  bits.put(of_class, Classes<std::uint64_t>::kBits);
  bits.put(residual, length_of<std::uint64_t>(of_class));
}

inline constexpr std::size_t kMostWords = 4096;  ///< of a block

template <typename Word>
FM_INLINE std::size_t pack(const Word* residuals, std::size_t cells, std::size_t channels, std::uint8_t* to) {
  constexpr unsigned kBits = Classes<Word>::kBits;
  std::uint8_t classes[kMostWords + kGroup];
  for (std::size_t i = 0; i < cells * channels; ++i) classes[i] = class_of(residuals[i]);
  Bits bits(to);
  if (channels == 1) {
    for (std::size_t i = 0; i < cells; ++i) put_single(bits, residuals[i], classes[i]);
    return bits.end(to);
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const Word* const of_cell = residuals + cell * channels;
    const std::uint8_t* const its = classes + cell * channels;
    std::uint64_t head = joined<Word>(loaded<std::uint64_t>(its));
    if (channels > kGroup) head |= joined<Word>(loaded<std::uint64_t>(its + kGroup)) << kBits * kGroup;
    const unsigned length = kBits * static_cast<unsigned>(channels);
    bits.put(head & ~std::uint64_t{0} >> (64U - length), length);
    put_residuals(bits, of_cell, its, channels);
  }
  return bits.end(to);
}

/// 57 bits or more from a place.
FM_INLINE std::uint64_t bits_at(const std::uint8_t* from, std::size_t at) {
  return loaded<std::uint64_t>(from + (at >> 3U)) >> (at & 7U);
}
/// All 64.
FM_INLINE std::uint64_t word_at(const std::uint8_t* from, std::size_t at) {
  const std::uint64_t more = from[(at >> 3U) + 8];
  return bits_at(from, at) | more << 1U << (63U - (at & 7U));
}

FM_INLINE std::uint64_t lowest(std::uint64_t word, unsigned bits) {  // of at most 63
  return word & ((std::uint64_t{1} << bits) - 1);
}

/// Residuals of a group of classes that begin at a place; returns where they end.
template <typename Word>
FM_INLINE std::size_t take_residuals(const std::uint8_t* from, std::size_t at, std::uint64_t classes,
                                     std::size_t count, Word* residuals) {
  const std::uint64_t lengths = lengths_of<Word>(classes);
  const std::uint64_t ends = lengths * each_byte(1);
  std::uint64_t starts = ends - lengths;
  std::uint64_t left = lengths;
  for (std::size_t i = 0; i < count; ++i, starts >>= 8U, left >>= 8U) {
    const std::size_t here = at + 4 * (starts & 0xFFU);
    const unsigned length = 4 * (left & 0xFFU);
    if constexpr (sizeof(Word) == 4) {
      residuals[i] = static_cast<Word>(lowest(bits_at(from, here), length));
    } else {
      const std::uint64_t word = word_at(from, here);
      residuals[i] = length == 64 ? word : lowest(word, length & 63U);
    }
  }
  return at + 4 * (ends >> 56U);
}

/// Cells of one channel: what one load brings is enough for a cell, and for the next one if both are short.
FM_INLINE std::size_t unpack_single(const std::uint8_t* from, std::size_t most, std::size_t cells,
                                    std::uint32_t* residuals) {
  constexpr unsigned kBits = Classes<std::uint32_t>::kBits;
  constexpr unsigned kSure = 57;
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < cells && at <= most;) {
    const std::uint64_t word = bits_at(from, at);
    const unsigned length = length_of<std::uint32_t>(word & 7U);
    residuals[cell++] = static_cast<std::uint32_t>(lowest(word >> kBits, length));
    const std::uint64_t next = word >> kBits >> length;
    const unsigned next_length = length_of<std::uint32_t>(next & 7U);
    if (2 * kBits + length + next_length <= kSure && cell < cells) {
      residuals[cell++] = static_cast<std::uint32_t>(lowest(next >> kBits, next_length));
      at += kBits + next_length;
    }
    at += kBits + length;
  }
  return at;
}

/// Lengths of a few cells' classes, in fours of bits: where the next cell begins is known sooner by a table.
inline constexpr unsigned kTableBits = 12;
template <typename Word>
constexpr std::array<std::uint8_t, 1U << kTableBits> table_of_lengths() {
  constexpr unsigned kBits = Classes<Word>::kBits;
  std::array<std::uint8_t, 1U << kTableBits> made{};
  for (unsigned classes = 0; classes < made.size(); ++classes) {
    for (unsigned rest = classes; rest != 0; rest >>= kBits) {
      const unsigned number = rest & Classes<Word>::kLongest;
      made[classes] = static_cast<std::uint8_t>(made[classes] + number + ((number + 1) >> kBits));
    }
  }
  return made;
}
template <typename Word>
inline constexpr auto kLengths = table_of_lengths<Word>();

template <typename Word>
FM_INLINE std::size_t unpack_few(const std::uint8_t* from, std::size_t most, std::size_t cells,
                                 std::size_t channels, Word* residuals) {
  const unsigned bits = Classes<Word>::kBits * static_cast<unsigned>(channels);
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < cells && at <= most; ++cell, residuals += channels) {
    const std::uint64_t head = lowest(bits_at(from, at), bits);
    const std::size_t next = at + bits + 4U * kLengths<Word>[head];
    take_residuals(from, at + bits, spread<Word>(head), channels, residuals);
    at = next;
  }
  return at;
}

template <typename Word>
FM_INLINE std::size_t unpack(const std::uint8_t* from, std::size_t most, std::size_t cells,
                             std::size_t channels, Word* residuals) {
  if constexpr (sizeof(Word) == 4) {
    if (channels == 1) return unpack_single(from, most, cells, residuals);
  }
  constexpr unsigned kBits = Classes<Word>::kBits;
  if (kBits * channels <= kTableBits) return unpack_few(from, most, cells, channels, residuals);
  const std::size_t first = channels < kGroup ? channels : kGroup;
  const std::size_t second = channels - first;
  std::size_t at = 0;
  for (std::size_t cell = 0; cell < cells && at <= most; ++cell) {
    // Classes of 16 channels of 32 bits have 48 bits.
    const std::uint64_t head = sizeof(Word) == 4 ? bits_at(from, at) : word_at(from, at);
    at += kBits * channels;
    std::uint64_t classes = spread<Word>(lowest(head, kBits * static_cast<unsigned>(first)));
    at = take_residuals(from, at, classes, first, residuals);
    residuals += first;
    if (second == 0) continue;
    classes = spread<Word>(lowest(head >> kBits * kGroup, kBits * static_cast<unsigned>(second)));
    at = take_residuals(from, at, classes, second, residuals);
    residuals += second;
  }
  return at;
}

#undef FM_INLINE

}  // namespace fabricmark::codec::bodies
