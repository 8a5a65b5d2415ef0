#include <gtest/gtest.h>

#include "codec/kernels.hpp"
#include "codec_support.hpp"

namespace fabricmark::codec {
namespace {

/// FABRICMARK_CODEC_PATTERNS words instead of a few: those of `make test-full`.
std::size_t most_patterns(std::size_t usual) {
  const char* const asked = std::getenv("FABRICMARK_CODEC_PATTERNS");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

void require_round_trip(const Form& form, const Bytes& cells) {
  const Bytes coded = encoded(form, cells);
  Bytes back(cells.size());
  ASSERT_EQ(decode(form, coded, back), coded.size()) << said(form);
  ASSERT_TRUE(back == cells) << said(form) << ", " << cells.size() << " bytes";
}

TEST(Codec, GivesBackEachBitOfEveryPattern) {
  Patterns patterns(1);
  std::size_t words = most_patterns(400000);
  constexpr std::size_t kCells = 1500;
  while (words > 0) {
    for (const std::uint32_t channels : {1U, 2U, 3U, 7U, 8U, 9U, 10U, 15U, 16U}) {
      for (const Form& form : forms(channels, 37)) {
        require_round_trip(form, patterns.words(form, kCells * channels));
        words -= std::min<std::size_t>(words, kCells * channels);
      }
    }
  }
}

TEST(Codec, TakesAllLengthsOfThreeBlocks) {
  Patterns patterns(2);
  for (std::size_t cells = 0; cells <= 3 * kBlockCells; ++cells) {
    const auto channels = static_cast<std::uint32_t>(1 + cells % kMostChannels);
    const std::vector<Form> all = forms(channels, 4 + cells % 300);
    for (std::size_t i = cells % 11; i < all.size(); i += 11)
      require_round_trip(all[i], patterns.words(all[i], cells * channels));
  }
}

TEST(Codec, TakesRowsOfAllLengths) {
  Patterns patterns(3);
  for (const std::uint64_t columns : {1U, 2U, 3U, 4U, 5U, 255U, 256U, 257U, 1000U, 5000U}) {
    for (const Form& form : forms(3, columns)) {
      if (columns < form.lanes) continue;
      require_round_trip(form, patterns.words(form, std::size_t{3} * 2100));
    }
  }
}

/// The same bits from the kernels of each kind of processor.
template <typename Word>
void compare_levels(const Form& form) {
  Patterns patterns(4);
  constexpr std::size_t kCells = 256;
  for (std::uint32_t channels = 1; channels <= kMostChannels; ++channels) {
    const std::size_t count = kCells * channels;
    const Bytes bytes = patterns.words(form, count);
    std::vector<Word> residuals(count + kSlack);
    std::memcpy(residuals.data(), bytes.data(), bytes.size());
    std::vector<std::uint8_t> expected(2 * count * sizeof(Word) + kSlack);
    const std::size_t bits =
        kernels_of<Word>(Level::kPlain).pack(residuals.data(), kCells, channels, expected.data());
    for (const Level level : {Level::kPlain, Level::kAvx2, Level::kAvx512}) {
      if (!has_level(level)) continue;
      const Kernels<Word>& own = kernels_of<Word>(level);
      std::vector<std::uint8_t> packed(expected.size());
      ASSERT_EQ(own.pack(residuals.data(), kCells, channels, packed.data()), bits);
      ASSERT_TRUE(std::equal(packed.begin(), packed.begin() + static_cast<long>(bits / 8), expected.begin()));
      std::vector<Word> back(count + kSlack);
      ASSERT_EQ(own.unpack(packed.data(), bits, kCells, channels, back.data()), bits);
      ASSERT_TRUE(std::equal(back.begin(), back.begin() + static_cast<long>(count), residuals.begin()));
      std::vector<Word> words(count);
      std::vector<std::byte> numbers(bytes.size());
      for (const bool is_float : {false, true}) {
        own.map(bytes.data(), count, is_float, true, words.data());
        own.unmap(words.data(), count, is_float, true, numbers.data());
        ASSERT_TRUE(numbers == bytes);
      }
    }
  }
}

TEST(Codec, IsTheSameOnAllProcessors) {
  compare_levels<std::uint32_t>({.element = Element::kFloat32});
  compare_levels<std::uint64_t>({.element = Element::kFloat64});
}

/// Random words, as no predictor can foretell.
Bytes random_cells(const Form& form, std::size_t cells, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(cells * form.cell_bytes());
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, sizeof(word));
  }
  return bytes;
}

double growth(const Form& form, const Bytes& cells) {
  return static_cast<double>(encoded(form, cells).size()) / static_cast<double>(cells.size()) - 1;
}

TEST(Codec, RandomFilesGrowByAHeadABlock) {
  for (const Form& form : forms(10, 50)) {
    if (form.mode != Mode::kFile) continue;
    const Bytes cells = random_cells(form, 10 * kBlockCells, 5);
    EXPECT_EQ(encoded(form, cells).size(), cells.size() + 10 * 4) << said(form);
    EXPECT_LT(growth(form, cells), 0.01);
  }
}

TEST(Codec, RandomStreamsGrowInTheirFirstBlock) {
  for (const Form& form : forms(10, 50)) {
    if (form.mode != Mode::kStream) continue;
    for (const std::uint32_t flit_bits : {32U, form.flit_bits}) {
      Form narrow = form;
      narrow.flit_bits = flit_bits;
      // A block is filled up to a flit: of 32 bits nothing is to be filled up.
      const double filled =
          flit_bits == 32 ? 0 : (flit_bits / 8.0 - 4) / static_cast<double>(kBlockCells * form.cell_bytes());
      EXPECT_LT(growth(narrow, random_cells(form, 10 * kBlockCells, 6)), 0.01 + filled) << said(narrow);
    }
  }
}

/// Raw is decided from the block before: blocks that take turns are each in the worse form.
TEST(Codec, AStreamOfBlocksThatTakeTurnsGrowsByItsClasses) {
  Form form{.mode = Mode::kStream, .channels = 10};
  for (const std::uint32_t lanes : {1U, 2U, 4U}) {
    form.lanes = lanes;
    Bytes cells;
    for (int block = 0; block < 20; ++block) {
      const Bytes random = random_cells(form, kBlockCells, 7 + block);
      const Bytes next = block % 2 == 1 ? random : Bytes(random.size());
      cells.insert(cells.end(), next.begin(), next.end());
      EXPECT_LE(growth(form, cells), 0.09375 + 32.0 / (kBlockCells * 320)) << block;
    }
  }
}

TEST(Codec, ConstantsTakeTheirClasses) {
  const Form form{.channels = 8};
  const Bytes cells(kBlockCells * form.cell_bytes() * 4);
  // 0 is mapped to 2^31, which is foretold from the second cell on of what is 0 before.
  const std::size_t bits_of_classes = 4 * kBlockCells * 3 * form.channels;
  EXPECT_LE(encoded(form, cells).size(), bits_of_classes / 8 + 4 * 4 + 2 * form.cell_bytes());
}

TEST(Codec, HasTheBitsThatItsPageTells) {
  const Form form{.element = Element::kInt32};
  const std::vector<std::int32_t> numbers{3, 5, 7, 9};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
  const Bytes coded = encoded(form, Bytes(bytes.begin(), bytes.end()));
  // Residuals 3, -1, 0, 0: zigzag 6, 1, 0, 0; classes 1, 1, 0, 0: 3 bits each and 4 of residuals.
  const std::uint32_t head = 3U | 1U << 11U | 2U << 16U;
  const std::uint32_t bits = 1U | 6U << 3U | 1U << 7U | 1U << 10U;
  std::uint32_t found[2];
  ASSERT_EQ(coded.size(), sizeof(found));
  std::memcpy(found, coded.data(), sizeof(found));
  EXPECT_EQ(found[0], head);
  EXPECT_EQ(found[1], bits);
}

/// The format as its page tells it, a bit and a word at a time.
class Reference {
 public:
  Reference(const Form& form, const Bytes& cells) : form_(form), bits_(8 * form.word_bytes()) {
    for (std::size_t at = 0; at < cells.size(); at += form.word_bytes()) {
      std::uint64_t word = 0;
      std::memcpy(&word, &cells[at], form.word_bytes());
      words_.push_back(word);
    }
  }
  Bytes coded() {
    const std::size_t cells = words_.size() / form_.channels;
    for (std::size_t first = 0; first < cells; first += kBlockCells)
      block(first, std::min(kBlockCells, cells - first), first + kBlockCells >= cells);
    Bytes bytes(out_.size() / 8);
    for (std::size_t i = 0; i < out_.size(); ++i)
      bytes[i / 8] |= static_cast<std::byte>(std::uint8_t{out_[i]} << i % 8);
    return bytes;
  }

