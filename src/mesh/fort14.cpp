#include "mesh/fort14.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "mesh/check.hpp"
#include "mesh/lines.hpp"

namespace fabricmark::mesh {

namespace {

constexpr std::int64_t kMostListed = std::int64_t{1} << 29;

/// What boundary types of ADCIRC stand for (its user's manual, "IBTYPE"); none for those that have no place
/// here: weirs and barriers, which two sides of land belong to.
constexpr std::array<std::int64_t, 6> kLandTypes{0, 1, 10, 11, 20, 21};
constexpr std::array<std::int64_t, 5> kRiverTypes{2, 12, 22, 32, 52};
constexpr std::array<std::int64_t, 3> kIslandTypes{1, 11, 21};  // whose last node is joined to the first

std::int64_t counted(Lines& lines, std::int64_t least, const std::string& what) {
  const std::int64_t count = lines.whole();
  if (count < least || count > kMostListed)
    throw lines.wrong(fmt::format("there cannot be {} {}", count, what));
  if (lines.is_too_short_for(count))
    throw lines.wrong(fmt::format("the file is cut: what follows is too short for {} {}", count, what),
                      "take the whole file");
  return count;
}

/// A number of what is counted from 1 to `count`, from 0.
std::int32_t place(const Lines& lines, std::int64_t number, std::int64_t count, const char* what) {
  if (number < 1 || number > count)
    throw lines.wrong(fmt::format("there is no {} {}: there are 1 to {}", what, number, count));
  return static_cast<std::int32_t>(number - 1);
}

void read_nodes(Lines& lines, std::int64_t count, Mesh& mesh, Origin& origin) {
  const auto size = static_cast<std::size_t>(count);
  mesh.x.resize(size);
  mesh.y.resize(size);
  mesh.depth.resize(size);
  origin.node_lines.resize(size);
  for (std::int64_t i = 0; i < count; ++i) {
    lines.next("a node: its number, x, y and depth");
    const auto which = static_cast<std::size_t>(place(lines, lines.whole(), count, "node"));
    if (origin.node_lines[which] != 0)
      throw lines.wrong(
          fmt::format("node {} stands in line {} already", which + 1, origin.node_lines[which]));
    origin.node_lines[which] = lines.number();
    mesh.x[which] = lines.real();
    mesh.y[which] = lines.real();
    mesh.depth[which] = lines.real();
  }
}

void read_elements(Lines& lines, std::int64_t count, Mesh& mesh, Origin& origin) {
  const auto nodes = static_cast<std::int64_t>(mesh.node_count());
  mesh.elements.resize(static_cast<std::size_t>(count));
  origin.element_lines.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    lines.next("an element: its number, 3, and its nodes");
    const auto which = static_cast<std::size_t>(place(lines, lines.whole(), count, "element"));
    if (origin.element_lines[which] != 0)
      throw lines.wrong(
          fmt::format("element {} stands in line {} already", which + 1, origin.element_lines[which]));
    origin.element_lines[which] = lines.number();
    const std::int64_t corners = lines.whole();
    if (corners != 3)
      throw lines.wrong(fmt::format("element {} has {} nodes", which + 1, corners), "use triangles only");
    for (std::int32_t& node : mesh.elements[which]) {
      const std::int64_t number = lines.whole();
      if (number < 1 || number > nodes)
        throw lines.wrong(
            fmt::format("element {} has node {}, but there are nodes 1 to {}", which + 1, number, nodes));
      node = static_cast<std::int32_t>(number - 1);
    }
  }
}

/// The edges of one segment of a boundary.
void read_segment(Lines& lines, std::int64_t count, EdgeKind kind, bool is_closed, Mesh& mesh,
                  Origin& origin) {
  std::int32_t first = 0;
  std::int32_t previous = 0;
  const auto add = [&](std::int32_t from, std::int32_t to) {
    mesh.boundary.push_back({{from, to}, kind});
    origin.boundary_lines.push_back(lines.number());
  };
  for (std::int64_t i = 0; i < count; ++i) {
    lines.next("a node of a boundary");
    const std::int32_t node =
        place(lines, lines.whole(), static_cast<std::int64_t>(mesh.node_count()), "node");
    if (i > 0) add(previous, node);
    if (i == 0) first = node;
    previous = node;
  }
  if (is_closed && count > 2 && previous != first) add(previous, first);
}

void read_boundaries(Lines& lines, Mesh& mesh, Origin& origin) {
  lines.next("the number of open boundaries");
  const std::int64_t open = counted(lines, 0, "open boundaries");
  lines.next("the number of nodes of open boundaries");
  counted(lines, 0, "nodes of open boundaries");
  for (std::int64_t i = 0; i < open; ++i) {
    lines.next("the number of nodes of an open boundary");
    read_segment(lines, counted(lines, 2, "nodes of an open boundary"), EdgeKind::kSea, false, mesh, origin);
  }
  lines.next("the number of land boundaries");
  const std::int64_t land = counted(lines, 0, "land boundaries");
  lines.next("the number of nodes of land boundaries");
  counted(lines, 0, "nodes of land boundaries");
  for (std::int64_t i = 0; i < land; ++i) {
    lines.next("the number of nodes of a land boundary and its type");
    const std::int64_t count = counted(lines, 2, "nodes of a land boundary");
    const std::int64_t type = lines.whole();
    const bool is_river = std::ranges::count(kRiverTypes, type) > 0;
    if (!is_river && std::ranges::count(kLandTypes, type) == 0)
      throw lines.wrong(fmt::format("boundaries of type {} are not known", type),
                        "use 0, 1, 10, 11, 20, 21 (land) or 2, 12, 22, 32, 52 (river)");
    read_segment(lines, count, is_river ? EdgeKind::kRiver : EdgeKind::kLand,
                 std::ranges::count(kIslandTypes, type) > 0, mesh, origin);
  }
}

}  // namespace

Mesh parse_fort14(std::string_view text, const std::string& name, Projection projection) {
  Lines lines(text, name);
  Mesh mesh;
  Origin origin{.name = name, .node_lines = {}, .element_lines = {}, .boundary_lines = {}};
  lines.next("a title");
  const std::string_view first = lines.line().substr(0, lines.line().find('!'));  // what follows is a comment
  const std::size_t start = std::min(first.find_first_not_of(" \t"), first.size());
  mesh.title = first.substr(start, first.find_last_not_of(" \t\r") + 1 - start);
  lines.next("the numbers of elements and nodes");
  const std::int64_t elements = counted(lines, 1, "elements");
  const std::int64_t nodes = counted(lines, 3, "nodes");
  read_nodes(lines, nodes, mesh, origin);
  read_elements(lines, elements, mesh, origin);
  read_boundaries(lines, mesh, origin);
  if (projection == Projection::kCpp) project(mesh, origin);
  check(mesh, origin);
  if (projection == Projection::kAuto) refuse_degrees(mesh, origin);
  return mesh;
}

Mesh read_mesh(const std::filesystem::path& path, Projection projection) {
  const std::string text = text_of(path, "name a mesh in ADCIRC's format fort.14, or bay:N");
  return parse_fort14(text, path.string(), projection);
}

}  // namespace fabricmark::mesh
