#include "runtime/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"

namespace fabricmark::runtime {

namespace {

struct TypeBytes {
  std::string_view type;
  double element;
  double value;
};

const TypeBytes& bytes_of(const std::string& type) {
  static constexpr std::array kBytes{TypeBytes{"half", 2, 2}, TypeBytes{"mixed", 2, 4},
                                     TypeBytes{"float", 4, 4}, TypeBytes{"double", 8, 8}};
  const auto* const found = std::ranges::find(kBytes, type, &TypeBytes::type);
  if (found == kBytes.end()) throw std::logic_error("nothing says how long a " + type + " is");
  return *found;
}

}  // namespace

std::map<std::string, double> numbers_of(const Parameters& parameters) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : parameters.all()) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      numbers[name] = static_cast<double>(*whole);
    } else if (const auto* number = std::get_if<double>(&value)) {
      numbers[name] = *number;
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      numbers[name] = *flag ? 1 : 0;
    }
  }
  if (parameters.has("data_type")) {
    const TypeBytes& type = bytes_of(parameters.text("data_type"));
    numbers["element_bytes"] = type.element;
    numbers["value_bytes"] = type.value;
  }
  return numbers;
}

std::size_t grid_rows(int ranks, std::size_t wanted) {
  const auto count = static_cast<std::size_t>(ranks);
  std::size_t rows = wanted;
  if (rows == 0) {
    for (std::size_t divisor = 1; divisor * divisor <= count; ++divisor) {
      if (count % divisor == 0) rows = divisor;
    }
  }
  if (count % rows != 0) {
    throw bad_use(fmt::format("{} ranks do not fill a grid of {} rows", ranks, rows),
                  fmt::format("choose --grid-rows that divides {}, or 0", ranks));
  }
  return rows;
}

}  // namespace fabricmark::runtime
