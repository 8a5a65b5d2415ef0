#include "board/accl/call_moves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "collectives/elements.hpp"

namespace fabricmark::accl {

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
  // Messages to a rank are matched in the order in which they begin.
  Header header = header_;
  header.type = elements.type;
  const std::size_t piece = engine_.piece_bytes(/*has_header=*/true) / travelling_bytes(header);
  need(elements.part(0, std::min(elements.count, piece)));
  return engine_.start_send(kernel_, devices_[static_cast<std::size_t>(to)], header_, elements,
                            fmt::format("{}: send to rank {}", what_, to), coming_);
}

CallMoves::Ticket CallMoves::start_receive(int from, const View& elements) {
  return engine_.start_receive(kernel_, expected(from, elements), {.elements = elements});
}

void CallMoves::need(const View& elements) {
  if (!coming_) return;
  const std::string what = what_ + ": elements from a kernel";
  if (const std::optional<Time> since = coming_->since(elements)) {
    kernel_.wait_until(*since, what);
    return;
  }
  const Engine::TicketId ticket = engine_.open_ticket(what, header_.communicator);
  coming_->watch([ticket, elements, coming = coming_.get(), &engine = engine_] {
    const std::optional<Time> since = coming->since(elements);
    if (since) engine.end_ticket(ticket, *since);
    return since.has_value();
  });
  engine_.wait(kernel_, ticket, lost_bytes_);
}

void CallMoves::receive_and_combine(int from, const View& own, const View& result) {
  need(own);
  wait(engine_.start_receive(kernel_, expected(from, result),
                             {.elements = result, .own = own, .reduction = reduction_}));
}

void CallMoves::copy(const View& from, const View& to) {
  if (from.count == 0 || from.data == to.data) return;
  need(from);
  engine_.move(kernel_, static_cast<double>(from.bytes()));
  if (engine_.settings().moves_elements) std::memcpy(to.data, from.data, from.bytes());
}

void CallMoves::combine(const View& a, const View& b, const View& result) {
  if (result.count == 0) return;
  need(a);
  need(b);
  engine_.move(kernel_, static_cast<double>(result.bytes()));
  if (!engine_.settings().moves_elements) return;
  collectives::combine(type_, reduction_, a.data, b.data, result.data, result.count);
}

View CallMoves::scratch(std::size_t count) {
  auto& bytes = scratch_.emplace_back(count * collectives::bytes_of(type_));
  return {bytes.data(), count, type_};
}

}  // namespace fabricmark::accl
