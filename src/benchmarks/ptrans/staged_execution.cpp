#include "benchmarks/ptrans/staged_execution.hpp"

#include <iterator>

#include "transport/registry.hpp"

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kStaying = kSlots;  // the slot of the kernels on blocks that stay

}  // namespace

StagedExecution::StagedExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                                 const WorkItems& work_items)
    : plan_(plan),
      block_bytes_(block_bytes),
      transposition_(context, plan, block_bytes, work_items, kSlots + 1),
      transport_(transport::make_transport(
          context, {.largest_bytes = context.ranks().size() == 1 ? 0 : block_bytes})) {}

void StagedExecution::run() {
  deliver_staying();
  if (!plan_.rounds.empty()) begin_to_deliver(plan_.rounds.front());
  transposition_.start("transpose", kStaying, staying(), 0, plan_.staying);
  for (auto round = plan_.rounds.begin(); round != plan_.rounds.end(); ++round) {
    free(round->slot);
    deliver(*round);
    if (std::next(round) != plan_.rounds.end()) begin_to_deliver(*std::next(round));
    transposition_.start("transpose", round->slot, arrived(), round->first_task, round->tasks);
  }
  finish();
}

void StagedExecution::finish() {
  for (std::size_t slot = 0; slot <= kStaying; ++slot) transposition_.finish(slot);
}

void StagedExecution::exchange() {
  deliver_staying();
  for (const Round& round : plan_.rounds) deliver(round);
}

void StagedExecution::transpose() {
  transposition_.start("kernels", kStaying, staying(), 0, plan_.staying);
  transposition_.start("kernels", kStaying, arrived(), plan_.staying, plan_.arriving);
  transposition_.finish(kStaying);
}

device::Event StagedExecution::start_exchange(const Round& round, transport::Memory& outgoing,
                                              std::size_t first, transport::Memory& incoming) {
  const auto messages = [&](const std::vector<Transit>& transits, transport::Memory& buffer,
                            std::size_t first_place) {
    std::vector<transport::Message> all;
    for (const Transit& transit : transits) {
      const std::size_t offset = (transit.place - first_place) * block_bytes_;
      all.push_back({{&buffer, offset, block_bytes_}, transit.peer, transit.tag});
    }
    return all;
  };
  return transport_->start(messages(round.sends, outgoing, first), messages(round.receives, incoming, 0));
}

}  // namespace fabricmark::ptrans
