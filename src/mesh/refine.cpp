#include "mesh/refine.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::mesh {

namespace {

constexpr std::int64_t kMostRefined = std::int64_t{1} << 29;

void check_refined(std::int64_t elements) {
  if (elements > kMostRefined)
    throw bad_use("a mesh of " + std::to_string(elements) + " elements is too large",
                  "refine to at most " + std::to_string(kMostRefined));
}

/// The nodes of a subdivided mesh that lie on edges and inside of elements of the coarse one.
class SubdividedNodes {
 public:
  SubdividedNodes(const Mesh& mesh, int k, Mesh& fine)
      : k_(k), edges_(edges_of(mesh)), first_on_edge_(static_cast<std::int32_t>(mesh.node_count())) {
    edge_at_.resize(mesh.element_count());
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const Edge& edge = edges_[i];
      const auto place = static_cast<std::int32_t>(i);
      edge_at_[static_cast<std::size_t>(edge.left)][static_cast<std::size_t>(edge.left_side)] = place;
      if (edge.right >= 0)
        edge_at_[static_cast<std::size_t>(edge.right)][static_cast<std::size_t>(edge.right_side)] = place;
      const auto& nodes = mesh.elements[static_cast<std::size_t>(edge.left)];
      const auto from = static_cast<std::size_t>(nodes[static_cast<std::size_t>(edge.left_side)]);
      const auto to = static_cast<std::size_t>(nodes[static_cast<std::size_t>((edge.left_side + 1) % 3)]);
      for (int step = 1; step < k; ++step) {
        const double part = static_cast<double>(step) / k;
        for (auto list : {&Mesh::x, &Mesh::y, &Mesh::depth}) {
          const double start = (mesh.*list)[from];
          (fine.*list).push_back(start + part * ((mesh.*list)[to] - start));
        }
      }
    }
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] std::int32_t on_edge(std::size_t edge, int step) const {
    return static_cast<std::int32_t>(first_on_edge_ + static_cast<std::int64_t>(edge) * (k_ - 1) + step - 1);
  }
  /// The node `step` of k steps along a side of an element, 0 and k not among them.
  [[nodiscard]] std::int32_t on_side(std::size_t element, std::size_t side, int step) const {
    const auto edge = static_cast<std::size_t>(edge_at_[element][side]);
    const bool forward =
        std::cmp_equal(edges_[edge].left, element) && std::cmp_equal(edges_[edge].left_side, side);
    return on_edge(edge, forward ? step : k_ - step);
  }

 private:
  int k_;
  std::vector<Edge> edges_;
  std::vector<std::array<std::int32_t, 3>> edge_at_;  // [element][side]
  std::int32_t first_on_edge_;
};

/// The small elements of one: points are i steps towards its second node and j towards its third.
void subdivide(const Mesh& mesh, std::size_t which, int k, const SubdividedNodes& nodes, Mesh& fine) {
  const auto& corners = mesh.elements[which];
  std::vector<std::int32_t> numbers;  // by row j, then i
  for (int j = 0; j <= k; ++j) {
    for (int i = 0; i + j <= k; ++i) {
      if (j == 0) {
        numbers.push_back(i == 0 ? corners[0] : i == k ? corners[1] : nodes.on_side(which, 0, i));
      } else if (j == k) {
        numbers.push_back(corners[2]);
      } else if (i + j == k) {
        numbers.push_back(nodes.on_side(which, 1, j));
      } else if (i == 0) {
        numbers.push_back(nodes.on_side(which, 2, k - j));
      } else {
        numbers.push_back(static_cast<std::int32_t>(fine.x.size()));
        for (auto list : {&Mesh::x, &Mesh::y, &Mesh::depth}) {
          const auto at = [&](std::size_t corner) {
            return (mesh.*list)[static_cast<std::size_t>(corners[corner])];
          };
          const double start = at(0);
          (fine.*list).push_back(start + (i * (at(1) - start) + j * (at(2) - start)) / k);
        }
      }
    }
  }
  std::size_t row = 0;
  for (int j = 0; j < k; ++j) {
    const auto width = static_cast<std::size_t>(k - j);  // edges of this row; the next has one fewer
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t upper = row + width + 1 + i;
      fine.elements.push_back({numbers[row + i], numbers[row + i + 1], numbers[upper]});
      if (i + 1 < width) fine.elements.push_back({numbers[row + i + 1], numbers[upper + 1], numbers[upper]});
    }
    row += width + 1;
  }
}

