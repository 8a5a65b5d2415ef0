#include "stencil/cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::stencil {

namespace {

/// Where no bitstream says how many cycles a pipeline takes: as deep as a design of this kind was beyond its
/// rows (Mondigo 2020, section 3.3.3), of which the elements of this project keep one.
double own_cycles(const runtime::Context& context, const Streamed& stream) {
  constexpr double kArithmetic = 110;
  return static_cast<double>(stream.in_row) / static_cast<double>(context.parameters().count("pipelines")) +
         1 + kArithmetic;
}

/// The axis of a design that is there: as it says. Of one that is not, that of shorter rows, as a pass takes
/// all pipelines' cycles beside its words; of both alike x.
Streamed chosen_stream(const runtime::Context& context, const Problem& problem, bool is_built) {
  const Streamed along_x = streamed(problem, false);
  if (context.parameters().text("orientation") != "auto") return streamed(context, problem);
  if (is_built) return along_x;
  const Streamed along_y = streamed(problem, true);
  if (along_y.in_row % context.parameters().count("pipelines") != 0) return along_x;
  return own_cycles(context, along_y) < own_cycles(context, along_x) ? along_y : along_x;
}

}  // namespace

std::string Cascade::note() const {
  return fmt::format(
      "{} elements on {} boards: a pass makes as many steps; {:.6g} cycles through each; cells "
      "move along {}",
      all, boards, pipeline_cycles, stream.is_turned ? "y" : "x");
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
  const auto cell = static_cast<double>(sizeof(float) * (problem.fields.size() + 1));
  const runtime::SystemCosts* const costs = context.costs();
  const auto value = [&](const char* name) { return costs == nullptr ? std::nullopt : costs->find(name); };
  const std::optional<double> built = value("pipeline_cycles");
  cascade.stream = chosen_stream(context, problem, built.has_value());
  cascade.pipeline_cycles = own_cycles(context, cascade.stream);
  if (built) {
    // It was built for rows along x: of turned ones it keeps as many.
    const double longer = cascade.pipeline_cycles - own_cycles(context, streamed(problem, false));
    cascade.pipeline_cycles = *built + value("pipeline_rows").value_or(1) * longer;
  }
  cascade.cell_bytes = static_cast<std::size_t>(value("cell_bytes").value_or(cell));
  return cascade;
}

std::string stalls_note(const runtime::Context& context, const PassTimes& own) {
  runtime::Communicator& ranks = context.ranks();
  const double links = ranks.all_reduce_max_number(own.links);
  const double clock = ranks.all_reduce_max_number(own.clock);
  if (clock <= 0) return "no modelled time";
  const double memory = std::max(0.0, own.memory - links);  // the same words cannot be waited for twice
  const double start = std::max(0.0, clock - own.words - links - memory);
  const auto share = [&](double seconds, const char* is, const char* phase) {
    return fmt::format("{:.2f} % {} {}", 100 * seconds / clock, is, context.phase(phase));
  };
  return fmt::format("of the modelled time {}; waited: {}, {}, {}", share(own.words, "are", "words"),
                     share(links, "for", "links"), share(memory, "for", "memory"),
                     share(start, "for", "start"));
}

network::Topology ring_of(int boards) {
  std::vector<network::Cable> cables;
  for (int board = 0; board < boards && boards > 1; ++board) {
    cables.push_back({{board, kToNext}, {(board + 1) % boards, kFromBefore}});
  }
  return network::Topology::circuits("a cable from each board to the next one", boards, std::move(cables));
}

void require_cascade(const runtime::Context& context, const Problem& problem) {
  if (context.parameters().text("data_type") == "double") {
    throw bad_use("the dataflow kernels have floats", "leave out --data-type, or choose --variant base");
  }
  require_streams(context, problem, cascade_of(context, problem).stream);
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
