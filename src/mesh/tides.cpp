#include "mesh/tides.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "mesh/lines.hpp"

namespace fabricmark::mesh {

namespace {

constexpr double kDegree = std::numbers::pi / 180;

bool is_name(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

/// Goes on to the line that gives the number of what is forced at open boundaries, which a comment there
/// names.
std::int64_t forced(Lines& lines) {
  for (;;) {
    lines.next("the number of forcing frequencies on open boundaries (NBFR)");
    if (lines.line().find("NBFR") == std::string_view::npos) continue;
    const std::int64_t count = lines.whole();
    if (count < 1 || lines.is_too_short_for(count))
      throw lines.wrong("there cannot be " + std::to_string(count) + " constituents");
    return count;
  }
}

/// A pair of amplitude and phase, which has to be the one that is there already.
void take_amplitude(Lines& lines, Constituent& tide, bool is_first) {
  const double amplitude = lines.real();
  const double phase = lines.real() * kDegree;
  if (is_first) {
    tide.amplitude_m = amplitude;
    tide.phase_rad = phase;
  } else if (tide.amplitude_m != amplitude || tide.phase_rad != phase) {
    throw lines.wrong("the amplitude or phase of " + tide.name + " differs along the boundary",
                      "give one tide for the whole boundary");
  }
}

/// In fort.15: ANGINN stands before what each constituent has at each node, after its name.
bool read_amplitudes(Lines& lines, Tides& tides) {
  for (Constituent& tide : tides.constituents) {
    do {
      if (lines.at_end()) return false;
      lines.next("the constituent " + tide.name);
    } while (Lines(lines).word() != tide.name);
    lines.next("its amplitude and phase at a node");
    take_amplitude(lines, tide, true);
    for (;;) {
      Lines ahead = lines;
      if (ahead.at_end()) break;
      ahead.next("an amplitude");
      const std::string_view word = Lines(ahead).word();
      if (is_name(word) || ahead.line().find('!') != std::string_view::npos || word.empty()) break;
      lines = ahead;
      take_amplitude(lines, tide, false);
    }
  }
  return true;
}

/// At the end of fort.17, after the list of open sea edges.
void read_edge_amplitudes(const std::filesystem::path& path, Tides& tides) {
  const std::string text = text_of(path, "name a file in the format fort.17");
  Lines lines(text, path.string());
  std::int64_t edges = 0;
  while (edges == 0) {
    lines.next("the number of open sea edges");
    if (lines.line().find("OPEN SEA EDGES") == std::string_view::npos) continue;
    edges = lines.whole();
    if (edges < 1 || lines.is_too_short_for(edges))
      throw lines.wrong("there cannot be " + std::to_string(edges) + " open sea edges");
  }
  for (std::int64_t i = 0; i < edges; ++i) lines.next("an open sea edge");
  for (Constituent& tide : tides.constituents) {
    for (std::int64_t i = 0; i < edges; ++i) {
      lines.next("amplitude and phase of " + tide.name + " at an edge");
      take_amplitude(lines, tide, i == 0);
    }
  }
}

double side_of(const Mesh& mesh, std::int32_t from, std::int32_t to, const Station& point) {
  const auto a = static_cast<std::size_t>(from);
  const auto b = static_cast<std::size_t>(to);
  return (mesh.x[b] - mesh.x[a]) * (point[1] - mesh.y[a]) - (point[0] - mesh.x[a]) * (mesh.y[b] - mesh.y[a]);
}

Station centre(const Mesh& mesh, std::size_t which) {
  Station sum{};
  for (const std::int32_t node : mesh.elements[which]) {
    sum[0] += mesh.x[static_cast<std::size_t>(node)] / 3;
    sum[1] += mesh.y[static_cast<std::size_t>(node)] / 3;
  }
  return sum;
}

}  // namespace

Tides abaco_tides() {
  return {{{"O1", 0.075, 194.806 * kDegree, 6.7597751162e-5},
           {"K1", 0.095, 206.265 * kDegree, 7.2921165921e-5},
           {"N2", 0.1, 340 * kDegree, 1.37879713787e-4},
           {"M2", 0.395, 0, 1.40518917083e-4},
           {"S2", 0.06, 42.9718 * kDegree, 1.45444119418e-4}}};
}

Tides read_tides(const std::filesystem::path& path, const std::optional<std::filesystem::path>& amplitudes) {
  const std::string text = text_of(path, "name a file in ADCIRC's format fort.15");
  Lines lines(text, path.string());
  Tides tides;
  const std::int64_t count = forced(lines);
  std::vector<double> factors;
  for (std::int64_t i = 0; i < count; ++i) {
    lines.next("the name of a constituent");
    Constituent tide{.name = std::string(lines.word())};
    if (!is_name(tide.name)) throw lines.wrong("the name of a constituent should stand here");
    lines.next("frequency, nodal factor and equilibrium argument of " + tide.name);
    tide.frequency_rad_per_s = lines.real();
    factors.push_back(lines.real());
    if (lines.real() != 0)
      throw lines.wrong("an equilibrium argument is not taken", "add it to the phases and write 0");
    tides.constituents.push_back(tide);
  }
  const auto beside = amplitudes.value_or(std::filesystem::path(path).replace_extension(".17"));
  if (amplitudes || !read_amplitudes(lines, tides)) {
    if (!amplitudes && !std::filesystem::is_regular_file(beside))
      throw bad_use(path.string() + " ends before the amplitudes of the tides",
                    "put a fort.17 that has them at its end beside it");
    read_edge_amplitudes(beside, tides);
  }
  for (std::size_t i = 0; i < factors.size(); ++i) tides.constituents[i].amplitude_m *= factors[i];
  return tides;
}

std::optional<std::size_t> element_at(const Mesh& mesh, const Station& point) {
  for (std::size_t which = 0; which < mesh.element_count(); ++which) {
    const auto [a, b, c] = mesh.elements[which];
    if (side_of(mesh, a, b, point) >= 0 && side_of(mesh, b, c, point) >= 0 && side_of(mesh, c, a, point) >= 0)
      return which;
  }
  return std::nullopt;
}

std::vector<Station> default_stations(const Mesh& mesh) {
  std::vector<Station> stations{
      {38666.66, 49333.32}, {56097.79, 9612.94}, {41262.60, 29775.73}, {59594.66, 41149.62}};
  if (std::ranges::all_of(stations, [&](const Station& one) { return element_at(mesh, one).has_value(); }))
    return stations;
  std::vector<Station> inside;
  const auto [low, high] = std::ranges::minmax(mesh.y);
  const auto [left, right] = std::ranges::minmax(mesh.x);
  for (const double part : {0.15, 0.4, 0.65, 0.9}) {  // the centre that lies nearest
    const Station wanted{left + (right - left) * 0.5, low + (high - low) * part};
    Station best{};
    double least = INFINITY;
    for (std::size_t which = 0; which < mesh.element_count(); ++which) {
      const Station here = centre(mesh, which);
      const double distance = std::hypot(here[0] - wanted[0], here[1] - wanted[1]);
      if (distance >= least) continue;
      least = distance;
      best = here;
    }
    inside.push_back(best);
  }
  return inside;
}

}  // namespace fabricmark::mesh
