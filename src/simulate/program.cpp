#include "simulate/program.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::simulate {

namespace {

/// Steps that follow each other again and again are looked for among so many.
constexpr std::size_t kLongestLoop = 64;
/// Where the first so many have none, the rest is not looked at.
constexpr std::size_t kTried = 4096;

constexpr std::size_t kLastSlot = std::numeric_limits<std::uint16_t>::max();

Error too_many_in_flight() {
  return bad_use("a rank has more than 65536 messages in flight", "wait for some in between");
}

/// Gives away the lowest slot that is free, so that each turn of a loop has the same ones.
class Slots {
 public:
  std::uint16_t take() {
    const auto free = std::ranges::find(taken_, false);
    const auto place = static_cast<std::size_t>(free - taken_.begin());
    if (place > kLastSlot) throw too_many_in_flight();
    if (free == taken_.end()) {
      taken_.push_back(true);
    } else {
      *free = true;
    }
    return static_cast<std::uint16_t>(place);
  }
  void give_back(std::uint16_t slot) { taken_[slot] = false; }

 private:
  std::vector<bool> taken_;
};

/// How often the `length` steps from `begin` on follow each other.
std::size_t turns(const Program& program, std::size_t begin, std::size_t length) {
  std::size_t same = begin + length;
  while (same < program.size() && program[same] == program[same - length]) ++same;
  return (same - begin) / length;
}

}  // namespace

void append(Program& program, const std::vector<collectives::Step>& call) {
  using Kind = collectives::Step::Kind;
  Slots slots;
  std::unordered_map<collectives::Moves::Ticket, std::uint16_t> slot_of;
  for (const collectives::Step& step : call) {
    switch (step.kind) {
      case Kind::kSend:
      case Kind::kReceive:
      case Kind::kReceiveAndCombine: {
        const std::uint16_t slot = slots.take();
        slot_of[step.ticket] = slot;
        const bool sends = step.kind == Kind::kSend;
        program.push_back({sends ? Op::Kind::kSend : Op::Kind::kReceive, slot, step.peer, step.bytes, 0});
        break;
      }
      case Kind::kWait: {
        const auto found = slot_of.find(step.ticket);
        program.push_back({Op::Kind::kWait, found->second});
        slots.give_back(found->second);
        slot_of.erase(found);
        break;
      }
      case Kind::kCopy:
      case Kind::kCombine:
        break;
    }
  }
}

std::size_t Loops::behind(std::size_t place, const Op& repeat) {
  if (loops_.empty() || loops_.back().place != place) loops_.push_back({place, repeat.amount});
  if (--loops_.back().left >= 1) return place - static_cast<std::size_t>(repeat.peer) - 1;
  loops_.pop_back();
  return place;
}

Program with_loops(const Program& program) {
  Program found;
  std::size_t begin = 0;
  bool has_loops = false;
  while (begin < program.size()) {
    if (!has_loops && begin > kTried) {
      found.insert(found.end(), program.begin() + static_cast<std::ptrdiff_t>(begin), program.end());
      break;
    }
    std::size_t length = 1;
    std::size_t times = 1;
    // The steps of a loop begin alike: the next one like the first ends its first turn, or a later one does.
    for (std::size_t tried = 1; tried <= kLongestLoop && begin + tried < program.size(); ++tried) {
      if (program[begin + tried] != program[begin]) continue;
      const std::size_t now = turns(program, begin, tried);
      if (now > 1 && now * tried > times * length) std::tie(length, times) = std::pair(tried, now);
    }
    const auto first = program.begin() + static_cast<std::ptrdiff_t>(begin);
    found.insert(found.end(), first, first + static_cast<std::ptrdiff_t>(length));
    if (times > 1) {
      has_loops = true;
      found.push_back(
          {Op::Kind::kRepeat, 0, static_cast<std::int32_t>(length), static_cast<double>(times), 0});
    }
    begin += length * times;
  }
  return found;
}

void append_exchange(Program& program, const std::vector<int>& peers, double bytes) {
  std::uint16_t slot = 0;
  for (const int peer : peers) program.push_back({Op::Kind::kReceive, slot++, peer, bytes, 0});
  for (const int peer : peers) program.push_back({Op::Kind::kSend, slot++, peer, bytes, 0});
  for (std::uint16_t wait = 0; wait < slot; ++wait) program.push_back({Op::Kind::kWait, wait});
}

std::vector<int> ring_neighbours(int rank, int ranks) {
  return {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
}

std::vector<int> grid_neighbours(int rank, int rows, int columns) {
  const int row = rank / columns;
  const int column = rank % columns;
  std::vector<int> found{row * columns + (column + 1) % columns,
                         row * columns + (column + columns - 1) % columns,
                         (row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column};
  std::erase(found, rank);
  return found;
}

std::vector<int> transposed_rank(int rank, int columns) {
  const int found = rank % columns * columns + rank / columns;
  return found == rank ? std::vector<int>{} : std::vector<int>{found};
}

std::vector<int> others_behind(int rank, int ranks) {
  std::vector<int> found;
  for (int distance = 1; distance < ranks; ++distance) found.push_back((rank + distance) % ranks);
  return found;
}

Program among(Program program, const std::vector<int>& ranks, std::uint32_t channel, std::size_t first_slot) {
  for (Op& op : program) {
    const bool is_message = op.kind == Op::Kind::kSend || op.kind == Op::Kind::kReceive;
    if (is_message) {
      op.peer = ranks[static_cast<std::size_t>(op.peer)];
      op.channel = channel;
    }
    if (!is_message && op.kind != Op::Kind::kWait) continue;
    if (op.slot + first_slot > kLastSlot) throw too_many_in_flight();
    op.slot = static_cast<std::uint16_t>(op.slot + first_slot);
  }
  return program;
}

Sent sent_by(const Program& program) {
  // Of the steps up to each: a loop adds those of its body once for each more turn.
  std::vector<Sent> until(program.size() + 1);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    Sent& sum = until[i + 1];
    sum = until[i];
    if (op.kind != Op::Kind::kRepeat) ++sum.steps;
    if (op.kind == Op::Kind::kSend) {
      ++sum.messages;
      sum.bytes += op.amount;
      sum.longest = std::max(sum.longest, op.amount);
    } else if (op.kind == Op::Kind::kRepeat) {
      const Sent& before = until[i - static_cast<std::size_t>(op.peer)];
      sum.steps += (op.amount - 1) * (sum.steps - before.steps);
      sum.messages += (op.amount - 1) * (sum.messages - before.messages);
      sum.bytes += (op.amount - 1) * (sum.bytes - before.bytes);
    }
  }
  return until.back();
}

}  // namespace fabricmark::simulate
