#include <cstddef>
#include <utility>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_to_all_relay {

namespace {

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

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllToAll,
          .name = "relay",
          .reach = Reach::kRing,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::all_to_all_relay