/// A mesh whose elements are halved one after another.
class Bisection {
 public:
  explicit Bisection(const Mesh& mesh) : mesh_(mesh), generation_(mesh.element_count()) {
    beyond_.resize(mesh.element_count());
    for (const Edge& edge : edges_of(mesh)) {
      at(edge.left, edge.left_side) = edge.right >= 0 ? edge.right : outer(edge.kind);
      if (edge.right >= 0) at(edge.right, edge.right_side) = edge.left;
    }
    for (std::size_t i = 0; i < mesh.element_count(); ++i) add_to_queue(static_cast<std::int32_t>(i));
  }

  void refine_to(std::size_t elements) {
    while (mesh_.element_count() + 1 < elements) halve_next(elements);
    if (mesh_.element_count() < elements) split(longest_outer());
  }

  Mesh result() && {
    mesh_.boundary.clear();
    for (std::size_t i = 0; i < mesh_.element_count(); ++i) {
      for (std::size_t side = 0; side < 3; ++side) {
        if (beyond_[i][side] >= 0) continue;
        const auto& nodes = mesh_.elements[i];
        mesh_.boundary.push_back(
            {{nodes[side], nodes[(side + 1) % 3]}, static_cast<EdgeKind>(-beyond_[i][side])});
      }
    }
    return std::move(mesh_);
  }

 private:
  struct Side {
    std::int32_t element = 0;
    std::size_t side = 0;
  };
  /// Of an edge: its length, and for equal ones its nodes, so that both elements agree which is longest.
  using Length = std::tuple<double, std::int32_t, std::int32_t>;
  /// Fewest halvings first, then the longest edge; the element, and its halvings when it was put in.
  using Entry = std::tuple<int, double, std::int32_t>;

  static std::int32_t outer(EdgeKind kind) { return -static_cast<std::int32_t>(kind); }
  std::int32_t& at(std::int32_t element, int side) {
    return beyond_[static_cast<std::size_t>(element)][static_cast<std::size_t>(side)];
  }
  std::int32_t& at(const Side& side) { return beyond_[static_cast<std::size_t>(side.element)][side.side]; }

  [[nodiscard]] Length length(const Side& side) const {
    const auto& nodes = mesh_.elements[static_cast<std::size_t>(side.element)];
    const auto [low, high] = std::minmax(nodes[side.side], nodes[(side.side + 1) % 3]);
    const auto a = static_cast<std::size_t>(low);
    const auto b = static_cast<std::size_t>(high);
    return {std::hypot(mesh_.x[b] - mesh_.x[a], mesh_.y[b] - mesh_.y[a]), low, high};
  }

  [[nodiscard]] Side longest(std::int32_t element) const {
    Side best{element, 0};
    for (std::size_t side = 1; side < 3; ++side) {
      if (length({element, side}) > length(best)) best.side = side;
    }
    return best;
  }

  [[nodiscard]] Side opposite(const Side& side) {
    const std::int32_t other = at(side);
    const auto& sides = beyond_[static_cast<std::size_t>(other)];
    const Length wanted = length(side);
    for (std::size_t i = 0; i < 3; ++i) {
      if (sides[i] == side.element && length({other, i}) == wanted) return {other, i};
    }
    return {other, 0};
  }

  void add_to_queue(std::int32_t element) {
    queue_.emplace(generation_[static_cast<std::size_t>(element)], -std::get<0>(length(longest(element))),
                   element);
  }

  /// Halves at an edge that is the longest of all its elements, found from the element that is next.
  void halve_next(std::size_t most) {
    const auto [generation, unused, element] = queue_.top();
    if (generation != generation_[static_cast<std::size_t>(element)]) {
      queue_.pop();
      return;
    }
    Side side = longest(element);
    while (at(side) >= 0) {
      const Side next = longest(at(side));
      if (length(next) == length(side)) break;
      side = next;
    }
    if (at(side) >= 0 && mesh_.element_count() + 2 > most) side = longest_outer();
    split(side);
  }

  /// The outer edge that is longest beside the longest one of its element.
  [[nodiscard]] Side longest_outer() {
    Side best;
    double best_part = -1;
    double best_length = 0;
    for (std::size_t i = 0; i < mesh_.element_count(); ++i) {
      const auto element = static_cast<std::int32_t>(i);
      for (std::size_t side = 0; side < 3; ++side) {
        if (beyond_[i][side] >= 0) continue;
        const double own = std::get<0>(length({element, side}));
        const double part = own / std::get<0>(length(longest(element)));
        if (std::pair(part, own) <= std::pair(best_part, best_length)) continue;
        best = {element, side};
        best_part = part;
        best_length = own;
      }
    }
    return best;
  }

