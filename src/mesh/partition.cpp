#include "mesh/partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "mesh/order.hpp"

namespace fabricmark::mesh {

namespace {

constexpr std::size_t kNeighbourCost = 586;

/// Neighbours of each element in the order of their numbers, as METIS takes them.
struct DualGraph {
  std::vector<idx_t> starts;
  std::vector<idx_t> neighbours;
  bool is_connected = false;
};

bool is_connected(const DualGraph& graph) {
  std::vector<bool> reached(graph.starts.size() - 1);
  std::vector<std::size_t> todo{0};
  reached[0] = true;
  std::size_t count = 1;
  while (!todo.empty()) {
    const std::size_t element = todo.back();
    todo.pop_back();
    for (idx_t i = graph.starts[element]; i < graph.starts[element + 1]; ++i) {
      const auto other = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(i)]);
      if (reached[other]) continue;
      reached[other] = true;
      ++count;
      todo.push_back(other);
    }
  }
  return count == reached.size();
}

DualGraph dual_graph(const std::vector<Edge>& edges, std::size_t elements) {
  DualGraph graph{.starts = std::vector<idx_t>(elements + 1), .neighbours = {}};
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    ++graph.starts[static_cast<std::size_t>(edge.left) + 1];
    ++graph.starts[static_cast<std::size_t>(edge.right) + 1];
  }
  for (std::size_t i = 0; i < elements; ++i) graph.starts[i + 1] += graph.starts[i];
  graph.neighbours.resize(static_cast<std::size_t>(graph.starts.back()));
  std::vector<idx_t> next(graph.starts.begin(), graph.starts.end() - 1);
  for (const Edge& edge : edges) {
    if (edge.right < 0) continue;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.left)]++)] = edge.right;
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(edge.right)]++)] = edge.left;
  }
  graph.is_connected = is_connected(graph);
  return graph;
}

std::vector<PartCost> costs_of(const std::vector<Edge>& edges, const std::vector<std::int32_t>& part_of,
                               int parts) {
  std::vector<PartCost> costs(static_cast<std::size_t>(parts));
  const auto cost_at = [&](std::int32_t element) -> PartCost& {
    return costs[static_cast<std::size_t>(part_of[static_cast<std::size_t>(element)])];
  };
  std::vector<bool> is_border(part_of.size());
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  const auto mark = [&](std::int32_t element) {
    if (is_border[static_cast<std::size_t>(element)]) return;
    is_border[static_cast<std::size_t>(element)] = true;
    ++cost_at(element).border;
  };
  for (const std::int32_t part : part_of) ++costs[static_cast<std::size_t>(part)].elements;
  for (const Edge& edge : edges) {
    if (edge.right < 0) {
      ++cost_at(edge.left).outer_edges;
      continue;
    }
    const std::int32_t left = part_of[static_cast<std::size_t>(edge.left)];
    const std::int32_t right = part_of[static_cast<std::size_t>(edge.right)];
    if (left == right) continue;
    mark(edge.left);
    mark(edge.right);
    pairs.emplace_back(std::min(left, right), std::max(left, right));
  }
  std::ranges::sort(pairs);
  const auto rest = std::ranges::unique(pairs);
  pairs.erase(rest.begin(), rest.end());
  for (const auto& [one, other] : pairs) {
    ++costs[static_cast<std::size_t>(one)].neighbours;
    ++costs[static_cast<std::size_t>(other)].neighbours;
  }
  return costs;
}

