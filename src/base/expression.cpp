#include "base/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fabricmark {

namespace {

constexpr std::size_t kLongest = 200;          // characters: more are no default, and nesting needs stack
constexpr std::size_t kLongestFormula = 1000;  // which may be put together from several
constexpr double kLargest = 0x1p53;            // whole numbers up to here are exact

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return letter >= 'a' && letter <= 'z'; }
bool is_of_name(char letter) { return is_letter(letter) || is_digit(letter) || letter == '_'; }

/// Where the number, name or sign ends that begins at `start`; `start` where none does.
std::size_t end_of_token(const std::string& text, std::size_t start) {
  const auto skip = [&](std::size_t from, bool (*belongs)(char)) {
    while (from < text.size() && belongs(text[from])) ++from;
    return from;
  };
  if (start == text.size()) return start;
  if (is_letter(text[start])) return skip(start, is_of_name);
  if (!is_digit(text[start]))
    return std::string("-+*/^(),").find(text[start]) != std::string::npos ? start + 1 : start;
  // Without zeros in front, which other languages take for octal.
  const std::size_t whole = text[start] == '0' ? start + 1 : skip(start, is_digit);
  const bool has_fraction = whole + 1 < text.size() && text[whole] == '.' && is_digit(text[whole + 1]);
  return has_fraction ? skip(whole + 1, is_digit) : whole;
}

/// Numbers, names and signs. Throws std::invalid_argument where something else stands between them.
std::vector<std::string> tokens(const std::string& text, std::size_t longest) {
  if (text.size() > longest) throw std::invalid_argument("it is too long");
  const auto after_blanks = [&](std::size_t place) {
    const std::size_t found = text.find_first_not_of(' ', place);
    return found == std::string::npos ? text.size() : found;
  };
  std::vector<std::string> found;
  std::size_t start = after_blanks(0);
  while (start < text.size() || found.empty()) {
    const std::size_t end = end_of_token(text, start);
    if (end == start) throw std::invalid_argument(fmt::format("its character {} cannot be used", start + 1));
    found.push_back(text.substr(start, end - start));
    start = after_blanks(end);
  }
  return found;
}

using Names = std::vector<std::string>;

const Names& functions() {
  static const Names names{"max", "min"};
  return names;
}
const Names& functions_of_formulas() {
  static const Names names{"max", "min", "ceil", "floor"};
  return names;
}
bool is_among(const std::string& word, const Names& names) {
  return std::ranges::find(names, word) != names.end();
}

/// Walks over the words of an expression and knows what may come next.
class Grammar {
 public:
  Grammar(const Names& names, const Names& functions) : names_(names), functions_(functions) {}

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
    after_function_ = is_among(word, functions_);
    before_operand_ = after_function_;
    const bool is_number = is_digit(word.front());
    if (!is_number && !after_function_ && !is_among(word, names_)) {
      throw std::invalid_argument(fmt::format("{} is no whole parameter that stands before it", word));
    }
  }

  static std::invalid_argument unexpected(const std::string& word) {
    return std::invalid_argument(fmt::format("'{}' cannot stand where it does", word));
  }

  const Names& names_;
  const Names& functions_;
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

void check(const std::string& text, const Names& names, const Names& functions, std::size_t longest) {
  Grammar grammar(names, functions);
  for (const std::string& word : tokens(text, longest)) grammar.take(word);
  grammar.end();
}

/// With operators that end where a value is not finite: the parser's own go on with infinity.
mu::Parser make_parser() {
  mu::Parser parser;
  parser.ClearFun();
  parser.ClearConst();
  parser.EnableBuiltInOprt(false);
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
  return parser;
}

}  // namespace

void check_expression(const std::string& text, const std::vector<std::string>& names) {
  check(text, names, functions(), kLongest);
}

std::string with_names(const std::string& text, const std::function<std::string(const std::string&)>& of) {
  std::string made;
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = start + 1;
    while (is_of_name(text[start]) && end < text.size() && is_of_name(text[end])) ++end;
    const std::string word = text.substr(start, end - start);
    made += is_letter(word.front()) ? of(word) : word;
    start = end;
  }
  return made;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  with_names(text, [&](const std::string& name) {
    names.push_back(name);
    return name;
  });
  return names;
}

std::int64_t evaluate(const std::string& text, const std::map<std::string, double>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  check_expression(text, names);
  mu::Parser parser = make_parser();
  double value = 0;
  try {
    for (const auto& [name, number] : values) {
      if (!is_among(name, functions())) parser.DefineConst(name, number);
    }
    parser.SetExpr(text);
    value = std::floor(parser.Eval());
  } catch (const mu::Parser::exception_type& error) {
    throw std::invalid_argument(error.GetMsg());
  }
  if (!(std::abs(value) <= kLargest)) throw std::invalid_argument("its value is too large");
  return static_cast<std::int64_t>(value);
}

struct Formula::Compiled {
  mu::Parser parser = make_parser();
  std::vector<double> values;  // which the parser knows by their places
};

Formula::Formula(const std::string& text, std::vector<std::string> names)
    : compiled_(std::make_unique<Compiled>()) {
  check(text, names, functions_of_formulas(), kLongestFormula);
  mu::Parser& parser = compiled_->parser;
  parser.DefineFun("ceil", [](double value) { return std::ceil(value); });
  parser.DefineFun("floor", [](double value) { return std::floor(value); });
  compiled_->values.assign(names.size(), 1);
  try {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!is_among(names[i], functions_of_formulas())) parser.DefineVar(names[i], &compiled_->values[i]);
    }
    parser.SetExpr(text);
    parser.Eval();  // finds functions with too many or too few arguments
  } catch (const mu::Parser::exception_type& error) {
    throw std::invalid_argument(error.GetMsg());
  } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): all ones need not have a value
  }
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

double Formula::operator()(std::span<const double> values) const {
  if (values.size() != compiled_->values.size()) throw std::invalid_argument("values of other names");
  std::ranges::copy(values, compiled_->values.begin());
  return finite(compiled_->parser.Eval());
}

}  // namespace fabricmark
