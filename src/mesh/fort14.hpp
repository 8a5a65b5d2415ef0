#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "mesh/mesh.hpp"
#include "mesh/projection.hpp"

namespace fabricmark::mesh {

/// A mesh in ADCIRC's format fort.14 (grid and boundary information file). Open boundaries are the sea;
/// boundaries of types 0, 1, 10, 11, 20 and 21 are land, of 2, 12, 22, 32 and 52, where a flux is given,
/// rivers. Throws Error (bad use) that names line and element or node for a file that is cut or that no
/// solver could use: see check() and refuse_degrees().
Mesh read_mesh(const std::filesystem::path& path, Projection projection = Projection::kAuto);

/// The same from the text of a file; `name` stands in messages.
Mesh parse_fort14(std::string_view text, const std::string& name, Projection projection = Projection::kAuto);

/// In the same format, each number so that reading gives it back.
std::string fort14_text(const Mesh& mesh);

}  // namespace fabricmark::mesh
