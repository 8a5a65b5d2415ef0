#include <fabricmark/codec.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

const fm_codec_form kForm{FM_CODEC_FLOAT32, FM_CODEC_PLANE, FM_CODEC_FILE, 2, 1, 32, 0, 0, 50};
constexpr std::uint64_t kCells = 1000;

std::vector<float> field() {
  std::vector<float> made(2 * kCells);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = 1.0F + static_cast<float>(i % 100) / 64;
  return made;
}

TEST(CodecInterface, GivesBackAFrame) {
  const std::vector<float> cells = field();
  const std::uint64_t bytes = cells.size() * sizeof(float);
  std::uint64_t room = 0;
  ASSERT_EQ(fm_codec_most_bytes(&kForm, kCells, &room), 0);
  std::vector<unsigned char> coded(room);
  std::uint64_t used = 0;
  ASSERT_EQ(fm_codec_encode(&kForm, cells.data(), bytes, coded.data(), room, &used), 0);
  EXPECT_LT(used, bytes / 3);
  std::vector<float> back(cells.size());
  std::uint64_t taken = 0;
  ASSERT_EQ(fm_codec_decode(&kForm, coded.data(), used, back.data(), bytes, &taken), 0);
  EXPECT_EQ(taken, used);
  EXPECT_EQ(back, cells);
  fm_codec_form chosen = kForm;
  ASSERT_EQ(fm_codec_choose_predictor(&chosen, cells.data(), bytes), 0);
  EXPECT_GE(chosen.predictor, static_cast<unsigned>(FM_CODEC_LINE));
  EXPECT_LE(chosen.predictor, static_cast<unsigned>(FM_CODEC_SMOOTH));
}

TEST(CodecInterface, SaysWhyACallFailed) {
  const std::vector<float> cells = field();
  const std::uint64_t bytes = cells.size() * sizeof(float);
  std::vector<unsigned char> coded(bytes * 2);
  std::uint64_t used = 0;
  const auto said = [&](const fm_codec_form& form, std::uint64_t length, std::uint64_t room) {
    EXPECT_EQ(fm_codec_encode(&form, cells.data(), length, coded.data(), room, &used), -1);
    return std::string(fm_codec_last_error());
  };
  EXPECT_EQ(said(kForm, bytes, 10), "there is no room for the longest coded form");
  EXPECT_EQ(said(kForm, bytes - 4, coded.size()), "the last cell is cut");
  fm_codec_form wrong = kForm;
  wrong.reserved = 1;
  EXPECT_EQ(said(wrong, bytes, coded.size()), "the form says what this version does not know");
  wrong = kForm;
  wrong.lanes = 3;
  EXPECT_EQ(said(wrong, bytes, coded.size()), "there are 1, 2 or 4 lanes");
}

TEST(CodecInterface, GivesBackAFile) {
  const std::vector<float> file = field();
  const std::uint64_t bytes = file.size() * sizeof(float);
  fm_codec_part part{kForm, bytes, 0};
  const std::string text = "a field";
  std::uint64_t room = 0;
  ASSERT_EQ(fm_codec_archive_most_bytes(&part, 1, text.size(), &room), 0);
  std::vector<unsigned char> archive(room);
  std::uint64_t used = 0;
  ASSERT_EQ(fm_codec_archive_write(file.data(), bytes, &part, 1, text.data(), text.size(), archive.data(),
                                   room, &used),
            0);
  EXPECT_EQ(part.form.element, static_cast<unsigned>(FM_CODEC_FLOAT32));
  EXPECT_LT(part.coded_bytes, used);
  std::uint64_t file_bytes = 0;
  std::uint64_t parts = 0;
  std::uint64_t text_bytes = 0;
  const char* found = nullptr;
  ASSERT_EQ(fm_codec_archive_head(archive.data(), used, &file_bytes, &parts, &found, &text_bytes), 0);
  EXPECT_EQ(file_bytes, bytes);
  EXPECT_EQ(parts, 1U);
  EXPECT_EQ(std::string(found, text_bytes), text);
  std::vector<float> back(file.size());
  ASSERT_EQ(fm_codec_archive_read(archive.data(), used, back.data(), bytes), 0);
  EXPECT_EQ(back, file);
  EXPECT_EQ(fm_codec_archive_read(archive.data(), used - 1, back.data(), bytes), -1);
  EXPECT_EQ(fm_codec_archive_write(file.data(), bytes, &part, 1, nullptr, 0, archive.data(), 40, &used), -1);
  EXPECT_STREQ(fm_codec_last_error(), "there is no room for the archive");
}

}  // namespace
