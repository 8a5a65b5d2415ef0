#pragma once

#include <functional>

namespace fabricmark {

/// Runs `body` with as much stack as programs usually have, whatever `ulimit -s` says, as do threads that are
/// started from here on: kernels of CPUs keep their arrays there. On a thread of its own where the process
/// may not have more.
int with_room_on_stack(const std::function<int()>& body);

}  // namespace fabricmark
