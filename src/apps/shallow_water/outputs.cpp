// What a run writes, from its options.
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "apps/shallow_water/simulation.hpp"
#include "apps/shallow_water/text.hpp"
#include "base/error.hpp"

namespace fabricmark::shallow_water {

namespace {

std::vector<mesh::Station> parsed_stations(const std::string& text) {
  std::vector<mesh::Station> stations;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const std::optional<std::vector<double>> point = numbers_between(part, ",");
    if (!point) {
      throw bad_use(fmt::format("--stations has '{}', which is no point", part),
                    "give coordinates in metres, as in \"1000,2500;1200,3000\"");
    }
    stations.push_back({(*point)[0], (*point)[1]});
  }
  return stations;
}

std::vector<mesh::Station> stations_of(const runtime::Context& context, const mesh::Mesh& mesh) {
  const std::string& text = context.parameters().text("stations");
  if (text == "default") return mesh::default_stations(mesh);
  std::vector<mesh::Station> stations = parsed_stations(text);
  for (const mesh::Station& station : stations) {
    if (mesh::element_at(mesh, station)) continue;
    throw bad_use(fmt::format("the station {:.6g},{:.6g} lies outside of the mesh", station[0], station[1]),
                  "name points in its elements with --stations");
  }
  return stations;
}

}  // namespace

Outputs outputs_of(const runtime::Context& context, const mesh::Mesh& mesh, const Steps& plan) {
  const runtime::Parameters& parameters = context.parameters();
  const auto steps_in = [&](double seconds) {
    return std::max<std::int64_t>(1, std::llround(seconds / plan.dt));
  };
  Outputs outputs;
  const std::string& fields = parameters.text("fields");
  if (fields != "none") {
    constexpr double kSecondsPerMinute = 60;
    outputs.fields = fields;
    const std::int64_t snapshots = parameters.integer("snapshots");
    if (snapshots > 0) outputs.snapshot_steps = std::max<std::int64_t>(1, plan.count / snapshots);
    const double minutes = parameters.number("station_minutes");
    if (minutes > 0) {
      outputs.station_steps = steps_in(minutes * kSecondsPerMinute);
      outputs.stations = stations_of(context, mesh);
    }
  }
  const std::string& checkpoint = parameters.text("checkpoint");
  if (checkpoint != "none") {
    outputs.checkpoint = checkpoint;
    outputs.checkpoint_steps = parameters.integer("checkpoint_steps");
  }
  return outputs;
}

}  // namespace fabricmark::shallow_water
