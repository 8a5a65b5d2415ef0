#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fabricmark {

/// Defaults of kernel.toml that follow from other numbers, such as max(1, 2^(26 - log_size)): numbers, names,
/// + - * / and ^ (from the right, as 2^3^2 = 2^9), parentheses, max(...) and min(...); no signs.

/// Throws std::invalid_argument, which says why, where `text` is none, or names something else than `names`.
void check_expression(const std::string& text, const std::vector<std::string>& names);

/// The text with `of(name)` for each name in it, functions among them.
std::string with_names(const std::string& text, const std::function<std::string(const std::string&)>& of);
/// Its names, functions among them.
std::vector<std::string> names_in(const std::string& text);

/// The value, rounded down. Throws std::invalid_argument as above, or where a step or the value leaves the
/// numbers that are whole for certain (2^53).
std::int64_t evaluate(const std::string& text, const std::map<std::string, double>& values);

/// An expression that is evaluated often, and not rounded. Beside the above it may use ceil(...) and
/// floor(...).
class Formula {
 public:
  /// Throws std::invalid_argument where `text` is none, or names something else than `names`.
  Formula(const std::string& text, std::vector<std::string> names);
  ~Formula();
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  /// `values` of the names, in their order. Throws std::invalid_argument where a step has no finite value.
  [[nodiscard]] double operator()(std::span<const double> values) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace fabricmark
