#include "fabric/engine/call_moves.hpp"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "fabric/collectives/elements.hpp"

namespace fabricmark::engine {

Expected CallMoves::expected(int from, const View& elements) const {
  return {.communicator = header_.communicator,
          .from = devices_[static_cast<std::size_t>(from)],
          .context = header_.context,
          .tag = kAnyTag,
          .signature = header_.signature,
          .count = elements.count,
          .type = elements.type,
          .what = fmt::format("{}: receive from rank {}", what_, from)};
}

CallMoves::Ticket CallMoves::start_send(int to, const View& elements) {
  return engine_.start_send(kernel_, devices_[static_cast<std::size_t>(to)], header_, elements,
                            fmt::format("{}: send to rank {}", what_, to));
}

CallMoves::Ticket CallMoves::start_receive(int from, const View& elements) {
  return engine_.start_receive(kernel_, expected(from, elements), {.elements = elements});
}

void CallMoves::receive_and_combine(int from, const View& own, const View& result) {
  wait(engine_.start_receive(kernel_, expected(from, result),
                             {.elements = result, .own = own, .reduction = reduction_}));
}

void CallMoves::copy(const View& from, const View& to) {
  if (from.count == 0 || from.data == to.data) return;
  engine_.move(kernel_, static_cast<double>(from.bytes()));
  std::memcpy(to.data, from.data, from.bytes());
}

void CallMoves::combine(const View& a, const View& b, const View& result) {
  if (result.count == 0) return;
  engine_.move(kernel_, static_cast<double>(result.bytes()));
  collectives::combine(type_, reduction_, a.data, b.data, result.data, result.count);
}

View CallMoves::scratch(std::size_t count) {
  auto& bytes = scratch_.emplace_back(count * collectives::bytes_of(type_));
  return {bytes.data(), count, type_};
}

}  // namespace fabricmark::engine
