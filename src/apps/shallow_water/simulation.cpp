#include "apps/shallow_water/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/shallow_water/gather.hpp"
#include "apps/shallow_water/worst.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "mesh/arrays.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr std::int64_t kChunk = 256;  // steps after which a device is asked for trouble

/// The next multiple of `every` behind a step; none for 0.
std::int64_t next_multiple(std::int64_t step, std::int64_t every) {
  return every == 0 ? std::numeric_limits<std::int64_t>::max() : (step / every + 1) * every;
}

}  // namespace

Simulation::Simulation(const runtime::Context& context, const Problem& problem, const Basis& basis,
                       const LocalMesh& local, Execution& execution, const Steps& plan, std::string key)
    : context_(context),
      ranks_(context.ranks()),
      problem_(problem),
      basis_(basis),
      local_(local),
      execution_(execution),
      plan_(plan),
      key_(std::move(key)),
      outputs_(outputs_of(context, problem.mesh, plan)),
      elements_(all_elements(context.ranks(), local.elements)),
      progress_(context.ranks().is_root()) {
  for (std::size_t number = 0; number < outputs_.stations.size(); ++number) {
    const auto element = mesh::element_at(problem.mesh, outputs_.stations[number]);
    const auto found = std::ranges::find(local.elements, static_cast<std::int32_t>(element.value_or(0)));
    if (!element || found == local.elements.end()) continue;
    OwnStation& own = stations_.emplace_back();
    own.number = number;
    own.place = static_cast<std::size_t>(found - local.elements.begin());
    const auto [x, y] = outputs_.stations[number];
    const std::array<double, 2> a = place_in(problem.mesh, *element, 0, 0);
    const std::array<double, 2> b = place_in(problem.mesh, *element, 1, 0);
    const std::array<double, 2> c = place_in(problem.mesh, *element, 0, 1);
    const double twice = 2 * area(problem.mesh, *element);
    own.r = ((x - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (y - a[1])) / twice;
    own.s = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / twice;
    const auto& nodes = problem.mesh.elements[*element];
    const auto depth = [&](std::size_t node) {
      return problem.mesh.depth[static_cast<std::size_t>(nodes[node])];
    };
    own.depth = (1 - own.r - own.s) * depth(0) + own.r * depth(1) + own.s * depth(2);
  }
}

void Simulation::begin(bool writes, double volume_at_start) {
  volume_at_start_ = volume_at_start;
  step_ = plan_.first;
  writes_ = writes;
  curves_ = "time_s,station,x_m,y_m,xi_m,u_m_per_s,v_m_per_s\n";
  snapshots_.clear();
  snapshot_count_ = 0;
  if (!writes_) return;
  if (!outputs_.fields.empty() && ranks_.is_root()) mesh::write_arrays(problem_.mesh, outputs_.fields);
  if (!outputs_.fields.empty() && ranks_.is_root() && elements_.size() > 1) {
    std::vector<std::int32_t> part_of(problem_.mesh.element_count());
    for (std::size_t rank = 0; rank < elements_.size(); ++rank) {
      for (const std::int32_t element : elements_[rank]) {
        part_of[static_cast<std::size_t>(element)] = static_cast<std::int32_t>(rank);
      }
    }
    write_atomically(outputs_.fields / "part_of.npy", mesh::npy(std::span<const std::int32_t>(part_of)));
  }
  record();
}

std::int64_t Simulation::next_event() const {
  if (!writes_) return std::numeric_limits<std::int64_t>::max();
  return std::min({next_multiple(step_, outputs_.snapshot_steps),
                   next_multiple(step_, outputs_.station_steps),
                   next_multiple(step_, outputs_.checkpoint_steps)});
}

void Simulation::advance(std::int64_t to) {
  while (step_ < to) {
    const std::int64_t end = std::min({to, next_event(), step_ + kChunk});
    execution_.advance({step_, end - step_, plan_.dt});
    step_ = end;
    check();
    if (writes_) record();
    show_progress();
  }
}

void Simulation::record() {
  const auto is_due = [&](std::int64_t every) { return every > 0 && step_ % every == 0; };
  const bool has_snapshot = is_due(outputs_.snapshot_steps);
  const bool has_stations = is_due(outputs_.station_steps);
  const bool has_checkpoint = is_due(outputs_.checkpoint_steps) && step_ > plan_.first;
  if (!has_snapshot && !has_stations && !has_checkpoint) return;
  Field field(basis_.modes(), local_.own());
  execution_.read(field);
  if (has_snapshot) record_snapshot(field);
  if (has_stations) record_stations(field);
  if (has_checkpoint) save(field);
}

void Simulation::record_snapshot(const Field& field) {
  const Field whole = gathered(ranks_, elements_, field);
  if (!ranks_.is_root()) return;
  const std::string name = fmt::format("xi_{:04}.npy", snapshot_count_++);
  write_atomically(outputs_.fields / name,
                   mesh::npy(std::span<const double>(whole.values).first(whole.elements)));
  snapshots_ += fmt::format(R"({}    {{"file": "{}", "step": {}, "time_s": {:.17g}}})",
                            snapshots_.empty() ? "" : ",\n", name, step_, seconds());
}

void Simulation::record_stations(const Field& field) {
  std::vector<double> own;
  for (const OwnStation& station : stations_) {
    std::array<double, kUnknowns> at{};
    for (int mode = 0; mode < basis_.modes(); ++mode) {
      const double value = basis_.value(mode, station.r, station.s);
      for (int unknown = 0; unknown < kUnknowns; ++unknown) {
        at[static_cast<std::size_t>(unknown)] += value * field.at(unknown, mode, station.place);
      }
    }
    const double h = station.depth + at[0];
    own.insert(own.end(), {static_cast<double>(station.number), at[0], at[1] / h, at[2] / h});
  }
  std::vector<std::string> lines(outputs_.stations.size());
  for (const std::vector<double>& of_rank : ranks_.all_gather_numbers(own)) {
    for (std::size_t i = 0; i + 4 <= of_rank.size(); i += 4) {
      const auto number = static_cast<std::size_t>(of_rank[i]);
      const auto [x, y] = outputs_.stations[number];
      lines[number] = fmt::format("{:.10g},{},{:.10g},{:.10g},{:.9g},{:.9g},{:.9g}\n", seconds(), number + 1,
                                  x, y, of_rank[i + 1], of_rank[i + 2], of_rank[i + 3]);
    }
  }
  for (const std::string& line : lines) curves_ += line;
}

void Simulation::save(const Field& field) {
  const std::vector<double> own = execution_.outflow();
  Field outflow(1, local_.own());
  std::ranges::copy(own, outflow.values.begin());
  Checkpoint checkpoint{.key = key_,
                        .step = step_,
                        .dt = plan_.dt,
                        .field = gathered(ranks_, elements_, field),
                        .outflow = {},
                        .volume_at_start = volume_at_start_};
  const Field whole = gathered(ranks_, elements_, outflow);
  checkpoint.outflow.assign(whole.values.begin(),
                            whole.values.begin() + static_cast<std::ptrdiff_t>(whole.elements));
  if (ranks_.is_root()) write_checkpoint(outputs_.checkpoint, checkpoint);
}

void Simulation::end() {
  progress_.clear();
  if (!writes_ || outputs_.fields.empty() || !ranks_.is_root()) return;
  write_atomically(outputs_.fields / "stations.csv", curves_);
  write_atomically(
      outputs_.fields / "snapshots.json",
      fmt::format("{{\n  \"schema\": \"fabricmark-fields-1\",\n  \"case\": \"{}\",\n  \"order\": {},\n"
                  "  \"snapshots\": [\n{}\n  ]\n}}\n",
                  context_.parameters().text("case"), basis_.order(), snapshots_));
}

void Simulation::check() {
  const std::optional<std::int64_t> step = execution_.trouble();
  if (!step) return;
  Field field(basis_.modes(), local_.own());
  execution_.read(field);
  const Worst worst = worst_of(problem_, basis_, local_, field);
  const double time = static_cast<double>(*step) * plan_.dt;
  throw Error(ExitCode::kInvalidResult,
              fmt::format("step {} at {:.6g} s ({:.4g} h): {} in element {}", *step, time,
                          time / kSecondsPerHour, worst.words(problem_, plan_.dt), worst.element + 1),
              worst.remedy(problem_));
}

void Simulation::show_progress() {
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  const std::int64_t last = plan_.first + plan_.count;
  constexpr std::int64_t kWidth = 24;
  const auto full =
      static_cast<std::size_t>(kWidth * (step_ - plan_.first) / std::max<std::int64_t>(1, plan_.count));
  progress_.step(fmt::format("[{}{}] step {} of {}, {:.4g} of {:.4g} h", std::string(full, '#'),
                             std::string(kWidth - full, '.'), step_, last, seconds() / kSecondsPerHour,
                             static_cast<double>(last) * plan_.dt / kSecondsPerHour));
}

}  // namespace fabricmark::shallow_water
