#include "benchmarks/ptrans/staged_execution.hpp"

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
  transposition_.start("transpose", kStaying, staying(), 0, plan_.staying);
  for (const Round& round : plan_.rounds) {
    transposition_.finish(round.slot);
    deliver(round);
    transposition_.start("transpose", round.slot, arrived(), round.first_task, round.tasks);
  }
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

void StagedExecution::exchange(const Round& round, transport::Memory& outgoing, transport::Memory& incoming) {
  const auto messages = [&](const std::vector<Transit>& transits, transport::Memory& buffer) {
    std::vector<transport::Message> all;
    for (const Transit& transit : transits) {
      all.push_back({{&buffer, transit.place * block_bytes_, block_bytes_}, transit.peer, transit.tag});
    }
    return all;
  };
  transport_->exchange(messages(round.sends, outgoing), messages(round.receives, incoming));
}

}  // namespace fabricmark::ptrans
