#include "stencil/cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::stencil {

std::string Cascade::note() const {
  return fmt::format("{} elements on {} boards: a pass makes as many steps; {:.6g} cycles through each", all,
                     boards, pipeline_cycles);
}

Cascade cascade_of(const runtime::Context& context, const Problem& problem) {
  const runtime::Parameters& parameters = context.parameters();
  const std::size_t each = parameters.count("cascaded");
  const std::size_t on_first = parameters.count("cascaded_on_first");
  const std::size_t first = on_first == 0 ? each : on_first;
  const auto boards = static_cast<std::size_t>(context.ranks().size());
  const auto rank = static_cast<std::size_t>(context.ranks().rank());
  Cascade cascade{.all = first + (boards - 1) * each,
                  .own = rank == 0 ? first : each,
                  .first = rank == 0 ? 0 : first + (rank - 1) * each,
                  .boards = boards};
  // Where no bitstream says it: as deep as a design of this kind was beyond its rows (Mondigo 2020,
  // section 3.3.3).
  constexpr double kArithmetic = 110;
  const double own =
      static_cast<double>(problem.columns) / static_cast<double>(parameters.count("pipelines")) + 1;
  const auto cell = static_cast<double>(sizeof(float) * (problem.fields.size() + 1));
  const runtime::SystemCosts* const costs = context.costs();
  const auto value = [&](const char* name, double usual) {
    return costs == nullptr ? usual : costs->value_or(name, usual);
  };
  cascade.pipeline_cycles = value("pipeline_cycles", own + kArithmetic);
  cascade.cell_bytes = static_cast<std::size_t>(value("cell_bytes", cell));
  return cascade;
}

network::Topology ring_of(int boards) {
  std::vector<network::Cable> cables;
  for (int board = 0; board < boards && boards > 1; ++board) {
    cables.push_back({{board, kToNext}, {(board + 1) % boards, kFromBefore}});
  }
  return network::Topology::circuits("a cable from each board to the next one", boards, std::move(cables));
}

void require_cascade(const runtime::Context& context, const Problem& problem) {
  if (problem.is_periodic_across || problem.is_periodic_along) {
    throw bad_use("cells that go through one by one cannot begin again at the other side of the grid",
                  "choose a case between walls, or --variant throughput");
  }
  if (context.parameters().text("data_type") == "double") {
    throw bad_use("the dataflow kernels have floats", "leave out --data-type, or choose --variant base");
  }
  const std::size_t most = context.parameters().count("row_cells");
  if (problem.columns > most) {
    throw bad_use(
        fmt::format("rows have {} cells, and the local memory has room for {}", problem.columns, most),
        "use fewer --columns and more --rows, or more --row-cells");
  }
}

common::HaloSums RingMarks::sums(const runtime::Communicator& ranks, std::size_t words) const {
  common::HaloSums made;
  const int size = ranks.size();
  if (size == 1) return made;
  const int next = (ranks.rank() + 1) % size;
  const int before = (ranks.rank() + size - 1) % size;
  made.words = std::max<std::size_t>(words, 1);
  made.unchanged = (sent == kFirst ? 1U : 0U) + (received == kFirst ? 1U : 0U);
  if (next == before) {
    made.neighbours = {next};
    made.sent = {sent};
    made.received = {received};
    return made;
  }
  made.neighbours = {next, before};
  made.sent = {sent, 0};
  made.received = {0, received};
  return made;
}

}  // namespace fabricmark::stencil
