// How kernels of a fabric begin: at once, behind others, and those that compute for long.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "board/dataflow/fabric.hpp"

namespace fabricmark::dataflow {

std::shared_ptr<const Outcome> Fabric::start(int device, const std::string& name, Begin begin,
                                             const KernelCost& cost,
                                             std::vector<std::shared_ptr<Channel>> streams,
                                             std::function<void()> body) {
  const std::scoped_lock lock(barrier_.mutex());
  OfDevice& own = devices_[device];
  auto outcome = std::make_shared<Outcome>();
  Pending pending{name, own.started++, std::move(begin), cost, std::move(streams), std::move(body), outcome};
  if (pending.may_begin()) {
    this->begin(device, own, pending);
  } else {
    own.pending.push_back(std::move(pending));
  }
  return outcome;
}

bool Fabric::Pending::may_begin() const {
  return std::ranges::all_of(begin.after, [](const auto& other) { return other->has_ended; });
}

void Fabric::begin(int device, OfDevice& own, Pending& pending) {
  Time at = pending.begin.at;
  for (const auto& other : pending.begin.after) at = std::max(at, other->ended);
  Worker& worker = *worker_of(device);
  auto kernel = std::make_unique<Kernel>(pending.name, device, pending.number, at, pending.cost, worker,
                                         worker.stacks(), std::move(pending.body));
  kernel->hold(std::move(pending.streams));
  if (settings_.log) {
    // Kernels of one name that run at the same time have lanes of their own.
    const std::string& name = pending.name;
    const auto same = std::ranges::count(own.running, name, [](const Running& running) -> const std::string& {
      return running.kernel->name();
    });
    kernel->tell(settings_.log, same == 0 ? name : fmt::format("{} ({})", name, same + 1));
  }
  // A process has no other worker that could wait for it.
  pending.begin.is_long && !peers_ ? worker.put_off(*kernel) : worker.make_ready(*kernel);
  own.running.push_back({std::move(kernel), std::move(pending.outcome)});
}

bool Fabric::run_long() {
  std::vector<std::pair<Kernel*, Worker*>> all;
  for (const auto& worker : workers_) {
    for (Kernel* const kernel : worker->take_long()) all.emplace_back(kernel, worker.get());
  }
  if (all.empty()) return false;
  // They use nothing of each other.
  std::atomic<std::size_t> next = 0;
  long_pool_.run([&](int /*thread*/) {
    for (std::size_t i = next++; i < all.size(); i = next++) all[i].first->resume();
  });
  for (const auto& [kernel, worker] : all) worker->note_ended(*kernel);
  return true;
}

}  // namespace fabricmark::dataflow
