#include "apps/lbm/run_files.hpp"

#include <span>
#include <utility>

#include "base/atomic_file.hpp"
#include "mesh/arrays.hpp"
#include "stencil/rows_of_all.hpp"

namespace fabricmark::lbm {

RunFiles::RunFiles(const runtime::Context& context, const Case& of, const stencil::Part& part,
                   std::unique_ptr<stencil::Recorder> other)
    : ranks_(context.ranks()),
      case_(of),
      part_(part),
      folder_(context.parameters().text("fields")),
      other_(std::move(other)) {}

void RunFiles::begin(const std::vector<double>& state) {
  if (other_) other_->begin(state);
}

std::int64_t RunFiles::next(std::int64_t step) const { return other_ ? other_->next(step) : kNever; }

void RunFiles::take(std::int64_t step, const std::vector<double>& state) {
  if (other_) other_->take(step, state);
}

std::vector<std::string> RunFiles::notes() const {
  return other_ ? other_->notes() : std::vector<std::string>{};
}

void RunFiles::end(const std::vector<double>& state) {
  if (other_) other_->end(state);
  std::vector<float> cells;
  std::vector<float> east;
  std::vector<float> north;
  for (std::size_t row = 0; row < part_.rows; ++row) {
    for (std::size_t column = 0; column < part_.columns; ++column) {
      const double* const populations = &state[part_.at(0, row, column)];
      for (std::size_t i = 0; i < kPopulations; ++i)
        cells.push_back(static_cast<float>(populations[i * part_.cells()]));
      cells.push_back(case_.problem.kind({column, part_.first_row + row}));
      const Flow flow = flow_of(populations, part_.cells());
      east.push_back(static_cast<float>(flow.u));
      north.push_back(static_cast<float>(flow.v));
    }
  }
  write("cells.npy", cells, kPopulations + 1);
  write("u.npy", east, part_.columns);
  write("v.npy", north, part_.columns);
}

void RunFiles::write(const std::string& file, const std::vector<float>& own, std::size_t columns) {
  const std::vector<float> whole = stencil::rows_of_all(ranks_, own);
  if (!ranks_.is_root()) return;
  write_atomically(folder_ / file, mesh::npy(std::span<const float>(whole), columns));
}

}  // namespace fabricmark::lbm
