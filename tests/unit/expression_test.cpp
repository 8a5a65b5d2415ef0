// Expressions: their values, and what is none.
#include "base/expression.hpp"

#include <nlohmann/json.hpp>
#include <random>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using Known = std::map<std::string, double>;

const nlohmann::json& cases() {
  static const nlohmann::json read = nlohmann::json::parse(test::content_of(
      std::filesystem::path(FABRICMARK_TEST_KERNELS).parent_path() / "tests" / "expressions.json"));
  return read;
}

Known known() { return cases().at("names").get<Known>(); }

TEST(Expression, HasItsValue) {
  for (const auto& [text, value] : cases().at("values").items()) {
    EXPECT_EQ(evaluate(text, known()), value.get<std::int64_t>()) << text;
  }
}

TEST(Expression, IsRefusedWhereItIsNone) {
  for (const nlohmann::json& text : cases().at("refused")) {
    EXPECT_THROW(evaluate(text.get<std::string>(), known()), std::invalid_argument) << text;
  }
  EXPECT_THROW(evaluate(std::string(201, '1'), known()), std::invalid_argument);
}

TEST(Expression, IsCheckedWithoutValues) {
  EXPECT_NO_THROW(check_expression("1 / (lanes - 3)", {"lanes"}));
  EXPECT_THROW(check_expression("1 / (lanes - 3)", {}), std::invalid_argument);
  EXPECT_THROW(check_expression("1 / (lanes - 3", {"lanes"}), std::invalid_argument);
}

// What passes the grammar must not fail in the parser behind it, whatever its words.
TEST(Expression, OfRandomWordsIsRefusedOrHasAValue) {
  const std::vector<std::string> words{"1",   "0",   "23",   "2.5", "lanes", "if",  "log_size", "size",
                                       "max", "min", "max",  "(",   "(",     ")",   ")",        ",",
                                       "+",   "-",   "*",    "/",   "^",     " ",   "",         "#",
                                       "\n",  "1e",  "\xff", "(1",  "1)",    "min("};
  std::mt19937 random(20261122);
  int valued = 0;
  int checked = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text;
    for (std::size_t count = random() % 9; count > 0; --count) text += words[random() % words.size()];
    std::vector<std::string> names;
    for (const auto& [name, value] : known()) names.push_back(name);
    try {
      check_expression(text, names);
      ++checked;
      (void)evaluate(text, known());
      ++valued;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(checked, 1000);
  EXPECT_GT(valued, checked / 2);
}

TEST(Formula, HasItsValueWithoutRounding) {
  const Formula formula("lanes / 4 + ceil(size / 3) * floor(2.5)", {"lanes", "size"});
  EXPECT_EQ(formula(std::vector<double>{2, 4}), 0.5 + 2 * 2);
  EXPECT_EQ(formula(std::vector<double>{1, 6}), 0.25 + 2 * 2);
  EXPECT_THROW((void)formula(std::vector<double>{1}), std::invalid_argument);
}

TEST(Formula, IsRefusedWhereItIsNoneAndWhereAStepHasNoValue) {
  for (const char* text : {"", "lanes +", "size", "ceil(lanes, 1)", "ceil()", "sin(lanes)", "-lanes"}) {
    EXPECT_THROW(Formula(text, {"lanes"}), std::invalid_argument) << text;
  }
  const Formula formula("1 / (lanes - 1)", {"lanes"});
  EXPECT_THROW((void)formula(std::vector<double>{1}), std::invalid_argument);
  EXPECT_EQ(formula(std::vector<double>{3}), 0.5);
}

TEST(Formula, OfRandomWordsIsRefusedOrHasAValue) {
  const std::vector<std::string> words{"1", "2.5", "lanes", "ceil", "floor(", "max", "min(", "(", ")",
                                       ")", ",",   "+",     "-",    "/",      "^",   " ",    "#", ""};
  std::mt19937 random(20261125);
  int valued = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t count = random() % 7; count > 0; --count) text += words[random() % words.size()];
    try {
      const Formula formula(text, {"lanes"});
      (void)formula(std::vector<double>{3});
      ++valued;
    } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): one of both
    }
  }
  EXPECT_GT(valued, 500);
}

}  // namespace

}  // namespace fabricmark::runtime
