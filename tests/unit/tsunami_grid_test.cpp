// Depths from NetCDF files: what is read, what is refused and how, and files that are damaged anyhow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/tsunami/grid_file.hpp"
#include "base/error.hpp"

namespace fabricmark::tsunami {
namespace {

constexpr std::size_t kColumns = 6;
constexpr std::size_t kRows = 4;

/// What a file says; each test changes something.
struct Contents {
  int version = 2;
  std::string name = "depth";
  std::string positive = "down";
  std::string units = "m";
  std::string axis_units = "m";
  std::vector<double> x{0, 300, 600, 900, 1200, 1500};
  std::vector<double> y{0, 200, 400, 600};
  std::vector<double> depth = std::vector<double>(kColumns * kRows, 4000);
  std::string second = "elevation";
};

/// Writes the classic format after its specification.
class Writer {
 public:
  explicit Writer(int version) : version_(version) {
    text_ = "CDF";
    text_ += static_cast<char>(version);
    count(0);
  }
  void bits(std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) text_ += static_cast<char>(value >> (8 * i));
  }
  void count(std::uint64_t value) { bits(value, version_ == 5 ? 8 : 4); }
  void list(std::uint64_t tag, std::uint64_t length) {
    bits(tag, 4);
    count(length);
  }
  void name(const std::string& name) {
    count(name.size());
    text_ += name;
    text_.resize((text_.size() + 3) / 4 * 4);
  }
  using Texts = std::vector<std::pair<std::string, std::string>>;
  void attributes(const Texts& texts) {
    list(texts.empty() ? 0 : 12, texts.size());
    for (const auto& [key, value] : texts) {
      name(key);
      bits(2, 4);
      name(value);
    }
  }
  /// Of doubles; they follow in the order of the variables.
  void variable(const std::string& of, const std::vector<std::uint64_t>& dimensions, const Texts& texts,
                const std::vector<double>& values) {
    name(of);
    count(dimensions.size());
    for (const std::uint64_t dimension : dimensions) count(dimension);
    attributes(texts);
    bits(6, 4);
    count(8 * values.size());
    begins_.emplace_back(text_.size(), values_.size());
    bits(0, begin_bytes());
    for (const double value : values) values_.push_back(value);
  }
  std::string text() {
    for (const auto& [where, before] : begins_) {
      Writer begin(version_);
      begin.text_.clear();
      begin.bits(text_.size() + 8 * before, begin_bytes());
      text_.replace(where, begin.text_.size(), begin.text_);
    }
    for (const double value : values_) bits(std::bit_cast<std::uint64_t>(value), 8);
    return text_;
  }

 private:
  [[nodiscard]] int begin_bytes() const { return version_ == 1 ? 4 : 8; }

  int version_;
  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> begins_;
  std::vector<double> values_;
};

std::string bytes_of(const Contents& contents) {
  Writer file(contents.version);
  file.list(10, 2);
  file.name("y");
  file.count(contents.y.size());
  file.name("x");
  file.count(contents.x.size());
  file.attributes({{"title", "a test"}});
  file.list(11, 4);
  file.variable("x", {1}, {{"units", contents.axis_units}}, contents.x);
  file.variable("y", {0}, {{"units", contents.axis_units}}, contents.y);
  file.variable(contents.name, {0, 1}, {{"units", contents.units}, {"positive", contents.positive}},
                contents.depth);
  file.variable(contents.second, {0, 1}, {{"units", "m"}}, std::vector<double>(kColumns * kRows, 0.5));
  return file.text();
}

class Grid : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string& written(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    return file_;
  }
  [[nodiscard]] std::string refusal(const std::string& bytes) const { return refusal_of(written(bytes)); }
  [[nodiscard]] std::string refusal(const std::function<void(Contents&)>& change) const {
    Contents contents;
    change(contents);
    return refusal(bytes_of(contents));
  }
  static std::string refusal_of(const std::string& file) {
    try {
      read_grid(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadUse);
      return error.what();
    }
    return kNothing;
  }

  static constexpr const char* kNothing = "nothing is wrong";
  std::string file_ = testing::TempDir() + "fabricmark-grid-" + std::to_string(getpid()) + ".nc";
};

TEST_F(Grid, HasWhatTheFileSays) {
  for (const int version : {1, 2, 5}) {
    Contents contents;
    contents.version = version;
    contents.depth[kColumns + 2] = -7;
    const GridFile grid = read_grid(written(bytes_of(contents)));
    EXPECT_EQ(grid.size.columns, kColumns);
    EXPECT_EQ(grid.size.rows, kRows);
    EXPECT_EQ(grid.dx, 300);
    EXPECT_EQ(grid.dy, 200);
    EXPECT_EQ(grid.depth, contents.depth);
    EXPECT_EQ(grid.elevation, std::vector<double>(kColumns * kRows, 0.5));
    EXPECT_FALSE(grid.degrees);
    EXPECT_EQ(outline_of_grid(file_)->rows, kRows);
  }
  EXPECT_TRUE(read_grid(written(bytes_of({.second = "other"}))).elevation.empty());
}

TEST_F(Grid, IsRefusedWithCauseAndRemedy) {
  const auto expect = [](const std::string& line, const char* said) {
    EXPECT_NE(line.find(said), std::string::npos) << line;
    EXPECT_NE(line.find("`fabricmark bathymetry`"), std::string::npos) << line;
  };
  expect(refusal_of("/nowhere.nc"), "No such file");
  expect(refusal_of(testing::TempDir()), "Is a directory");
  expect(refusal([](Contents& c) { c.name = "z"; }), "have no variable 'depth'");
  expect(refusal([](Contents& c) { c.positive = "up"; }), "'positive' is 'up', not 'down'");
  expect(refusal([](Contents& c) { c.units = "fathom"; }), "a 'depth' in 'fathom'");
  expect(refusal([](Contents& c) { c.axis_units = "degrees_east"; }), "columns in 'degrees_east', not on");
  expect(refusal([](Contents& c) { c.x[3] += 1; }), "2 and 3 lie 301 m apart, not 300");
  expect(refusal([](Contents& c) { c.y = {600, 400, 200, 0}; }), "rows that do not grow");
  expect(refusal([](Contents& c) { c.x[5] = NAN; }), "columns that do not grow");
  expect(refusal([](Contents& c) { c.depth[kColumns + 3] = NAN; }), "no 'depth' in column 3, row 1");
  expect(refusal(""), "are no NetCDF file");
  expect(refusal("longitude,latitude,depth\n"), "are no NetCDF file");
  expect(refusal("\x89HDF\r\n"), "are NetCDF-4, not the classic format");
}

TEST_F(Grid, IsNotReadWhereItIsCut) {
  const std::string whole = bytes_of({});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(refusal(whole.substr(0, length)), kNothing) << length;
}

TEST_F(Grid, IsReadOrRefusedHoweverDamaged) {
  constexpr int kRuns = 2000;
  std::mt19937 random(7);
  for (const int version : {1, 2, 5}) {
    Contents contents;
    contents.version = version;
    const std::string whole = bytes_of(contents);
    const std::size_t header = whole.size() - 8 * (kColumns + kRows + 2 * kColumns * kRows);
    int refused = 0;
    for (int run = 0; run < kRuns; ++run) {
      std::string damaged = whole;
      for (std::size_t i = 0; i < 1 + random() % 4; ++i)
        damaged[random() % header] = static_cast<char>(random());
      refused += refusal(damaged) == kNothing ? 0 : 1;
    }
    EXPECT_GT(refused, kRuns / 3);
  }
}

}  // namespace
}  // namespace fabricmark::tsunami
