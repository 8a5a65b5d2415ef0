#include "mesh/partition.hpp"

#include <metis.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.hpp"
#include "mesh/order.hpp"

namespace fabricmark::mesh {

namespace {

/// Neighbours of each element in the order of their numbers.
struct DualGraph {
  std::vector<idx_t> starts;
  std::vector<idx_t> neighbours;
};

DualGraph dual_graph(const Mesh& mesh) {
  const std::vector<Edge> edges = edges_of(mesh);
  DualGraph graph{.starts = std::vector<idx_t>(mesh.element_count() + 1), .neighbours = {}};
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    ++graph.starts[static_cast<std::size_t>(edge.left) + 1];
    ++graph.starts[static_cast<std::size_t>(edge.right) + 1];
  }
  for (std::size_t i = 0; i < mesh.element_count(); ++i) graph.starts[i + 1] += graph.starts[i];
  graph.neighbours.resize(static_cast<std::size_t>(graph.starts.back()));
  std::vector<idx_t> next(graph.starts.begin(), graph.starts.end() - 1);
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.left)]++)] = edge.right;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.right)]++)] = edge.left;
  }
  return graph;
}

}  // namespace

std::vector<std::int32_t> partition(const Mesh& mesh, int parts) {
  if (parts < 1 || static_cast<std::size_t>(parts) > mesh.element_count())
    throw bad_use("a mesh of " + std::to_string(mesh.element_count()) + " elements does not have " +
                      std::to_string(parts) + " parts",
                  "take 1 to as many parts as elements");
  std::vector<std::int32_t> part_of(mesh.element_count());
  if (parts == 1) return part_of;
  DualGraph graph = dual_graph(mesh);
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  auto elements = static_cast<idx_t>(mesh.element_count());
  idx_t constraints = 1;
  idx_t wanted = parts;
  idx_t cut = 0;
  std::vector<idx_t> found(mesh.element_count());
  const int status = METIS_PartGraphRecursive(&elements, &constraints, graph.starts.data(),
                                              graph.neighbours.data(), nullptr, nullptr, nullptr, &wanted,
                                              nullptr, nullptr, options.data(), &cut, found.data());
  if (status != METIS_OK) throw environment_failure("METIS found no partition", "give it more memory");
  std::ranges::copy(found, part_of.begin());
  return part_of;
}

Part part(const Mesh& mesh, const std::vector<std::int32_t>& part_of, int which) {
  const std::vector<Edge> edges = edges_of(mesh);
  std::vector<bool> is_border(mesh.element_count());
  // The order in which elements travel: that of the elements' numbers, which both sides know.
  std::map<int, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> beyond;  // send, receive
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    const int left = part_of[static_cast<std::size_t>(edge.left)];
    const int right = part_of[static_cast<std::size_t>(edge.right)];
    if (left == right || (left != which && right != which)) continue;
    const std::int32_t own = left == which ? edge.left : edge.right;
    auto& [send, receive] = beyond[left == which ? right : left];
    send.push_back(own);
    receive.push_back(left == which ? edge.right : edge.left);
    is_border[static_cast<std::size_t>(own)] = true;
  }
  const std::vector<std::int32_t> order = curve_order(mesh);
  Part result;
  for (const bool border : {false, true}) {
    for (const std::int32_t element : order) {
      const auto place = static_cast<std::size_t>(element);
      if (part_of[place] == which && is_border[place] == border) result.elements.push_back(element);
    }
    if (!border) result.core = result.elements.size();
  }
  std::vector<std::int32_t> place_of(mesh.element_count());
  for (std::size_t i = 0; i < result.elements.size(); ++i)
    place_of[static_cast<std::size_t>(result.elements[i])] = static_cast<std::int32_t>(i);
  const auto once = [](std::vector<std::int32_t>& list) {
    std::ranges::sort(list);
    const auto rest = std::ranges::unique(list);
    list.erase(rest.begin(), rest.end());
  };
  for (auto& [other, lists] : beyond) {
    auto& [send, receive] = lists;
    once(send);
    once(receive);
    for (std::int32_t& element : send) element = place_of[static_cast<std::size_t>(element)];
    result.neighbours.push_back({.part = other, .send = std::move(send), .receive = std::move(receive)});
  }
  return result;
}

}  // namespace fabricmark::mesh
