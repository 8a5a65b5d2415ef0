#include <algorithm>
#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_to_all_bruck {

namespace {

/// Parts with a bit set in how far they go.
int parts_with(int bit, int size) {
  int parts = 0;
  for (int first = bit; first < size; first += 2 * bit) parts += std::min(bit, size - first);
  return parts;
}

/// Copies parts with a bit set, by how far they go, between where they wait and a message.
void copy_parts(Moves& moves, const View& waiting, const View& message, int bit, std::size_t count,
                bool into_message) {
  const int size = moves.size();
  int packed = 0;
  for (int first = bit; first < size; first += 2 * bit) {
    const int parts = std::min(bit, size - first);
    const View outside = waiting.part(first * count, parts * count);
    const View inside = message.part(packed * count, parts * count);
    if (into_message) {
      moves.copy(outside, inside);
    } else {
      moves.copy(inside, outside);
    }
    packed += parts;
  }
}

/// A part that has to go d ranks on goes so in the steps of the bits of d, together with others (Bruck et
/// al., "Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems", 1997).
/// Thakur et al. (2005), section 4.2.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int rank = moves.rank();
  const std::size_t count = call.count;
  const View waiting = moves.scratch(size * count);  // by how far parts go
  const View outgoing = moves.scratch(size / 2 * count);
  const View incoming = moves.scratch(size / 2 * count);
  const std::size_t behind_own = (size - rank) * count;
  moves.copy(call.own.part(rank * count, behind_own), waiting.part(0, behind_own));
  if (rank != 0) moves.copy(call.own.part(0, rank * count), waiting.part(behind_own, rank * count));
  for (int bit = 1; bit < size; bit *= 2) {
    const std::size_t elements = parts_with(bit, size) * count;
    copy_parts(moves, waiting, outgoing, bit, count, true);
    moves.exchange(behind(rank, bit, size), outgoing.part(0, elements), behind(rank, -bit, size),
                   incoming.part(0, elements));
    copy_parts(moves, waiting, incoming, bit, count, false);
  }
  for (int distance = 0; distance < size; ++distance) {
    moves.copy(part_of(waiting, distance, count), part_of(call.result, behind(rank, -distance, size), count));
  }
}

/// Of its longest message.
std::size_t buffers(const CostModel& model) { return model.buffers(1, parts_with(1, model.ranks())); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllToAll,
          .name = "bruck",
          .reach = Reach::kAll,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::all_to_all_bruck
