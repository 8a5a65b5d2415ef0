#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// Runs `action`; what it throws comes back as a value. A PeerFailure passes through.
std::optional<Failure> attempt(const std::function<void()>& action);

/// Runs `action` on all ranks and meets them again: none goes on where one has failed.
template <typename Action>
void collective_step(Communicator& communicator, Action&& action) {
  action();
  communicator.barrier();
}

/// What a rank was asked: names and values.
using Asked = std::vector<std::pair<std::string, std::string>>;

/// Compares what all ranks were asked. Throws Error (bad use) with both values and the ranks, the same on
/// all, where two differ. Collective.
void require_same(Communicator& communicator, const Asked& own);

}  // namespace fabricmark::runtime
