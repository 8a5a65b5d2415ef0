#include "mesh/arrays.hpp"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace fabricmark::mesh {

namespace {

static_assert(std::endian::native == std::endian::little, "the files say little-endian");

std::string npy_text(std::string_view type, std::string_view bytes, std::size_t count, std::size_t columns) {
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  const std::string shape =
      columns == 1 ? fmt::format("{},", count) : fmt::format("{}, {}", count / columns, columns);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr std::size_t kPrefix = 10;  // magic and length
  header.resize((kPrefix + header.size() + 1 + 63) / 64 * 64 - kPrefix - 1, ' ');
  header += '\n';
  std::string text(kMagic);
  text += static_cast<char>(header.size() % 256);
  text += static_cast<char>(header.size() / 256);
  text.reserve(kPrefix + header.size() + bytes.size());
  text += header;
  text += bytes;
  return text;
}

template <typename T>
std::string npy_of(const char* type, std::span<const T> values, std::size_t columns) {
  const auto bytes = std::as_bytes(values);
  return npy_text(type, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, values.size(), columns);
}

}  // namespace

std::string npy(std::span<const float> values, std::size_t columns) { return npy_of("<f4", values, columns); }
std::string npy(std::span<const double> values, std::size_t columns) {
  return npy_of("<f8", values, columns);
}
std::string npy(std::span<const std::int32_t> values, std::size_t columns) {
  return npy_of("<i4", values, columns);
}
std::string npy(std::span<const std::uint8_t> values, std::size_t columns) {
  return npy_of("|u1", values, columns);
}

void write_arrays(const Mesh& mesh, const std::filesystem::path& folder) {
  write_atomically(folder / "x.npy", npy(std::span<const double>(mesh.x)));
  write_atomically(folder / "y.npy", npy(std::span<const double>(mesh.y)));
  write_atomically(folder / "depth.npy", npy(std::span<const double>(mesh.depth)));
  const std::int32_t* const corners = mesh.elements.empty() ? nullptr : mesh.elements.front().data();
  write_atomically(folder / "elements.npy",
                   npy(std::span<const std::int32_t>(corners, 3 * mesh.element_count()), 3));
  std::vector<std::int32_t> nodes;
  std::vector<std::uint8_t> kinds;
  for (const BoundaryEdge& edge : mesh.boundary) {
    nodes.insert(nodes.end(), edge.nodes.begin(), edge.nodes.end());
    kinds.push_back(static_cast<std::uint8_t>(edge.kind));
  }
  write_atomically(folder / "boundary_nodes.npy", npy(std::span<const std::int32_t>(nodes), 2));
  write_atomically(folder / "boundary_kinds.npy", npy(std::span<const std::uint8_t>(kinds)));
}

}  // namespace fabricmark::mesh
