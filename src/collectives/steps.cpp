#include "collectives/steps.hpp"

namespace fabricmark::collectives {

void pass_on(Moves& moves, PieceReceives& receives, PieceSends& sends, std::size_t pieces, std::size_t passed,
             const std::function<View(std::size_t)>& place) {
  Moves::Ticket coming = pieces == 0 ? Moves::Ticket{} : receives.start(place(0));
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    Moves::Ticket following{};
    // Of the pieces before, only the last ones may still be on their way from here: their places are not
    // this.
    if (piece + 1 < pieces) following = receives.start(place(piece + 1));
    moves.wait(coming);
    receives.came();
    if (piece < passed) sends.add(place(piece));
    coming = following;
  }
  sends.finish();
  receives.finish();
}

Ring ring_of(const Moves& moves) {
  const int size = moves.size();
  return {moves.rank(), size, behind(moves.rank(), 1, size), behind(moves.rank(), -1, size)};
}

Branch branch_of(const Moves& moves, int root) {
  const int size = moves.size();
  const int previous = behind(moves.rank(), -1, size);
  const int next = behind(moves.rank(), 1, size);
  const int distance = behind(moves.rank(), -root, size);
  if (distance <= ranks_behind(size)) return {distance, ranks_behind(size), previous, next};
  return {size - distance, ranks_before(size), next, previous};
}

void reduce_shares(Moves& moves, const Ring& ring, const View& own, const View& result) {
  const auto share = [&](const View& view, int place) {
    return share_of(view, place % ring.size, ring.size);
  };
  for (int step = 0; step < ring.size - 1; ++step) {
    const int leaving = ring.place - step + ring.size;
    const View out = share(step == 0 ? own : result, leaving);
    const View into = share(result, leaving - 1);
    Moves::Ticket sending{};
    if (out.count != 0) sending = moves.start_send(ring.next, out);
    if (into.count != 0) moves.receive_and_combine(ring.previous, share(own, leaving - 1), into);
    if (out.count != 0) moves.wait(sending);
  }
}

void gather_shares(Moves& moves, const Ring& ring, const View& result) {
  const auto share = [&](int place) { return share_of(result, place % ring.size, ring.size); };
  for (int step = 0; step < ring.size - 1; ++step) {
    const int leaving = ring.place + 1 - step + ring.size;
    const View out = share(leaving);
    const View into = share(leaving - 1);
    Moves::Ticket receiving{};
    Moves::Ticket sending{};
    if (into.count != 0) receiving = moves.start_receive(ring.previous, into);
    if (out.count != 0) sending = moves.start_send(ring.next, out);
    if (into.count != 0) moves.wait(receiving);
    if (out.count != 0) moves.wait(sending);
  }
}

}  // namespace fabricmark::collectives
