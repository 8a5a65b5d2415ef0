#include "stencil/part.hpp"

#include <algorithm>
#include <utility>

namespace fabricmark::stencil {

namespace {

/// The place in 0 .. `length` - 1 that a periodic one stands for.
std::int64_t wrapped(std::int64_t place, std::size_t length) {
  const auto whole = static_cast<std::int64_t>(length);
  return ((place % whole) + whole) % whole;
}

}  // namespace

Problem problem_of(const runtime::Parameters& parameters, std::vector<std::string> fields) {
  Problem problem;
  problem.columns = parameters.count("columns");
  problem.rows = parameters.count("rows");
  problem.steps = parameters.integer("steps");
  problem.fields = std::move(fields);
  problem.kind = [](const Place& /*place*/) { return std::uint8_t{0}; };
  return problem;
}

Part part_of(const Problem& problem, int ranks, int rank) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto own = static_cast<std::size_t>(rank);
  const std::size_t each = problem.rows / count;
  const std::size_t longer = problem.rows % count;
  return {.first_row = own * each + std::min(own, longer),
          .rows = each + (own < longer ? 1 : 0),
          .columns = problem.columns,
          .fields = problem.fields.size()};
}

Part all_on_first(const Problem& problem, int /*ranks*/, int rank) {
  return {.first_row = 0,
          .rows = rank == 0 ? problem.rows : 0,
          .columns = problem.columns,
          .fields = problem.fields.size()};
}

std::vector<double> start_of(const Problem& problem, const Part& part) {
  std::vector<double> state(part.numbers());
  std::vector<double> numbers(part.fields);
  for (std::size_t row = 0; row < part.rows; ++row) {
    for (std::size_t column = 0; column < part.columns; ++column) {
      problem.start({column, part.first_row + row}, numbers);
      for (std::size_t field = 0; field < part.fields; ++field) {
        state[part.at(field, row, column)] = numbers[field];
      }
    }
  }
  return state;
}

std::uint8_t kind_at(const Problem& problem, std::int64_t column, std::int64_t row) {
  if (problem.is_periodic_across) column = wrapped(column, problem.columns);
  if (problem.is_periodic_along) row = wrapped(row, problem.rows);
  const bool is_inside =
      column >= 0 && std::cmp_less(column, problem.columns) && row >= 0 && std::cmp_less(row, problem.rows);
  if (!is_inside) return problem.edge_kind;
  return problem.kind({static_cast<std::size_t>(column), static_cast<std::size_t>(row)});
}

}  // namespace fabricmark::stencil
