#include "apps/tsunami/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "mesh/arrays.hpp"
#include "stencil/rows_of_all.hpp"

namespace fabricmark::tsunami {

namespace {

constexpr const char* kDescription = "grid.json";
constexpr const char* kStations = "stations.csv";

}  // namespace

RunFiles::RunFiles(const runtime::Context& context, const Ocean& ocean, const stencil::Part& part)
    : ranks_(context.ranks()),
      ocean_(ocean),
      part_(part),
      case_(context.parameters().text("case")),
      folder_(context.parameters().text("fields")),
      snapshot_every_(context.parameters().integer("snapshot_every")) {
  const std::string& gauges = context.parameters().text("gauges");
  if (gauges == "none") return;
  gauges_ = gauges_of(gauges, ocean);
  gauge_every_ = context.parameters().integer("gauge_every");
}

template <typename Number>
void RunFiles::write(const std::string& file, const Number& number) {
  std::vector<float> own(part_.cells());
  for (std::size_t cell = 0; cell < own.size(); ++cell) own[cell] = static_cast<float>(number(cell));
  const std::vector<float> whole = stencil::rows_of_all(ranks_, own);
  if (ranks_.is_root())
    write_atomically(folder_ / file, mesh::npy(std::span<const float>(whole), part_.columns));
}

void RunFiles::begin(const std::vector<double>& state) {
  curves_ = "time_s,station,x_m,y_m,xi_m,u_m_per_s,v_m_per_s\n";
  snapshots_.clear();
  if (ranks_.is_root()) {  // of an earlier run: one that does not get to its end has none
    std::error_code none;
    for (const char* file : {kDescription, kStations}) std::filesystem::remove(folder_ / file, none);
  }
  take(0, state);
}

std::int64_t RunFiles::next(std::int64_t step) const {
  return std::min(next_multiple(step, snapshot_every_), next_multiple(step, gauge_every_));
}

void RunFiles::take(std::int64_t step, const std::vector<double>& state) {
  if (gauge_every_ > 0 && step % gauge_every_ == 0) record_gauges(step, state);
  if (snapshot_every_ > 0 && step % snapshot_every_ == 0) record_snapshot(step, state);
}

void RunFiles::record_gauges(std::int64_t step, const std::vector<double>& state) {
  std::vector<double> own;
  for (std::size_t number = 0; number < gauges_.size(); ++number) {
    const auto [column, row] = gauges_[number].place;
    if (!part_.has(row)) continue;
    own.push_back(static_cast<double>(number));
    for (const Field field : {kElevation, kEast, kNorth})
      own.push_back(state[part_.at(field, row - part_.first_row, column)]);
  }
  constexpr std::size_t kNumbers = 4;
  std::vector<std::string> lines(gauges_.size());
  for (const std::vector<double>& of_rank : ranks_.all_gather_numbers(own)) {
    for (std::size_t i = 0; i + kNumbers <= of_rank.size(); i += kNumbers) {
      const auto number = static_cast<std::size_t>(of_rank[i]);
      const Gauge& gauge = gauges_[number];
      lines[number] = fmt::format("{:.10g},{},{:.10g},{:.10g},{:.9g},{:.9g},{:.9g}\n",
                                  static_cast<double>(step) * ocean_.dt, gauge.name,
                                  (static_cast<double>(gauge.place.column) + 0.5) * ocean_.dx,
                                  (static_cast<double>(gauge.place.row) + 0.5) * ocean_.dy, of_rank[i + 1],
                                  of_rank[i + 2], of_rank[i + 3]);
    }
  }
  for (const std::string& line : lines) curves_ += line;
}

void RunFiles::record_snapshot(std::int64_t step, const std::vector<double>& state) {
  const std::string name = fmt::format("elevation_{:08}.npy", step);
  write(name, [&](std::size_t cell) { return state[kElevation * part_.cells() + cell]; });
  snapshots_ +=
      fmt::format(R"({}    {{"file": "{}", "step": {}, "time_s": {:.17g}}})", snapshots_.empty() ? "" : ",\n",
                  name, step, static_cast<double>(step) * ocean_.dt);
}

std::string RunFiles::description() const {
  const stencil::Problem& problem = ocean_.problem;
  std::string degrees = "null";
  if (ocean_.degrees) {
    const auto& [west, east, south, north] = *ocean_.degrees;
    degrees = fmt::format("[{:.17g}, {:.17g}, {:.17g}, {:.17g}]", west, east, south, north);
  }
  return fmt::format(
      "{{\n  \"schema\": \"fabricmark-grid-1\",\n  \"case\": \"{}\",\n  \"columns\": {},\n  \"rows\": {},\n"
      "  \"dx_m\": {:.17g},\n  \"dy_m\": {:.17g},\n  \"degrees\": {},\n  \"time_s\": {:.17g},\n"
      "  \"snapshots\": [\n{}\n  ]\n}}\n",
      case_, problem.columns, problem.rows, ocean_.dx, ocean_.dy, degrees,
      static_cast<double>(problem.steps) * ocean_.dt, snapshots_);
}

void RunFiles::end(const std::vector<double>& state) {
  const std::size_t cells = part_.cells();
  write("depth.npy", [&](std::size_t cell) { return state[kDepth * cells + cell]; });
  write("elevation.npy", [&](std::size_t cell) { return state[kElevation * cells + cell]; });
  write("largest.npy", [&](std::size_t cell) { return state[kLargest * cells + cell]; });
  write("arrival.npy", [&](std::size_t cell) {
    const double steps = state[kArrival * cells + cell];
    return steps > 0 ? steps * ocean_.dt : std::numeric_limits<double>::quiet_NaN();
  });
  if (!ranks_.is_root()) return;
  if (gauge_every_ > 0) write_atomically(folder_ / kStations, curves_);
  write_atomically(folder_ / kDescription, description());
}

std::unique_ptr<RunFiles> run_files(const runtime::Context& context, const Ocean& ocean,
                                    const stencil::Part& part) {
  const runtime::Parameters& parameters = context.parameters();
  if (parameters.text("fields") != "none") return std::make_unique<RunFiles>(context, ocean, part);
  if (parameters.text("gauges") != "none" || parameters.integer("snapshot_every") > 0) {
    throw bad_use("nothing says where gauges and snapshots are to be written",
                  "name a folder with --fields, or leave out --gauges and --snapshot-every");
  }
  return nullptr;
}

}  // namespace fabricmark::tsunami
