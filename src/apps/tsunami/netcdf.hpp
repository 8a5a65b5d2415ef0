#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fabricmark::tsunami {

/// A file in NetCDF's classic format ("CDF-1, -2 and -5" of its specification), which fits a page and asks
/// for no library; NetCDF's own (4.9) crashes on damaged ones. Records, which grow along a dimension, are
/// left out.
class NetCdf {
 public:
  /// What is wrong with a file, as in "are cut".
  class Damage : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };
  struct Dimension {
    std::string name;
    std::uint64_t length = 0;  ///< 0: of records
  };
  struct Attribute {
    std::string name;
    std::string text;             ///< where it is one
    std::vector<double> numbers;  ///< else
  };
  struct Variable {
    std::string name;
    std::vector<std::size_t> dimensions;
    std::vector<Attribute> attributes;
    std::uint32_t type = 0;
    std::uint64_t begin = 0;

    /// Empty where there is none that is a text.
    [[nodiscard]] std::string text(std::string_view name) const;
    /// Nothing where there is none that is a number.
    [[nodiscard]] std::optional<double> number(std::string_view name) const;
  };

  /// `bytes`: of the whole file. Throws Damage.
  explicit NetCdf(std::string bytes);

  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// null where there is none.
  [[nodiscard]] const Variable* variable(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// All numbers of a variable. Throws Damage.
  [[nodiscard]] std::vector<double> numbers(const Variable& variable) const;

 private:
  class Header;

  std::string bytes_;
  std::vector<Dimension> dimensions_;
  std::vector<Attribute> attributes_;
  std::vector<Variable> variables_;
};

}  // namespace fabricmark::tsunami
