#include "transport/measured_costs.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "runtime/communicator.hpp"

namespace fabricmark::collectives {

namespace {

constexpr std::size_t kLongBytes = std::size_t{1} << 20U;

// Programs, each of all ranks at the same time.

void pass_round(Moves& moves, const Call& call) {
  const int size = moves.size();
  moves.exchange((moves.rank() + 1) % size, call.own, (moves.rank() + size - 1) % size, call.result);
}
void copy_all(Moves& moves, const Call& call) { moves.copy(call.own, call.result); }
void combine_all(Moves& moves, const Call& call) { moves.combine(call.own, call.result, call.result); }

/// The least seconds of the slowest rank for elements of so many bytes.
double least_seconds(TransportCaller& caller, std::size_t bytes, void (*program)(Moves&, const Call&)) {
  constexpr int kTimes = 6;  // the first of which builds kernels
  runtime::Communicator& ranks = caller.transport().ranks();
  const std::size_t count = bytes / bytes_of(Type::kFloat32);
  const View own = caller.allocate(count, Type::kFloat32);
  const View result = caller.allocate(count, Type::kFloat32);
  for (const View& view : {own, result}) {
    std::fill_n(view.data, view.bytes(), std::byte{0});
    caller.write(view);
  }
  const Algorithm step{.operation = Operation::kAllReduce, .name = "step", .program = program};
  double least = std::numeric_limits<double>::infinity();
  for (int time = 0; time < kTimes; ++time) {
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    caller.run(step, {.operation = Operation::kAllReduce, .count = count, .own = own, .result = result});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    least = std::min(least, ranks.all_reduce_max_number(taken.count()));
  }
  caller.release(own);
  caller.release(result);
  return least;
}

}  // namespace

Costs measured_costs(TransportCaller& caller) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  Costs costs{.bytes_per_second = kNothing,
              .copy_bytes_per_second = kNothing,
              .combine_bytes_per_second = kNothing,
              .segment_bytes = Call{}.segment_bytes};
  if (caller.transport().ranks().size() == 1) return costs;
  const auto rate = [&](double seconds) { return static_cast<double>(kLongBytes) / seconds; };
  const double least = least_seconds(caller, sizeof(float), pass_round);
  const double whole = least_seconds(caller, kLongBytes, pass_round);
  costs.message_seconds = least;
  costs.bytes_per_second = rate(std::max(whole - least, whole / 2));
  costs.copy_bytes_per_second = rate(least_seconds(caller, kLongBytes, copy_all));
  costs.combine_bytes_per_second = rate(least_seconds(caller, kLongBytes, combine_all));
  return costs;
}

}  // namespace fabricmark::collectives
