// All to all: each rank has a part for each.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace all_to_all {

namespace bruck {

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

constexpr Algorithm kAlgorithm{.name = "bruck", .buffers = buffers, .program = program};

}  // namespace bruck

namespace pairwise {

/// In each step every rank exchanges parts with one other: powers of two in pairs, else in a round.
/// Thakur et al. (2005), section 4.2.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int rank = moves.rank();
  View own = call.own;
  if (is_same(call.own, call.result)) {  // parts that came would lie on those that have not left
    own = moves.scratch(call.own.count);
    moves.copy(call.own, own);
  }
  moves.copy(part_of(own, rank, call.count), part_of(call.result, rank, call.count));
  for (int distance = 1; distance < size; ++distance) {
    const int to = is_power_of_two(size) ? rank ^ distance : behind(rank, distance, size);
    const int from = is_power_of_two(size) ? to : behind(rank, -distance, size);
    moves.exchange(to, part_of(own, to, call.count), from, part_of(call.result, from, call.count));
  }
}

constexpr Algorithm kAlgorithm{.name = "pairwise", .program = program};

}  // namespace pairwise

namespace relay {

/// What goes round in one direction.
class Bundle {
 public:
  /// @param direction 1: to ranks behind, -1: to those before
  Bundle(Moves& moves, const Call& call, int direction, int length)
      : moves_(moves), call_(call), direction_(direction), length_(length) {
    leaving_ = moves.scratch(length * call.count);
    coming_ = moves.scratch(length * call.count);
    for (int distance = 1; distance <= length; ++distance) {
      moves.copy(part_of(call.own, neighbour(distance), call.count),
                 part_of(leaving_, distance - 1, call.count));
    }
  }
  [[nodiscard]] int length() const { return length_; }
  /// In step 1 the bundle has its full length.
  void start(int step) {
    const std::size_t elements = (length_ - step + 1) * call_.count;
    const std::size_t kept = step == 1 ? 0 : call_.count;  // lies in front of the rest
    receiving_ = moves_.start_receive(neighbour(-1), coming_.part(0, elements));
    sending_ = moves_.start_send(neighbour(1), leaving_.part(kept, elements));
  }
  void finish(int step) {
    moves_.wait(receiving_);
    moves_.copy(coming_.part(0, call_.count), part_of(call_.result, neighbour(-step), call_.count));
    moves_.wait(sending_);
    std::swap(leaving_, coming_);
  }

 private:
  [[nodiscard]] int neighbour(int distance) const {
    return behind(moves_.rank(), direction_ * distance, moves_.size());
  }

  Moves& moves_;
  const Call& call_;
  int direction_;
  int length_;
  View leaving_;
  View coming_;
  Moves::Ticket receiving_{};
  Moves::Ticket sending_{};
};

/// Round a ring in both directions each rank sends a bundle of parts, keeps the one for itself of what comes
/// and passes on the rest.
void program(Moves& moves, const Call& call) {
  Bundle behind_it(moves, call, 1, ranks_behind(moves.size()));
  Bundle before_it(moves, call, -1, ranks_before(moves.size()));
  moves.copy(part_of(call.own, moves.rank(), call.count), part_of(call.result, moves.rank(), call.count));
  for (int step = 1; step <= behind_it.length(); ++step) {
    const bool in_both = step <= before_it.length();
    behind_it.start(step);
    if (in_both) before_it.start(step);
    behind_it.finish(step);
    if (in_both) before_it.finish(step);
  }
}

/// Of the first bundles, which come from both sides.
std::size_t buffers(const CostModel& model) {
  return model.buffers(1, ranks_behind(model.ranks())) +
         (model.ranks() > 2 ? model.buffers(1, ranks_before(model.ranks())) : 0);
}

constexpr Algorithm kAlgorithm{
    .name = "relay", .reach = Reach::kRing, .buffers = buffers, .program = program};

}  // namespace relay

constexpr std::array kAlgorithms{bruck::kAlgorithm, pairwise::kAlgorithm, relay::kAlgorithm};

Origin origin(const Call& call, int rank, std::size_t index) {
  return {static_cast<int>(index / call.count), rank * call.count + index % call.count};
}

}  // namespace all_to_all
}  // namespace

constinit const OperationKind kinds::all_to_all{.name = "all_to_all",
                                                .own = Has::kAll,
                                                .result = Has::kAll,
                                                .bus_bytes = bytes_of_others,
                                                .origin = all_to_all::origin,
                                                .algorithms = all_to_all::kAlgorithms};

}  // namespace fabricmark::collectives
