#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "mesh/fort14.hpp"

namespace fabricmark::mesh {

namespace {

/// Nodes along a boundary of one kind; the first stands at the end once more where it is closed.
struct Segment {
  EdgeKind kind = EdgeKind::kLand;
  std::vector<std::int32_t> nodes;

  [[nodiscard]] bool is_closed() const { return nodes.front() == nodes.back(); }
};

/// Outer edges that can follow each other, by their first node.
using Following = std::multimap<std::int32_t, std::int32_t>;

Segment segment_from(Following& edges, Following::iterator first, EdgeKind kind) {
  Segment segment{kind, {first->first}};
  for (auto edge = first; edge != edges.end(); edge = edges.find(segment.nodes.back())) {
    segment.nodes.push_back(edge->second);
    edges.erase(edge);
    if (segment.is_closed()) break;
  }
  return segment;
}

std::vector<Segment> segments_of(const Mesh& mesh) {
  std::map<EdgeKind, Following> edges;
  std::map<EdgeKind, std::vector<std::int32_t>> ends;
  for (const Edge& edge : edges_of(mesh)) {
    if (edge.right >= 0) continue;
    const auto& nodes = mesh.elements[static_cast<std::size_t>(edge.left)];
    const std::int32_t to = nodes[static_cast<std::size_t>((edge.left_side + 1) % 3)];
    edges[edge.kind].emplace(nodes[static_cast<std::size_t>(edge.left_side)], to);
    ends[edge.kind].push_back(to);
  }
  std::vector<Segment> found;
  for (auto& [kind, following] : edges) {
    auto& reached = ends[kind];
    std::ranges::sort(reached);
    std::vector<std::int32_t> starts;  // where no edge of this kind ends
    for (const auto& [from, unused] : following) {
      if (!std::ranges::binary_search(reached, from)) starts.push_back(from);
    }
    for (const std::int32_t start : starts)
      found.push_back(segment_from(following, following.find(start), kind));
    while (!following.empty()) found.push_back(segment_from(following, following.begin(), kind));
  }
  return found;
}

void add_nodes(std::string& text, std::span<const std::int32_t> nodes) {
  for (const std::int32_t node : nodes) fmt::format_to(std::back_inserter(text), "{}\n", node + 1);
}

void add_boundaries(std::string& text, const std::vector<Segment>& segments, bool open) {
  constexpr int kMainland = 0;
  constexpr int kIsland = 1;
  constexpr int kGivenFlux = 2;
  const auto belongs = [&](const Segment& segment) { return (segment.kind == EdgeKind::kSea) == open; };
  std::size_t nodes = 0;
  for (const Segment& segment : segments) nodes += belongs(segment) ? segment.nodes.size() : 0;
  const char* const name = open ? "open" : "land";
  fmt::format_to(std::back_inserter(text), "{} ! number of {} boundaries\n{} ! their nodes\n",
                 std::ranges::count_if(segments, belongs), name, nodes);
  for (const Segment& segment : segments) {
    if (!belongs(segment)) continue;
    const bool is_island = segment.kind == EdgeKind::kLand && segment.is_closed();
    const std::span<const std::int32_t> shown(segment.nodes.data(),
                                              segment.nodes.size() - (is_island ? 1 : 0));
    fmt::format_to(std::back_inserter(text), "{}", shown.size());
    if (!open) {
      const int type = segment.kind == EdgeKind::kRiver ? kGivenFlux : is_island ? kIsland : kMainland;
      fmt::format_to(std::back_inserter(text), " {}", type);
    }
    text += '\n';
    add_nodes(text, shown);
  }
}

}  // namespace

std::string fort14_text(const Mesh& mesh) {
  std::string text;
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "{}\n{} {}\n", mesh.title, mesh.element_count(), mesh.node_count());
  for (std::size_t i = 0; i < mesh.node_count(); ++i)
    fmt::format_to(end, "{} {} {} {}\n", i + 1, mesh.x[i], mesh.y[i], mesh.depth[i]);
  for (std::size_t i = 0; i < mesh.element_count(); ++i) {
    const auto [a, b, c] = mesh.elements[i];
    fmt::format_to(end, "{} 3 {} {} {}\n", i + 1, a + 1, b + 1, c + 1);
  }
  const std::vector<Segment> segments = segments_of(mesh);
  add_boundaries(text, segments, true);
  add_boundaries(text, segments, false);
  return text;
}

}  // namespace fabricmark::mesh
