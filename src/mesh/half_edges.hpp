#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/mesh.hpp"

namespace fabricmark::mesh {

/// A side of an element, found by the smaller number of its two nodes.
struct HalfEdge {
  std::int32_t high = 0;  ///< the other node
  std::int32_t element = 0;
  std::int8_t side = 0;
};

/// The sides of all elements by the smaller of their nodes: a few for each node, in the order of elements.
class HalfEdges {
 public:
  /// The nodes of all elements must be there.
  explicit HalfEdges(const Mesh& mesh);
  [[nodiscard]] std::span<const HalfEdge> of(std::size_t node) const;
  static std::size_t low(const std::array<std::int32_t, 3>& element, std::size_t side);

 private:
  std::vector<std::size_t> starts_;  // of each node in entries_
  std::vector<HalfEdge> entries_;
};

}  // namespace fabricmark::mesh
