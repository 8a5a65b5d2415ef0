#include "stencil/halo.hpp"

namespace fabricmark::stencil {

namespace {

/// Tags of what goes down and up.
enum Tag : std::uint8_t { kDown = 0, kUp = 1 };
enum HaloEntry : std::size_t { kPack = 2, kUnpack = 3 };

}  // namespace

std::vector<Halo::Neighbour> Halo::neighbours_of(const runtime::Context& context, const Problem& problem,
                                                 const Part& part, std::size_t rows) {
  const int size = context.ranks().size();
  const int rank = context.ranks().rank();
  std::vector<Neighbour> neighbours;
  if (size == 1) return neighbours;
  // The state's rows: a row that nobody uses, ghosts, own rows, ghosts.
  if (rank > 0 || problem.is_periodic_along) neighbours.push_back({(rank + size - 1) % size, rows + 1, 1});
  if (rank + 1 < size || problem.is_periodic_along)
    neighbours.push_back({(rank + 1) % size, part.rows + 1, part.rows + rows + 1});
  return neighbours;
}

Halo::Halo(const runtime::Context& context, const Problem& problem, const Part& part, std::size_t rows,
           std::size_t pitch, std::size_t number_bytes)
    : pitch_(pitch),
      numbers_(rows * part.fields * pitch),
      neighbours_(neighbours_of(context, problem, part, rows)) {
  if (context.ranks().size() == 1) return;
  common::HaloMessages::Direction sent{.entry = kPack};
  common::HaloMessages::Direction received{.entry = kUnpack};
  for (const Neighbour& neighbour : neighbours_) {
    const bool is_below = neighbour.is_below();
    sent.messages.push_back({neighbour.rank, is_below ? kDown : kUp, pitch, numbers_});
    received.messages.push_back({neighbour.rank, is_below ? kUp : kDown, pitch, numbers_});
  }
  messages_ = common::HaloMessages(context, sent, received, number_bytes);
  for (device::Replications* kernel : {&messages_.pack(), &messages_.unpack()}) {
    kernel->set(0, {{"pitch", pitch_}, {"rows", rows}});
  }
}

void Halo::run(device::Replications& kernel, std::size_t Neighbour::*row, const device::Queue& queue,
               const device::Buffer& state, device::Event* done) const {
  for (std::size_t n = 0; n < neighbours_.size(); ++n) {
    kernel.set(
        0, {{"state", state}, {"row", neighbours_[n].*row}, {"place", n * numbers_}, {"mark", n * pitch_}});
    constexpr std::size_t kGroup = 16;  // of which the pitch is a multiple
    kernel.start_on(queue, 0, {pitch_, kGroup}, nullptr, n + 1 == neighbours_.size() ? done : nullptr);
  }
}

void Halo::exchange(const device::Queue& queue, const device::Buffer& state) {
  if (messages_.is_empty()) return;
  messages_.start(
      queue, [&](device::Event* done) { run(messages_.pack(), &Neighbour::leaving, queue, state, done); });
  messages_.finish(queue);
  run(messages_.unpack(), &Neighbour::arriving, queue, state, nullptr);
}

}  // namespace fabricmark::stencil
