#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "benchmarks/common/block_cyclic.hpp"
#include "runtime/context.hpp"

namespace fabricmark::ptrans {

/// Which rank has which block of A, B and C: the same for all three.
class Distribution {
 public:
  /// The PQ distribution of `edge` x `edge` blocks: block-cyclic over a grid of ranks.
  static Distribution pq(const common::Grid& grid, std::size_t edge);
  /// Along the block diagonals, over any number of ranks, so that every rank exchanges with one other only
  /// (Meyer 2024, Figure 4.3): ranks are couples, 0 and 1, 2 and 3, and so on, and where one of a
  /// couple has a block, the other has the block opposite the main diagonal. The last of an odd number of
  /// ranks has both, and exchanges nothing.
  static Distribution diagonal(int ranks, std::size_t edge);
  /// What the context's parameters ask for. Throws Error (bad use) for a grid that the ranks do not fill.
  static Distribution of(const runtime::Context& context);

  [[nodiscard]] std::size_t edge() const { return edge_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] bool is_diagonal() const { return is_diagonal_; }
  /// "a grid of 2 x 3 ranks" or "diagonals over 3 ranks", for messages.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] int owner(std::size_t row, std::size_t column) const;
  /// The rank that has all blocks opposite to those of `rank`, itself where it has both: in a pq grid with
  /// P = Q that with row and column exchanged, along diagonals the other of its couple. None where blocks of
  /// several ranks are opposite.
  [[nodiscard]] std::optional<int> partner(int rank) const;
  /// True where any block's opposite has another owner.
  [[nodiscard]] bool exchanges() const;

 private:
  Distribution(bool is_diagonal, const common::Grid& grid, int ranks, std::size_t edge)
      : is_diagonal_(is_diagonal), grid_(grid), ranks_(ranks), edge_(edge) {}
  [[nodiscard]] int diagonal_owner(std::size_t row, std::size_t column) const;
  [[nodiscard]] int other_of_couple(int rank) const;

  bool is_diagonal_;
  common::Grid grid_;
  int ranks_;
  std::size_t edge_;
};

}  // namespace fabricmark::ptrans
