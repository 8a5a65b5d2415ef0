#include "benchmarks/hpl/steps.hpp"

namespace fabricmark::hpl {

namespace {

Layout of_rank(Layout layout, int rank) {
  layout.rank = rank;
  return layout;
}

/// The other ranks in this rank's row or column of the grid.
std::vector<int> row_peers(const Layout& layout) {
  std::vector<int> peers;
  for (std::size_t column = 0; column < layout.grid.columns; ++column) {
    if (column != layout.grid_column()) peers.push_back(layout.grid.rank_at(layout.grid_row(), column));
  }
  return peers;
}
std::vector<int> column_peers(const Layout& layout) {
  std::vector<int> peers;
  for (std::size_t row = 0; row < layout.grid.rows; ++row) {
    if (row != layout.grid_row()) peers.push_back(layout.grid.rank_at(row, layout.grid_column()));
  }
  return peers;
}

}  // namespace

Step make_step(const Layout& layout, std::size_t iteration) {
  const std::size_t blocks = layout.blocks();
  const common::Grid& grid = layout.grid;
  return {.iteration = iteration,
          .is_in_row = iteration % grid.rows == layout.grid_row(),
          .is_in_column = iteration % grid.columns == layout.grid_column(),
          .below = {common::owned_blocks(iteration + 1, layout.grid_row(), grid.rows),
                    common::owned_blocks(blocks, layout.grid_row(), grid.rows)},
          .right = {common::owned_blocks(iteration + 1, layout.grid_column(), grid.columns),
                    common::owned_blocks(blocks, layout.grid_column(), grid.columns)}};
}

Update divide_update(const Layout& layout, std::size_t iteration, bool looks_ahead) {
  const Step step = make_step(layout, iteration);
  const Step next = make_step(layout, iteration + 1);
  Update update{.next_column = {step.below, {step.right.begin, step.right.begin}},
                .next_row = {{step.below.begin, step.below.begin}, step.right},
                .rest = {step.below, step.right}};
  if (!looks_ahead) return update;
  if (next.is_in_column && step.right.count() > 0) {
    update.next_column.columns.end = ++update.rest.columns.begin;
    update.next_row.columns = update.rest.columns;
  }
  if (next.is_in_row && step.below.count() > 0) update.next_row.rows.end = ++update.rest.rows.begin;
  return update;
}

Deliveries inverse_deliveries(const Layout& layout, std::size_t iteration) {
  Deliveries deliveries;
  const Step step = make_step(layout, iteration);
  const int owner = layout.grid.owner(iteration, iteration);
  if (step.is_owner()) {
    for (const int peer : row_peers(layout)) {
      if (make_step(of_rank(layout, peer), iteration).updates_top())
        deliveries.sends.push_back({Content::kLower, peer});
    }
    for (const int peer : column_peers(layout)) {
      if (make_step(of_rank(layout, peer), iteration).updates_left())
        deliveries.sends.push_back({Content::kUpper, peer});
    }
    return deliveries;
  }
  if (step.updates_top()) deliveries.receives.push_back({Content::kLower, owner});
  if (step.updates_left()) deliveries.receives.push_back({Content::kUpper, owner});
  return deliveries;
}

Deliveries panel_deliveries(const Layout& layout, std::size_t iteration) {
  Deliveries deliveries;
  const Step step = make_step(layout, iteration);
  // Only ranks with inner blocks need the panels.
  const auto has_inner = [&](int rank) {
    const Step other = make_step(of_rank(layout, rank), iteration);
    return other.below.count() > 0 && other.right.count() > 0;
  };
  if (step.updates_left()) {
    for (const int peer : row_peers(layout)) {
      if (has_inner(peer)) deliveries.sends.push_back({Content::kLeft, peer});
    }
  }
  if (step.updates_top()) {
    for (const int peer : column_peers(layout)) {
      if (has_inner(peer)) deliveries.sends.push_back({Content::kTop, peer});
    }
  }
  if (!has_inner(layout.rank)) return deliveries;
  const common::Grid& grid = layout.grid;
  if (!step.is_in_column) {
    const int peer = grid.rank_at(layout.grid_row(), iteration % grid.columns);
    deliveries.receives.push_back({Content::kLeft, peer});
  }
  if (!step.is_in_row) {
    const int peer = grid.rank_at(iteration % grid.rows, layout.grid_column());
    deliveries.receives.push_back({Content::kTop, peer});
  }
  return deliveries;
}

}  // namespace fabricmark::hpl
