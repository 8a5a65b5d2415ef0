#include "codec/kernels.hpp"

#include "codec/kernel_bodies.hpp"

namespace fabricmark::codec {

namespace {

// Each loop once for each kind of processor: what compilers make of it for one must not run on another.
#if defined(__x86_64__)
#define FM_TARGET(NAMES) __attribute__((target(NAMES)))
#else
#define FM_TARGET(NAMES)
#endif
#define FM_KERNELS(NAME, TARGET)                                                                            \
  template <typename Word>                                                                                  \
  struct NAME {                                                                                             \
    FM_TARGET(TARGET)                                                                                       \
    static void map(const std::byte* numbers, std::size_t count, bool is_float, bool swap, Word* words) {   \
      bodies::map(numbers, count, is_float, swap, words);                                                   \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void unmap(const Word* words, std::size_t count, bool is_float, bool swap, std::byte* numbers) { \
      bodies::unmap(words, count, is_float, swap, numbers);                                                 \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void line_residuals(const Word* words, std::size_t count, std::size_t lag, Word* residuals) {    \
      bodies::line_residuals(words, count, lag, residuals);                                                 \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void differences(const Word* words, std::size_t count, std::size_t lag, int order, Word* made) { \
      bodies::differences(words, count, lag, order, made);                                                  \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void row_residuals(const Word* differences, std::size_t count, Word* row, Word* second_row,      \
                              Word* residuals) {                                                            \
      bodies::row_residuals(differences, count, row, second_row, residuals);                                \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void line_words(const Word* residuals, std::size_t count, std::size_t lag, Word* last,           \
                           Word* words) {                                                                   \
      bodies::sums<Word, 2, true>(residuals, count, lag, last, words);                                      \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void row_differences(const Word* residuals, std::size_t count, Word* row, Word* second_row,      \
                                Word* made) {                                                               \
      bodies::row_differences(residuals, count, row, second_row, made);                                     \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static void words(const Word* differences, std::size_t count, std::size_t lag, int order, Word* last,   \
                      Word* to) {                                                                           \
      if (order == 1) return bodies::sums<Word, 1, false>(differences, count, lag, last, to);               \
      bodies::sums<Word, 2, false>(differences, count, lag, last, to);                                      \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static std::size_t pack(const Word* residuals, std::size_t cells, std::size_t channels,                 \
                            std::uint8_t* bits) {                                                           \
      return bodies::pack(residuals, cells, channels, bits);                                                \
    }                                                                                                       \
    FM_TARGET(TARGET)                                                                                       \
    static std::size_t unpack(const std::uint8_t* bits, std::size_t most, std::size_t cells,                \
                              std::size_t channels, Word* residuals) {                                      \
      return bodies::unpack(bits, most, cells, channels, residuals);                                        \
    }                                                                                                       \
    static constexpr Kernels<Word> kAll{map,           unmap,      line_residuals,  differences,            \
                                        row_residuals, line_words, row_differences, words,                  \
                                        pack,          unpack};                                             \
  }

FM_KERNELS(Plain, "sse2");
#if defined(__x86_64__)
FM_KERNELS(Avx2, "avx2,bmi,bmi2,lzcnt");
FM_KERNELS(Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi,bmi2,lzcnt");
#endif

Level widest_level() {
  if (has_level(Level::kAvx512)) return Level::kAvx512;
  return has_level(Level::kAvx2) ? Level::kAvx2 : Level::kPlain;
}

}  // namespace

bool has_level(Level level) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0;
  if (level == Level::kAvx2) return has_avx2;
  if (level == Level::kAvx512) {
    return has_avx2 && __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512cd") != 0;
  }
#endif
  return level == Level::kPlain;
}

template <typename Word>
const Kernels<Word>& kernels_of(Level level) {
#if defined(__x86_64__)
  if (level == Level::kAvx512) return Avx512<Word>::kAll;
  if (level == Level::kAvx2) return Avx2<Word>::kAll;
#endif
  return Plain<Word>::kAll;
}

template <typename Word>
const Kernels<Word>& kernels() {
  static const Kernels<Word>& chosen = kernels_of<Word>(widest_level());
  return chosen;
}

template const Kernels<std::uint32_t>& kernels_of(Level level);
template const Kernels<std::uint64_t>& kernels_of(Level level);
template const Kernels<std::uint32_t>& kernels();
template const Kernels<std::uint64_t>& kernels();

}  // namespace fabricmark::codec