 private:
  using Bits = std::vector<bool>;
  static void put(Bits& to, std::uint64_t value, std::size_t bits) {
    for (std::size_t i = 0; i < bits; ++i) to.push_back((value >> i & 1U) != 0);
  }
  [[nodiscard]] std::uint64_t cut(std::uint64_t value) const {
    return bits_ == 64 ? value : value & 0xFFFFFFFFU;
  }
  /// Mapped, of a cell that may lie before the frame.
  [[nodiscard]] std::uint64_t at(std::int64_t cell, std::size_t channel) const {
    if (cell < 0) return 0;
    const std::uint64_t word = words_[static_cast<std::size_t>(cell) * form_.channels + channel];
    if (!form_.is_float()) return word;
    const bool is_negative = (word >> (bits_ - 1)) != 0;
    return is_negative ? cut(~word) : word ^ std::uint64_t{1} << (bits_ - 1);
  }
  [[nodiscard]] std::uint64_t difference(std::int64_t cell, std::size_t channel, int along,
                                         std::size_t across) const {
    if (cell < 0) return 0;
    if (along > 0)
      return difference(cell, channel, along - 1, across) -
             difference(cell - form_.lanes, channel, along - 1, across);
    if (across == 0) return at(cell, channel);
    return difference(cell, channel, 0, across - 1) -
           difference(cell - static_cast<std::int64_t>(form_.columns), channel, 0, across - 1);
  }
  void block(std::size_t first, std::size_t cells, bool is_last) {
    Bits coded;
    Bits raw;
    for (std::size_t cell = first; cell < first + cells; ++cell) {
      Bits residuals;
      for (std::size_t channel = 0; channel < form_.channels; ++channel) {
        put(raw, words_[cell * form_.channels + channel], bits_);
        const std::uint64_t r =
            cut(difference(static_cast<std::int64_t>(cell), channel, form_.order(), form_.rows_before()));
        const std::uint64_t z = cut(r << 1U) ^ ((r >> (bits_ - 1)) != 0 ? cut(~std::uint64_t{0}) : 0);
        const std::size_t last_class = bits_ == 64 ? 15 : 7;
        std::size_t of_class = 0;
        while (of_class < last_class && (z >> 4 * of_class) != 0) ++of_class;
        put(coded, of_class, bits_ == 64 ? 4 : 3);
        put(residuals, z, of_class == last_class ? bits_ : 4 * of_class);
      }
      coded.insert(coded.end(), residuals.begin(), residuals.end());
    }
    const auto flits = [&](const Bits& of) {
      return (32 + of.size() + form_.flit_bits - 1) / form_.flit_bits;
    };
    const bool is_raw_shorter = flits(raw) < flits(coded);
    const bool is_raw = form_.mode == Mode::kFile ? is_raw_shorter : was_raw_shorter_;
    was_raw_shorter_ = is_raw_shorter;
    const Bits& chosen = is_raw ? raw : coded;
    const std::size_t end = out_.size() + flits(chosen) * form_.flit_bits;
    put(out_, cells - 1, 8);
    put(out_, is_raw ? 1 : 0, 1);
    put(out_, static_cast<std::uint32_t>(form_.predictor) - 1, 2);
    put(out_, is_last ? 1 : 0, 5);
    put(out_, form_.mode == Mode::kFile ? flits(chosen) : 0, 16);
    out_.insert(out_.end(), chosen.begin(), chosen.end());
    out_.resize(end);
  }

