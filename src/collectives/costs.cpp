#include "collectives/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }
bool is_rate(double bytes_per_second) { return bytes_per_second > 0; }  // infinite ones take no time

}  // namespace

void check(const Costs& costs, const Problem& problem) {
  if (!is_time(costs.issue_seconds) || !is_time(costs.message_seconds) || !is_time(costs.hop_seconds) ||
      !is_time(costs.copy_seconds) || !is_time(costs.answer_seconds)) {
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

CostModel::CostModel(const Costs& costs, const Problem& problem) : costs_(costs), problem_(problem) {
  check(costs, problem);
}

double CostModel::whole(double bytes) const {
  return costs_.word_bytes > 0 ? std::ceil(bytes / costs_.word_bytes) * costs_.word_bytes : bytes;
}

double CostModel::copy(double bytes) const {
  if (costs_.copying.is_there()) return costs_.copying(bytes);
  return costs_.copy_seconds + whole(bytes) / costs_.copy_bytes_per_second;
}

double CostModel::move(double bytes) const {
  if (costs_.moving.is_there()) return costs_.moving(bytes);
  return wire(std::max(whole(bytes + costs_.header_bytes), costs_.word_bytes));
}

double CostModel::wire(double sent) const {
  if (costs_.packet_bytes > 0) sent += std::ceil(sent / costs_.packet_bytes) * costs_.packet_header_bytes;
  return sent / costs_.bytes_per_second;
}

double CostModel::turn() const {
  const double packet = std::max(costs_.packet_bytes, 1.0);
  return wire(std::max(1.0, std::floor(static_cast<double>(costs_.turn_bytes) / packet)) * packet);
}

double CostModel::store(double bytes) const {
  return bytes <= static_cast<double>(problem_.buffers.longest) ? bytes / costs_.store_bytes_per_second : 0;
}

double CostModel::combine(double bytes) const {
  if (costs_.combining.is_there()) return costs_.combining(bytes);
  return costs_.copy_seconds + whole(bytes) / costs_.combine_bytes_per_second;
}

std::size_t CostModel::buffers(int messages, double times) const {
  return problem_.buffers.needed(static_cast<std::size_t>(messages),
                                 static_cast<std::size_t>(std::ceil(bytes() * times)));
}

std::size_t CostModel::buffers_of_pieces(std::size_t pieces, double piece_bytes, int senders) const {
  const auto bytes_of_piece = static_cast<std::size_t>(std::ceil(piece_bytes));
  const auto all = static_cast<std::size_t>(senders);
  const Pacing pacing(problem_.buffers, pieces, bytes_of_piece, all);
  const std::size_t of_pieces =
      problem_.buffers.needed(all * std::min(pieces, pacing.most()), bytes_of_piece);
  return of_pieces + (pacing.has_words() ? all : 0);
}

double CostModel::segments() const {
  if (costs_.segment_bytes == 0 || problem_.bytes == 0) return 1;
  return std::ceil(bytes() / static_cast<double>(costs_.segment_bytes));
}

}  // namespace fabricmark::collectives
