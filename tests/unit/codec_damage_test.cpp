#include <gtest/gtest.h>

#include <functional>

#include "base/digest.hpp"
#include "codec/archive.hpp"
#include "codec_support.hpp"

namespace fabricmark::codec {
namespace {

/// Runs what must fail; returns what it said.
std::string failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const Damage& damage) {
    return damage.what();
  }
  return "";
}

/// The head of the first block, changed.
std::string with_head(const Form& form, std::size_t cells,
                      const std::function<void(std::uint32_t&)>& change) {
  Patterns patterns(1);
  Bytes coded = encoded(form, patterns.words(form, cells * form.channels));
  std::uint32_t head = 0;
  std::memcpy(&head, coded.data(), sizeof(head));
  change(head);
  std::memcpy(coded.data(), &head, sizeof(head));
  Bytes back(cells * form.cell_bytes());
  return failure([&] { decode(form, coded, back); });
}

TEST(CodecDamage, EachCheckOfABlockFindsItsFault) {
  const Form form{.channels = 3};
  constexpr std::size_t kCells = 600;
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t&) {}), "");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head ^= 1U << 13U; }),
            "the head of a block has unknown flags");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head ^= 1U << 9U; }),
            "a block has another predictor");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head ^= 1U; }),
            "a block has another number of cells");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head ^= 1U << 11U; }),
            "the last block is not where it should be");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head += 1U << 16U; }),
            "a block is not as long as its head says");
  EXPECT_EQ(with_head(form, kCells, [](std::uint32_t& head) { head = (head & 0xFFFFU) | 3U << 16U; }),
            "a block ends before its cells do");
}

TEST(CodecDamage, FramesThatAreCutAreRefused) {
  for (const Form& form : forms(3, 20)) {
    Patterns patterns(2);
    const Bytes cells = patterns.words(form, std::size_t{3} * 600);
    const Bytes coded = encoded(form, cells);
    for (std::size_t length = 0; length < coded.size(); length += 1 + length / 9) {
      const Bytes cut(coded.begin(), coded.begin() + static_cast<long>(length));
      Bytes back(cells.size());
      EXPECT_NE(failure([&] { decode(form, cut, back); }), "") << said(form) << " after " << length;
    }
  }
}

