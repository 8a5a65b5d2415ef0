#include "fabric/collectives/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {

/// On a ring the shorter way round.
int around(int distance, int ranks) { return std::min(distance, ranks - distance); }

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }
bool is_rate(double bytes_per_second) { return bytes_per_second > 0; }  // infinite ones take no time

}  // namespace

void check(const Costs& costs, const Problem& problem) {
  if (!is_time(costs.issue_seconds) || !is_time(costs.message_seconds) || !is_time(costs.hop_seconds) ||
      !is_time(costs.copy_seconds) || !is_time(costs.leaving_seconds) || !is_time(costs.answer_seconds)) {
    throw bad_use("a message of a collective operation takes less than no time, or for ever",
                  "give latencies of 0 s or more");
  }
  if (!is_rate(costs.bytes_per_second) || !is_rate(costs.copy_bytes_per_second) ||
      !is_rate(costs.combine_bytes_per_second) || !is_rate(costs.store_bytes_per_second)) {
    throw bad_use("a rate of the costs of collective operations is not positive",
                  "give links, copies and reductions more than 0 B/s");
  }
  const Shape& shape = problem.shape;
  if (problem.ranks < 1) {
    throw bad_use(fmt::format("a collective operation of {} ranks", problem.ranks), "use 1 rank or more");
  }
  if (shape.wiring == Wiring::kTorus &&
      (shape.rows < 1 || shape.columns != problem.ranks / shape.rows || problem.ranks % shape.rows != 0)) {
    throw bad_use(fmt::format("a torus of {}x{} has not {} ranks", shape.rows, shape.columns, problem.ranks),
                  "use as many ranks as rows times columns");
  }
}

Prices::Prices(const Costs& costs, const Problem& problem) : costs_(costs), problem_(problem) {
  check(costs, problem);
}

Prices::Way Prices::way(int distance) const {
  const Shape& shape = problem_.shape;
  if (shape.wiring == Wiring::kAnyToAny) return {};
  distance %= problem_.ranks;
  if (shape.wiring == Wiring::kRing) {
    const int hops = std::max(1, around(distance, problem_.ranks));
    return {hops, hops};
  }
  const int in_row = around(distance % shape.columns, shape.columns);
  const int in_column = around(distance / shape.columns, shape.rows);
  return {std::max(1, in_row + in_column), std::max({1, in_row, in_column})};
}

double Prices::start(const Way& way) const {
  return costs_.issue_seconds + costs_.message_seconds + (way.hops - 1) * costs_.hop_seconds;
}

double Prices::whole(double bytes) const {
  return costs_.word_bytes > 0 ? std::ceil(bytes / costs_.word_bytes) * costs_.word_bytes : bytes;
}

double Prices::copy(double bytes) const {
  return costs_.copy_seconds + whole(bytes) / costs_.copy_bytes_per_second;
}

double Prices::move(double bytes) const {
  double sent = std::max(whole(bytes + costs_.header_bytes), costs_.word_bytes);
  if (costs_.packet_bytes > 0) sent += std::ceil(sent / costs_.packet_bytes) * costs_.packet_header_bytes;
  return sent / costs_.bytes_per_second;
}

double Prices::store(double bytes) const {
  return bytes <= static_cast<double>(problem_.buffers.longest) ? bytes / costs_.store_bytes_per_second : 0;
}

double Prices::combine(double bytes) const {
  return costs_.copy_seconds + whole(bytes) / costs_.combine_bytes_per_second;
}

double Prices::combined(double moving, double bytes) const {
  if (costs_.combines_as_it_comes) return std::max(moving, combine(bytes));
  return moving + combine(bytes) - costs_.copy_seconds;  // which is a part of the message
}

double Prices::alone(int distance, double bytes) const {
  return start(way(distance)) + move(bytes) + store(bytes);
}

double Prices::all(int distance, double bytes) const {
  const Way taken = way(distance);
  const double moving = move(bytes) * taken.sharing;
  return std::max(start(taken) + moving + store(bytes), moving + costs_.answer_seconds);
}

double Prices::alone_combining(int distance, double bytes) const {
  return start(way(distance)) + combined(move(bytes), bytes);
}

double Prices::all_combining(int distance, double bytes) const {
  const Way taken = way(distance);
  const double moving = move(bytes) * taken.sharing;
  return std::max(start(taken) + combined(moving, bytes), moving + costs_.answer_seconds);
}

double Prices::end(double bytes) const {
  return std::max(0.0,
                  costs_.answer_seconds - (costs_.issue_seconds + costs_.message_seconds + store(bytes)));
}

double Prices::to_farthest() const {
  const Shape& shape = problem_.shape;
  if (shape.wiring == Wiring::kAnyToAny) return costs_.message_seconds;
  const int hops = shape.wiring == Wiring::kRing ? problem_.ranks / 2 : shape.rows / 2 + shape.columns / 2;
  return costs_.message_seconds + std::max(0, hops - 1) * costs_.hop_seconds;
}

double Prices::at_root() const {
  return std::ceil(static_cast<double>(ranks() - 1) / sides()) * move(bytes());
}

double Prices::from_root() const {
  const double messages = (ranks() - 1) * costs_.issue_seconds + to_farthest() + at_root() + store(bytes());
  return messages + turns() * costs_.leaving_seconds + end(bytes());
}

bool Prices::takes_turns() const { return problem_.bytes >= costs_.turn_bytes && sides() == 1; }

int Prices::turns() const { return std::max(0, (ranks() - 3) / static_cast<int>(Call{}.fan)); }

int Prices::sides() const {
  switch (problem_.shape.wiring) {
    case Wiring::kAnyToAny:
      return problem_.shape.only_neighbours_talk ? std::max(1, ranks() - 1) : 1;
    case Wiring::kRing:
      return 2;
    case Wiring::kTorus:
      return 4;
  }
  return 1;
}

std::size_t Prices::buffers(int messages, double times) const {
  return problem_.buffers.needed(static_cast<std::size_t>(messages),
                                 static_cast<std::size_t>(std::ceil(bytes() * times)));
}

std::size_t Prices::buffers_of_pieces(std::size_t pieces, double piece_bytes, int senders) const {
  const auto bytes_of_piece = static_cast<std::size_t>(std::ceil(piece_bytes));
  const auto all = static_cast<std::size_t>(senders);
  const Pacing pacing(problem_.buffers, pieces, bytes_of_piece, all);
  const std::size_t of_pieces =
      problem_.buffers.needed(all * std::min(pieces, pacing.most()), bytes_of_piece);
  return of_pieces + (pacing.has_words() ? all : 0);
}

double Prices::segments() const {
  if (costs_.segment_bytes == 0 || problem_.bytes == 0) return 1;
  return std::ceil(bytes() / static_cast<double>(costs_.segment_bytes));
}

}  // namespace fabricmark::collectives
