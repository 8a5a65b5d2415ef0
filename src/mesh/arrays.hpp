#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// The text of a .npy file (NumPy's format 1.0) of an array of so many columns; 1: a plain list.
std::string npy(std::span<const float> values, std::size_t columns = 1);
std::string npy(std::span<const double> values, std::size_t columns = 1);
std::string npy(std::span<const std::int32_t> values, std::size_t columns = 1);
std::string npy(std::span<const std::uint8_t> values, std::size_t columns = 1);

/// A mesh as files that NumPy reads: x.npy, y.npy, depth.npy [nodes], elements.npy [elements][3],
/// boundary_nodes.npy [edges][2], boundary_kinds.npy [edges] (1 land, 2 sea, 3 river). Makes the folder.
/// Throws Error as write_atomically does.
void write_arrays(const Mesh& mesh, const std::filesystem::path& folder);

}  // namespace fabricmark::mesh