/// Whatever the bytes are, nothing outside is read or written, which the address sanitizer sees.
TEST(CodecDamage, DamagedFramesDoNoHarm) {
  std::mt19937_64 random(3);
  std::size_t refused = 0;
  for (int round = 0; round < 6; ++round) {
    const auto channels = static_cast<std::uint32_t>(1 + random() % kMostChannels);
    for (const Form& form : forms(channels, 4 + random() % 40)) {
      Patterns patterns(static_cast<std::uint32_t>(random()));
      const Bytes cells = patterns.words(form, std::size_t{300} * channels);
      Bytes coded = encoded(form, cells);
      for (int flips = 0; flips < 8; ++flips) {
        coded[random() % coded.size()] ^= static_cast<std::byte>(1U << random() % 8);
        Bytes exact(coded);  // without room behind it
        exact.shrink_to_fit();
        Bytes back(cells.size());
        refused += failure([&] { decode(form, exact, back); }).empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, 0U);
}

struct Sample {
  Bytes file;
  std::vector<Part> parts;
  Bytes archive;
};

Sample sample() {
  Sample made;
  Patterns patterns(4);
  const Form form{.element = Element::kFloat64, .predictor = Predictor::kPlane, .channels = 2, .columns = 25};
  made.file = patterns.words({}, 100);
  made.parts.push_back({.is_stored = true, .form = {}, .bytes = made.file.size()});
  const Bytes array(std::size_t{1000} * form.cell_bytes(), std::byte{7});
  made.file.insert(made.file.end(), array.begin(), array.end());
  made.parts.push_back({.is_stored = false, .form = form, .bytes = array.size()});
  made.archive = archived(made.file, made.parts, "a text");
  return made;
}

std::string unpacking(const Bytes& archive, std::size_t file_bytes) {
  return failure([&] {
    const Archive found(archive);
    Bytes file(file_bytes);
    found.unpack(file);
  });
}

TEST(CodecArchive, GivesBackTheFile) {
  const Sample made = sample();
  const Archive found(made.archive);
  EXPECT_EQ(found.text(), "a text");
  ASSERT_EQ(found.file_bytes(), made.file.size());
  EXPECT_EQ(found.parts().size(), 2U);
  EXPECT_LT(made.archive.size(), made.file.size());
  Bytes file(made.file.size());
  found.unpack(file);
  EXPECT_TRUE(file == made.file);
}

TEST(CodecArchive, StoresWhatWouldGetLonger) {
  std::mt19937 random(5);
  Bytes file(4000);
  for (std::byte& byte : file) byte = static_cast<std::byte>(random());
  std::vector<Part> parts{{.is_stored = false, .form = {}, .bytes = file.size()}};
  const Bytes archive = archived(file, parts, "");
  EXPECT_TRUE(parts.front().is_stored);
  EXPECT_EQ(archive.size(), file.size() + head_bytes(1, 0));
}

/// Whoever changes a head can make its digest fit; what it says must be refused all the same.
void sign(Bytes& archive, std::size_t parts, std::size_t text) {
  const std::size_t end = head_bytes(parts, text) - 32;
  const std::string digest = content_digest({reinterpret_cast<const char*>(archive.data()), end});
  std::memcpy(&archive[end], digest.data(), digest.size());
}

template <typename Number>
std::string with_number(std::size_t at, Number number, bool is_signed = true) {
  Sample made = sample();
  std::memcpy(&made.archive[at], &number, sizeof(number));
  if (is_signed) sign(made.archive, 2, 6);
  return unpacking(made.archive, made.file.size());
}

TEST(CodecArchive, EachCheckFindsItsFault) {
  constexpr std::size_t kPart = 64 + 48;  // the second one, of an array
  EXPECT_EQ(with_number<std::uint8_t>(0, 'x'), "this is no archive of Fabricmark");
  EXPECT_EQ(with_number<std::uint32_t>(8, 2), "the archive has another version");
  EXPECT_EQ(with_number<std::uint32_t>(12, 1U << 30U), "the archive is cut");
  EXPECT_EQ(with_number<std::uint64_t>(24, std::uint64_t{1} << 60U), "the archive is cut");
  EXPECT_EQ(with_number<std::uint64_t>(16, 1), "the parts are longer than the file");
  EXPECT_EQ(with_number<std::uint64_t>(16, 1U << 20U), "the parts are shorter than the file");
  EXPECT_EQ(with_number<std::uint32_t>(64, 1, false), "the head of the archive is damaged");
  EXPECT_EQ(with_number<std::uint32_t>(kPart, 9), "there is no such element");
  EXPECT_EQ(with_number<std::uint32_t>(kPart + 8, 3), "the last cell of a part is cut");
  EXPECT_EQ(with_number<std::uint32_t>(kPart + 20, 1), "a part says what this version does not know");
  EXPECT_EQ(with_number<std::uint64_t>(kPart + 40, 1U << 20U), "the archive is cut");
  EXPECT_EQ(with_number<std::uint64_t>(kPart + 40, 8), "a part is longer than what is coded of it");
  EXPECT_EQ(with_number<std::uint8_t>(32, 'x'), "what comes out is not what went in");
  Sample made = sample();
  made.archive.push_back({});
  EXPECT_EQ(unpacking(made.archive, made.file.size()), "the archive is longer than its parts");
  made = sample();
  made.archive[head_bytes(2, 6) + 3] ^= std::byte{1};  // of what is stored
  EXPECT_EQ(unpacking(made.archive, made.file.size()), "what comes out is not what went in");
  made = sample();
  EXPECT_EQ(unpacking(made.archive, made.file.size() + 1), "the file has another length");
}

TEST(CodecArchive, APartThatIsShorterThanItsCodeIsFound) {
  Sample made = sample();
  made.archive.insert(made.archive.end(), 4, {});
  std::uint64_t coded = made.parts.back().coded_bytes + 4;
  std::memcpy(&made.archive[64 + 48 + 40], &coded, sizeof(coded));
  sign(made.archive, 2, 6);
  EXPECT_EQ(unpacking(made.archive, made.file.size()), "a part is shorter than what is coded of it");
}

TEST(CodecArchive, DamageIsFoundWhereverItIs) {
  const Sample made = sample();
  std::mt19937_64 random(6);
  for (int round = 0; round < 3000; ++round) {
    Bytes archive = made.archive;
    archive[random() % archive.size()] ^= static_cast<std::byte>(1U << random() % 8);
    if (round % 3 == 0) archive.resize(random() % archive.size());
    if (round % 3 == 1 && archive.size() >= head_bytes(2, 6)) sign(archive, 2, 6);
    archive.shrink_to_fit();
    const std::string found = unpacking(archive, made.file.size());
    // Bits that fill up the last flit of a block, and the text, are nobody's.
    if (found.empty()) {
      Bytes file(made.file.size());
      Archive(archive).unpack(file);
      EXPECT_TRUE(file == made.file);
    }
  }
}

}  // namespace
}  // namespace fabricmark::codec
