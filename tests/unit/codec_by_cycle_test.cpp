#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "codec/by_cycle.hpp"
#include "codec/gain.hpp"
#include "codec_support.hpp"

namespace fabricmark::codec {
namespace {

/// All forms that hardware has, of flits of any width.
std::vector<Form> stream_forms(std::uint32_t channels, std::uint64_t columns) {
  std::vector<Form> found;
  for (Form form : forms(channels, columns)) {
    if (form.mode != Mode::kStream || form.word_bytes() != 4) continue;
    for (const std::uint32_t bits : {32U, 256U, 512U}) {
      form.flit_bits = bits;
      found.push_back(form);
    }
  }
  return found;
}

Bytes flits_of(const Form& form, const Bytes& cells) {
  const std::size_t cycle = form.lanes * form.cell_bytes();
  StreamEncoder encoder(form, cells.size() / form.cell_bytes());
  Bytes made;
  bool is_last = cells.empty();
  for (std::size_t at = 0; at < cells.size(); at += cycle) {
    encoder.put(&cells[at]);
    while (encoder.has_flit()) {
      EXPECT_FALSE(is_last);
      made.resize(made.size() + form.flit_bits / 8);
      is_last = encoder.take(&made[made.size() - form.flit_bits / 8]);
    }
  }
  EXPECT_TRUE(is_last);
  return made;
}

/// As many cells as come out of so many flits.
Bytes cells_of(const Form& form, std::size_t cells, const Bytes& flits) {
  StreamDecoder decoder(form, cells);
  Bytes back(cells * form.cell_bytes());
  std::size_t at = 0;
  const std::size_t cycle = form.lanes * form.cell_bytes();
  for (std::size_t done = 0; done < back.size(); done += cycle) {
    while (!decoder.has_cells()) {
      if (at == flits.size()) throw Damage("cut");
      decoder.put(&flits[at]);
      at += form.flit_bits / 8;
    }
    decoder.take(&back[done]);
  }
  if (at != flits.size() || decoder.flits_left() > 0) throw Damage("flits are left");
  return back;
}

TEST(CodecStream, MakesTheBitsOfBlocksCycleByCycle) {
  Patterns patterns(11);
  for (const std::uint32_t channels : {1U, 2U, 3U, 10U, 16U}) {
    for (const Form& form : stream_forms(channels, 37)) {
      for (const std::size_t cells : {4U, 252U, 256U, 260U, 1500U}) {
        const Bytes bytes = patterns.words(form, cells * channels);
        const Bytes flits = flits_of(form, bytes);
        ASSERT_TRUE(flits == encoded(form, bytes)) << said(form) << ", cells " << cells;
        ASSERT_TRUE(cells_of(form, cells, flits) == bytes) << said(form) << ", cells " << cells;
      }
    }
  }
}

TEST(CodecStream, HasAFlitInTheCycleInWhichItsLastBitComes) {
  const Form form{.element = Element::kInt32, .mode = Mode::kStream, .flit_bits = 32};
  StreamEncoder encoder(form, 3);
  Bytes flit(4);
  const std::vector<std::int32_t> cells{0, 1 << 20, 0};
  encoder.put(reinterpret_cast<const std::byte*>(&cells[0]));
  EXPECT_TRUE(encoder.has_flit());  // the head
  EXPECT_FALSE(encoder.take(flit.data()));
  EXPECT_FALSE(encoder.has_flit());  // 3 bits of a zero
  encoder.put(reinterpret_cast<const std::byte*>(&cells[1]));
  EXPECT_FALSE(encoder.has_flit());  // and 27
  encoder.put(reinterpret_cast<const std::byte*>(&cells[2]));
  EXPECT_TRUE(encoder.has_flit());
}

/// Whatever is changed on the way, other cells come out or an error.
TEST(CodecStream, DamagedFlitsEnd) {
  Patterns patterns(12);
  std::mt19937_64 random(13);
  int found = 0;
  for (const Form& form : stream_forms(10, 24)) {
    constexpr std::size_t kCells = 600;
    const Bytes bytes = patterns.words(form, kCells * 10);
    const Bytes flits = flits_of(form, bytes);
    const auto width = static_cast<std::ptrdiff_t>(form.flit_bits / 8);
    for (int i = 0; i < 20; ++i) {
      Bytes damaged = flits;
      const auto at =
          damaged.begin() + static_cast<std::ptrdiff_t>(random() % (flits.size() / width)) * width;
      switch (i % 3) {
        case 0:
          at[static_cast<std::ptrdiff_t>(random()) & (width - 1)] ^= std::byte{1} << (random() % 8);
          break;
        case 1:
          damaged.erase(at, at + width);
          break;
        default:
          std::fill(at, at + width, std::byte(random()));
      }
      if (damaged == flits) continue;
      try {
        cells_of(form, kCells, damaged);
      } catch (const Damage&) {
        ++found;
      }
    }
  }
  EXPECT_GT(found, 100);
}

TEST(CodecStream, RefusesWhatHardwareHasNot) {
  const Form form{.mode = Mode::kStream, .lanes = 2};
  EXPECT_THROW(StreamEncoder(form, 3), Damage);
  EXPECT_THROW(StreamDecoder({.mode = Mode::kFile}, 4), Damage);
  EXPECT_THROW(StreamEncoder({.element = Element::kFloat64, .mode = Mode::kStream}, 4), Damage);
  StreamEncoder encoder({.mode = Mode::kStream}, 1);
  const float cell = 1;
  encoder.put(reinterpret_cast<const std::byte*>(&cell));
  EXPECT_THROW(encoder.put(reinterpret_cast<const std::byte*>(&cell)), Damage);
}

/// By hand, over a link that takes half a flit a cycle.
TEST(CodecGain, IsTheSlowerOfWordsAndFlitsAndTheFifoHoldsTheLargestBurst) {
  Gain gain(0.5);
  for (const std::size_t flits : {1U, 1U, 0U, 0U, 0U, 0U}) gain.add(flits);
  EXPECT_EQ(gain.cycles(), 6);
  EXPECT_EQ(gain.elastic_flits(), 1);
  for (int i = 0; i < 6; ++i) gain.add(1);
  EXPECT_EQ(gain.cycles(), 16);  // 8 flits
  EXPECT_EQ(gain.elastic_flits(), 3);
  EXPECT_EQ(gain.words(), 12U);
}

TEST(CodecGain, HasAFlitOfTheCompressorInACycle) {
  Gain gain(4);
  for (const std::size_t flits : {2U, 0U, 3U, 0U}) gain.add(flits);
  EXPECT_EQ(gain.cycles(), 7);  // what waits for a word's flits is not made good by words without
  EXPECT_EQ(gain.elastic_flits(), 0);
}

}  // namespace
}  // namespace fabricmark::codec