  void split(const Side& side) {
    const auto nodes = mesh_.elements[static_cast<std::size_t>(side.element)];
    const auto from = static_cast<std::size_t>(nodes[side.side]);
    const auto to = static_cast<std::size_t>(nodes[(side.side + 1) % 3]);
    const auto middle = static_cast<std::int32_t>(mesh_.node_count());
    for (auto list : {&Mesh::x, &Mesh::y, &Mesh::depth})
      (mesh_.*list).push_back(((mesh_.*list)[from] + (mesh_.*list)[to]) / 2);
    if (at(side) < 0) {
      halve(side, middle);
      return;
    }
    const Side other = opposite(side);
    const std::int32_t mine = halve(side, middle);
    const std::int32_t theirs = halve(other, middle);
    // An element keeps the start of the edge; its new half has the end, where the other one starts.
    at(side.element, 0) = theirs;
    at(mine, 0) = other.element;
    at(other.element, 0) = mine;
    at(theirs, 0) = side.element;
  }

  /// Cuts an element from `middle` on its side to the node opposite; the new half's number. Side 0 of both
  /// halves is a half of the side that was cut.
  std::int32_t halve(const Side& side, std::int32_t middle) {
    const auto place = static_cast<std::size_t>(side.element);
    const auto nodes = mesh_.elements[place];
    const auto beyond = beyond_[place];
    const std::size_t next = (side.side + 1) % 3;
    const std::size_t last = (side.side + 2) % 3;
    const auto added = static_cast<std::int32_t>(mesh_.element_count());
    if (beyond[next] >= 0) {
      for (std::int32_t& back : beyond_[static_cast<std::size_t>(beyond[next])]) {
        if (back == side.element) back = added;
      }
    }
    mesh_.elements[place] = {nodes[side.side], middle, nodes[last]};
    beyond_[place] = {beyond[side.side], added, beyond[last]};
    mesh_.elements.push_back({middle, nodes[next], nodes[last]});
    beyond_.push_back({beyond[side.side], beyond[next], side.element});
    generation_[place] += 1;
    generation_.push_back(generation_[place]);
    add_to_queue(side.element);
    add_to_queue(added);
    return added;
  }

  Mesh mesh_;
  std::vector<std::array<std::int32_t, 3>> beyond_;  // [element][side]: element, or -kind
  std::vector<int> generation_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

Mesh subdivided(const Mesh& mesh, int k) {
  if (k < 1) throw bad_use("edges cannot be cut into " + std::to_string(k), "cut them into 1 or more");
  check_refined(std::int64_t{k} * k);
  check_refined(static_cast<std::int64_t>(mesh.element_count()) * k * k);
  Mesh fine{
      .title = mesh.title, .x = mesh.x, .y = mesh.y, .depth = mesh.depth, .elements = {}, .boundary = {}};
  const SubdividedNodes nodes(mesh, k, fine);
  fine.elements.reserve(mesh.element_count() * static_cast<std::size_t>(k) * static_cast<std::size_t>(k));
  for (std::size_t which = 0; which < mesh.element_count(); ++which) subdivide(mesh, which, k, nodes, fine);
  for (std::size_t i = 0; i < nodes.edges().size(); ++i) {
    const Edge& edge = nodes.edges()[i];
    if (edge.right >= 0) continue;
    const auto& corners = mesh.elements[static_cast<std::size_t>(edge.left)];
    std::int32_t from = corners[static_cast<std::size_t>(edge.left_side)];
    for (int step = 1; step <= k; ++step) {
      const std::int32_t to =
          step == k ? corners[static_cast<std::size_t>((edge.left_side + 1) % 3)] : nodes.on_edge(i, step);
      fine.boundary.push_back({{from, to}, edge.kind});
      from = to;
    }
  }
  return fine;
}

Mesh bisected(const Mesh& mesh, std::int64_t elements) {
  if (std::cmp_less(elements, mesh.element_count()))
    throw bad_use("refining " + std::to_string(mesh.element_count()) + " elements cannot give " +
                      std::to_string(elements),
                  "ask for more than there are");
  check_refined(elements);
  Bisection bisection(mesh);
  bisection.refine_to(static_cast<std::size_t>(elements));
  return std::move(bisection).result();
}

}  // namespace fabricmark::mesh
