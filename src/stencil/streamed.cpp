#include "stencil/streamed.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::stencil {

Streamed streamed(const Problem& problem, bool is_turned) {
  if (is_turned) return {.in_row = problem.rows, .rows = problem.columns, .is_turned = true};
  return {.in_row = problem.columns, .rows = problem.rows};
}

Streamed streamed(const runtime::Context& context, const Problem& problem) {
  return streamed(problem, context.parameters().text("orientation") == "y");
}

void require_streams(const runtime::Context& context, const Problem& problem, const Streamed& stream) {
  if (problem.is_periodic_across || problem.is_periodic_along) {
    throw bad_use("cells that go through one by one cannot begin again at the other side of the grid",
                  "choose a case between walls, or --variant throughput");
  }
  const char* const of_row = stream.is_turned ? "rows" : "columns";
  const char* const others = stream.is_turned ? "columns" : "rows";
  const std::size_t pipelines = context.parameters().count("pipelines");
  if (stream.in_row % pipelines != 0) {
    throw bad_use(fmt::format("{} {} are no whole words of {} cells", stream.in_row, of_row, pipelines),
                  fmt::format("make {} a multiple of pipelines: {}", of_row,
                              (stream.in_row / pipelines + 1) * pipelines));
  }
  const std::size_t most = context.parameters().count("row_cells");
  if (stream.in_row > most) {
    throw bad_use(
        fmt::format("{} have {} cells, and the local memory has room for {}", others, stream.in_row, most),
        fmt::format("use fewer --{} and more --{}, or more --row-cells", of_row, others));
  }
}

}  // namespace fabricmark::stencil
