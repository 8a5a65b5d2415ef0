#include "benchmarks/common/channels.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::common {

void require_cables(const runtime::Context& context) {
  if (context.ranks().size() == 1 || !context.parameters().flag("internal_channels")) return;
  throw bad_use(fmt::format("{} ranks with channels that end on their own device", context.ranks().size()),
                "use --internal-channels false, and join the boards by cables");
}

}  // namespace fabricmark::common
