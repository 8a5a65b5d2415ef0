#include "stencil/reference.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"

namespace fabricmark::stencil {

namespace {

/// Rows of a thread that pay for it.
constexpr std::size_t kFewestRows = 16;

}  // namespace

Reference::Reference(runtime::Communicator& ranks, const Problem& problem, const Part& part, NextRow next_row,
                     int threads)
    : ranks_(ranks),
      problem_(problem),
      part_(part),
      next_row_(next_row),
      threads_(threads),
      pitch_(part.columns + 2),
      kinds_(pitch_ * (part.rows + 2)) {
  for (std::size_t row = 0; row < part.rows + 2; ++row) {
    for (std::size_t column = 0; column < pitch_; ++column) {
      kinds_[row * pitch_ + column] = kind_at(problem, static_cast<std::int64_t>(column) - 1,
                                              static_cast<std::int64_t>(part.first_row + row) - 1);
    }
  }
}

std::vector<std::vector<double>> Reference::edges(const std::vector<double>& state) const {
  std::vector<double> own;
  const bool has_rows = part_.rows > 0;
  for (const std::size_t row : {std::size_t{0}, has_rows ? part_.rows - 1 : 0}) {
    if (!has_rows) break;
    for (std::size_t field = 0; field < part_.fields; ++field) {
      const double* const from = &state[part_.at(field, row, 0)];
      own.insert(own.end(), from, from + part_.columns);
    }
  }
  return ranks_.all_gather_numbers(own);
}

const double* Reference::field_of(const std::vector<double>& state,
                                  const std::vector<std::vector<double>>& edges, std::size_t field,
                                  std::int64_t row) const {
  const auto own = static_cast<std::int64_t>(part_.rows);
  const auto all = static_cast<std::int64_t>(problem_.rows);
  const std::int64_t in_grid = static_cast<std::int64_t>(part_.first_row) + row;
  if ((in_grid < 0 || in_grid >= all) && !problem_.is_periodic_along) return nullptr;
  if (own == all) row = (row + all) % all;
  if (row >= 0 && row < own) return &state[part_.at(field, static_cast<std::size_t>(row), 0)];
  const bool is_below = row < 0;
  const int size = ranks_.size();
  const int rank = (ranks_.rank() + (is_below ? size - 1 : 1)) % size;
  const std::vector<double>& of = edges[static_cast<std::size_t>(rank)];
  return of.data() + (field + (is_below ? part_.fields : 0)) * part_.columns;
}

std::vector<double> Reference::step(const std::vector<double>& state, std::size_t first, std::size_t count) {
  std::vector<double> between;
  const std::vector<double>* before = &state;
  for (int phase = 0; phase + 1 < problem_.phases; ++phase) {
    between = step_phase(*before, phase, 0, part_.rows);  // rows around those that are wanted, too
    before = &between;
  }
  return step_phase(*before, problem_.phases - 1, first, count);
}

std::vector<double> Reference::step_phase(const std::vector<double>& state, int phase, std::size_t first,
                                          std::size_t count) {
  const std::vector<std::vector<double>> beyond = edges(state);
  std::vector<double> made(part_.fields * count * part_.columns);
  trouble_.reset();
  std::mutex lock;
  parallel_for(count, threads_, kFewestRows, [&](std::size_t begin, std::size_t end) {
    std::vector<double> numbers(part_.fields * 3 * pitch_);
    std::vector<double> after(part_.fields * part_.columns);
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t row = (first + n) % part_.rows;
      for (std::size_t i = 0; i < part_.fields * 3; ++i) {
        double* const to = &numbers[i * pitch_];
        const double* const from = field_of(state, beyond, i / 3, static_cast<std::int64_t>(row + i % 3) - 1);
        if (from == nullptr) {
          std::fill_n(to, pitch_, 0.0);
          continue;
        }
        std::copy_n(from, part_.columns, to + 1);
        to[0] = problem_.is_periodic_across ? from[part_.columns - 1] : 0;
        to[part_.columns + 1] = problem_.is_periodic_across ? from[0] : 0;
      }
      const HostRow window{.numbers = numbers.data(),
                           .kinds = &kinds_[row * pitch_],
                           .constants = problem_.constants.data(),
                           .columns = part_.columns,
                           .pitch = pitch_,
                           .phase = phase};
      if (const std::optional<std::size_t> column = next_row_(window, after.data())) {
        const std::scoped_lock guard(lock);
        const Place found{*column, part_.first_row + row};
        if (!trouble_ || std::pair(found.row, found.column) < std::pair(trouble_->row, trouble_->column))
          trouble_ = found;
      }
      for (std::size_t field = 0; field < part_.fields; ++field) {
        std::copy_n(&after[field * part_.columns], part_.columns, &made[(field * count + n) * part_.columns]);
      }
    }
  });
  return made;
}

}  // namespace fabricmark::stencil
