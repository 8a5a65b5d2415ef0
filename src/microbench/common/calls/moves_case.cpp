#include "microbench/common/calls/moves_case.hpp"

#include <cstring>
#include <vector>

namespace fabricmark::microbench {

namespace {

using collectives::Call;
using collectives::Moves;
using collectives::Operation;

/// Ranks 0 and 1 send each other their elements, at the same time.
void exchange(Moves& moves, const Call& call) {
  if (moves.rank() > 1) return;
  const int other = 1 - moves.rank();
  moves.exchange(other, call.own, other, call.result);
}

/// Rank 1 answers.
void ping_pong(Moves& moves, const Call& call) {
  if (moves.rank() > 1) return;
  const int other = 1 - moves.rank();
  if (moves.rank() == 0) moves.send(other, call.own);
  moves.receive(other, call.result);
  if (moves.rank() == 1) moves.send(other, call.own);
}

/// `fan` messages at once: of rank 0, where only rank 1 has a result, else of both.
void windows(Moves& moves, const Call& call) {
  if (moves.rank() > 1) return;
  const int other = 1 - moves.rank();
  const bool goes_both_ways = call.operation == Operation::kAllReduce;
  std::vector<Moves::Ticket> tickets;
  for (std::size_t message = 0; message < call.fan; ++message) {
    if (goes_both_ways || moves.rank() == 1) tickets.push_back(moves.start_receive(other, call.result));
    if (goes_both_ways || moves.rank() == 0) tickets.push_back(moves.start_send(other, call.own));
  }
  for (const Moves::Ticket ticket : tickets) moves.wait(ticket);
}

auto program_of(Act act) {
  if (act == Act::kSend) return exchange;
  return act == Act::kPingPong ? ping_pong : windows;
}

collectives::Inputs inputs_of(int repetition) {
  return {.seed = static_cast<std::uint64_t>(repetition) + 2};  // the warm-up is number -1
}

}  // namespace

MovesCase::MovesCase(const Options& options, std::size_t bytes, const collectives::Place& place)
    : rank_(place.rank), ranks_(place.ranks) {
  call_ = {.operation = options.operation,
           .root = options.root,
           .count = bytes / collectives::bytes_of(options.type),
           .reduction = options.reduction};
  is_of_messages_ = options.act != Act::kCollective;
  if (is_of_messages_) {
    // Its operands are those of an exchange; of messages one way only rank 1 has a result.
    call_.operation = options.act == Act::kOneWay ? Operation::kReduce : Operation::kAllReduce;
    call_.root = 1;
    call_.fan = static_cast<std::size_t>(options.window);
    algorithm_ = {.operation = call_.operation, .name = "messages", .program = program_of(options.act)};
  }
  call_.own = {nullptr, own_count(call_.operation, rank_, call_.root, ranks_, call_.count), options.type};
  call_.result = {nullptr, result_count(call_.operation, rank_, call_.root, ranks_, call_.count),
                  options.type};
  if (is_of_messages_) return;
  const collectives::Choice choice = place.chosen(call_, options.algorithm);
  algorithm_ = *choice.algorithm;
  name_ = algorithm_.name;
  reason_ = choice.reason;
}

void MovesCase::allocate(const std::function<collectives::View(std::size_t, collectives::Type)>& allocate) {
  for (collectives::View* const view : {&call_.own, &call_.result}) {
    if (view->count > 0) *view = allocate(view->count, view->type);
  }
  expected_ = call_;
  if (!is_of_messages_) return;
  expected_.operation = Operation::kBroadcast;
  expected_.root = rank_ > 1 ? 0 : 1 - rank_;
  if (rank_ > 1) expected_.result.count = 0;
}

void MovesCase::prepare(int repetition) {
  collectives::fill_input(inputs_of(repetition), rank_, call_.own);
  if (call_.result.count > 0) std::memset(call_.result.data, 0xa5, call_.result.bytes());
}

collectives::Comparison MovesCase::check(int repetition, bool with_fault) const {
  if (!has_result()) return {};
  const collectives::View& result = expected_.result;
  if (with_fault) result.data[result.bytes() - 1] ^= std::byte{0x40};
  return collectives::compare(inputs_of(repetition), expected_, rank_, ranks_);
}

}  // namespace fabricmark::microbench
