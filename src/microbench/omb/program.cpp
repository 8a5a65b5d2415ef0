#include "microbench/omb/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/error.hpp"

namespace fabricmark::microbench::omb {

const Program& program_named(const std::string& name) {
  const std::string_view bare = name.starts_with("fm_") ? std::string_view(name).substr(3) : name;
  const auto found = std::ranges::find(programs(), bare, &Program::name);
  if (found != programs().end()) return *found;
  throw bad_use(
      fmt::format("there is no micro-benchmark '{}'", name),
      fmt::format("use one of {}", fmt::join(programs() | std::views::transform(&Program::name), ", ")));
}

}  // namespace fabricmark::microbench::omb
