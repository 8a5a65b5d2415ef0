#include "harness/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <stdexcept>

namespace fabricmark::harness {

namespace {

constexpr std::size_t kLongest = 200;  // characters: more are no default, and nesting needs stack
constexpr double kLargest = 0x1p53;    // whole numbers up to here are exact

/// Numbers, names and signs. Throws std::invalid_argument where something else stands between them.
std::vector<std::string> tokens(const std::string& text) {
  static const std::regex pattern(R"( *((?:0|[1-9][0-9]*)(?:\.[0-9]+)?|[a-z][a-z0-9_]*|[-+*/^(),]) *)");
  if (text.size() > kLongest) throw std::invalid_argument("it is too long");
  std::vector<std::string> found;
  auto rest = text.begin();
  std::smatch match;
  while (rest != text.end()) {
    if (!std::regex_search(rest, text.end(), match, pattern, std::regex_constants::match_continuous)) {
      throw std::invalid_argument(fmt::format("its character {} cannot be used", rest - text.begin() + 1));
    }
    found.push_back(match[1]);
    rest = match[0].second;
  }
  return found;
}

bool is_function(const std::string& word) { return word == "max" || word == "min"; }

/// Walks over the words of an expression and knows what may come next.
class Grammar {
 public:
  explicit Grammar(const std::vector<std::string>& names) : names_(names) {}

  void take(const std::string& word) {
    const char first = word.front();
    if (after_function_ && first != '(') throw unexpected(word);
    if (first == '(') {
      if (!before_operand_) throw unexpected(word);
      open_.push_back(after_function_);
      after_function_ = false;
    } else if (first == ')') {
      if (before_operand_ || open_.empty()) throw unexpected(word);
      open_.pop_back();
    } else if (first == ',') {
      if (before_operand_ || open_.empty() || !open_.back()) throw unexpected(word);
      before_operand_ = true;
    } else if (std::string("+-*/^").find(first) != std::string::npos) {
      if (before_operand_) throw unexpected(word);
      before_operand_ = true;
    } else {
      take_operand(word);
    }
  }

  void end() const {
    if (before_operand_ || !open_.empty()) throw std::invalid_argument("it ends too early");
  }

 private:
  void take_operand(const std::string& word) {
    if (!before_operand_) throw unexpected(word);
    after_function_ = is_function(word);
    before_operand_ = after_function_;
    const bool is_number = word.front() >= '0' && word.front() <= '9';
    if (!is_number && !after_function_ && std::ranges::find(names_, word) == names_.end()) {
      throw std::invalid_argument(fmt::format("{} is no whole parameter that stands before it", word));
    }
  }

  static std::invalid_argument unexpected(const std::string& word) {
    return std::invalid_argument(fmt::format("'{}' cannot stand where it does", word));
  }

  const std::vector<std::string>& names_;
  std::vector<bool> open_;  // parentheses: whether they are those of a function
  bool before_operand_ = true;
  bool after_function_ = false;
};

double finite(double value) {
  if (!std::isfinite(value)) throw std::invalid_argument("a step of it has no finite value");
  return value;
}

double largest(const double* values, int count) { return *std::max_element(values, values + count); }
double smallest(const double* values, int count) { return *std::min_element(values, values + count); }

}  // namespace

void check_expression(const std::string& text, const std::vector<std::string>& names) {
  Grammar grammar(names);
  for (const std::string& word : tokens(text)) grammar.take(word);
  grammar.end();
}

std::int64_t evaluate(const std::string& text, const std::map<std::string, double>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  check_expression(text, names);
  mu::Parser parser;
  parser.ClearFun();
  parser.ClearConst();
  parser.EnableBuiltInOprt(false);  // theirs go on with infinity
  parser.DefineFun("max", largest);
  parser.DefineFun("min", smallest);
  parser.DefineOprt(
      "+", [](double left, double right) { return finite(left + right); }, mu::prADD_SUB);
  parser.DefineOprt(
      "-", [](double left, double right) { return finite(left - right); }, mu::prADD_SUB);
  parser.DefineOprt(
      "*", [](double left, double right) { return finite(left * right); }, mu::prMUL_DIV);
  parser.DefineOprt(
      "/", [](double left, double right) { return finite(left / right); }, mu::prMUL_DIV);
  parser.DefineOprt(
      "^", [](double left, double right) { return finite(std::pow(left, right)); }, mu::prPOW, mu::oaRIGHT);
  double value = 0;
  try {
    for (const auto& [name, number] : values) {
      if (!is_function(name)) parser.DefineConst(name, number);
    }
    parser.SetExpr(text);
    value = std::floor(parser.Eval());
  } catch (const mu::Parser::exception_type& error) {
    throw std::invalid_argument(error.GetMsg());
  }
  if (!(std::abs(value) <= kLargest)) throw std::invalid_argument("its value is too large");
  return static_cast<std::int64_t>(value);
}

}  // namespace fabricmark::harness
