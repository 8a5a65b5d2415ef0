#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// One constituent of a tide: amplitude * cos(frequency * t - phase) at the sea's edges.
struct Constituent {
  std::string name;
  double amplitude_m = 0;
  double phase_rad = 0;
  double frequency_rad_per_s = 0;
};

struct Tides {
  std::vector<Constituent> constituents;
};

/// Where curves of elevation and velocity are recorded [m].
using Station = std::array<double, 2>;

/// The tides of the bight of Abaco: O1, K1, N2, M2 and S2, as fort_bahamas.15 and fort_bahamas.17 have them.
Tides abaco_tides();

/// Tides in ADCIRC's format fort.15: names, frequencies and nodal factors of what is forced at open
/// boundaries, and amplitude and phase [degrees] of each at the boundary's nodes. Where a file ends before
/// these (as the one of the bight of Abaco does), `amplitudes` has them, by default the file beside it that
/// ends in .17: the last lines of a fort.17, one a sea edge, constituent after constituent. Throws Error (bad
/// use) that names the line, also where amplitudes differ along the boundary.
Tides read_tides(const std::filesystem::path& path,
                 const std::optional<std::filesystem::path>& amplitudes = {});

/// The stations of the bight of Abaco where all lie in the mesh; else four inside, along the middle of its
/// elements.
std::vector<Station> default_stations(const Mesh& mesh);

/// The element that a point lies in, the first one where there are several; none outside of all.
std::optional<std::size_t> element_at(const Mesh& mesh, const Station& point);

}  // namespace fabricmark::mesh