  Form form_;
  std::size_t bits_;
  std::vector<std::uint64_t> words_;
  Bits out_;
  bool was_raw_shorter_ = false;
};

TEST(Codec, IsWhatItsPageTells) {
  Patterns patterns(9);
  for (const std::uint32_t channels : {1U, 3U, 10U}) {
    for (const Form& form : forms(channels, 23)) {
      if (form.is_swapped) continue;
      const Bytes cells = patterns.words(form, std::size_t{600} * channels);
      ASSERT_TRUE(encoded(form, cells) == Reference(form, cells).coded()) << said(form);
    }
  }
}

TEST(Codec, RefusesFormsThatThereAreNot) {
  const auto refused = [](const Form& form) { EXPECT_THROW(require_form(form), Damage) << said(form); };
  refused({.element = static_cast<Element>(0)});
  refused({.element = static_cast<Element>(5)});
  refused({.predictor = static_cast<Predictor>(5)});
  refused({.mode = static_cast<Mode>(0)});
  refused({.channels = 0});
  refused({.channels = 17});
  refused({.lanes = 3});
  refused({.flit_bits = 96});
  refused({.predictor = Predictor::kPlane, .columns = 0});
  refused({.predictor = Predictor::kPlane, .lanes = 4, .columns = 3});
}

}  // namespace
}  // namespace fabricmark::codec