/// One of METIS's ways to cut the graph: even numbers by recursive bisection, odd ones k-way with few
/// neighbours.
std::vector<std::int32_t> candidate(DualGraph& graph, int parts, int number) {
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = number / 2;
  auto elements = static_cast<idx_t>(graph.starts.size() - 1);
  idx_t constraints = 1;
  idx_t wanted = parts;
  idx_t cut = 0;
  std::vector<idx_t> found(static_cast<std::size_t>(elements));
  const bool recursive = number % 2 == 0;
  if (!recursive) {
    options[METIS_OPTION_MINCONN] = 1;
    options[METIS_OPTION_CONTIG] = graph.is_connected ? 1 : 0;
    options[METIS_OPTION_UFACTOR] = 5;  // thousandths that a part may be larger than the mean
  }
  const auto divide = recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status = divide(&elements, &constraints, graph.starts.data(), graph.neighbours.data(), nullptr,
                            nullptr, nullptr, &wanted, nullptr, nullptr, options.data(), &cut, found.data());
  if (status == METIS_ERROR_MEMORY)
    throw environment_failure("not enough memory to cut the mesh into parts", "take a smaller mesh");
  if (status != METIS_OK)
    throw environment_failure("METIS found no partition", "take other numbers of parts");
  return {found.begin(), found.end()};
}

/// How many candidates are looked at: as many as take a few seconds.
int candidates_for(std::size_t elements) {
  constexpr std::size_t kElementsInAll = 3'000'000;
  constexpr std::size_t kMostCandidates = 32;
  return static_cast<int>(std::clamp<std::size_t>(kElementsInAll / elements, 2, kMostCandidates));
}

/// Whether each part has elements: METIS may leave some empty where there are few elements for each.
bool all_used(const std::vector<PartCost>& costs) {
  return std::ranges::all_of(costs, [](const PartCost& cost) { return cost.elements > 0; });
}

std::vector<std::int32_t> best_partition(const Mesh& mesh, int parts) {
  const std::vector<Edge> edges = edges_of(mesh);
  DualGraph graph = dual_graph(edges, mesh.element_count());
  std::vector<std::int32_t> best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (int number = 0; number < candidates_for(mesh.element_count()); ++number) {
    std::vector<std::int32_t> found = candidate(graph, parts, number);
    const std::vector<PartCost> costs = costs_of(edges, found, parts);
    const std::size_t cost = std::ranges::max(costs, {}, &PartCost::cost).cost();
    if (cost >= least || !all_used(costs)) continue;
    least = cost;
    best = std::move(found);
  }
  if (!best.empty()) return best;
  const std::vector<std::int32_t> order = curve_order(mesh);
  best.resize(mesh.element_count());
  for (std::size_t i = 0; i < order.size(); ++i)
    best[static_cast<std::size_t>(order[i])] =
        static_cast<std::int32_t>(i * static_cast<std::size_t>(parts) / order.size());
  return best;
}

/// What stands for a partition: the elements' nodes and the number of parts.
std::string key_of(const Mesh& mesh, int parts) {
  const auto* const bytes = reinterpret_cast<const char*>(mesh.elements.data());
  return content_digest({bytes, mesh.element_count() * sizeof(mesh.elements.front())}) +
         std::to_string(parts);
}

}  // namespace

std::size_t PartCost::cost() const { return elements + border + kNeighbourCost * neighbours; }

std::vector<PartCost> part_costs(const Mesh& mesh, const std::vector<std::int32_t>& part_of, int parts) {
  return costs_of(edges_of(mesh), part_of, parts);
}

std::vector<std::int32_t> partition(const Mesh& mesh, int parts) {
  if (parts < 1 || static_cast<std::size_t>(parts) > mesh.element_count())
    throw bad_use("a mesh of " + std::to_string(mesh.element_count()) + " elements does not have " +
                      std::to_string(parts) + " parts",
                  "take 1 to as many parts as elements");
  if (parts == 1) return std::vector<std::int32_t>(mesh.element_count());
  // METIS draws its random numbers from one state of the process, so that only one thread at a time gets the
  // same ones each time; ranks that are threads ask for the same partition one after another.
  static std::mutex only_one;
  static std::pair<std::string, std::vector<std::int32_t>> last;
  const std::string key = key_of(mesh, parts);
  const std::scoped_lock lock(only_one);
  if (last.first != key) last = {key, best_partition(mesh, parts)};
  return last.second;
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
