#include "runtime/execution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace fabricmark::runtime {

const ExecutionEntry& choose(const ExecutionTable& table, const std::string& variant,
                             const std::string& transport) {
  const TransportSpec* const spec = find_transport(transport);
  const auto found = std::ranges::find_if(table, [&](const ExecutionEntry& entry) {
    if (entry.variant.empty()) return true;
    const bool fits = spec != nullptr ? entry.between == spec->between : transport.empty() && !entry.between;
    return fits && entry.variant == variant;
  });
  if (found != table.end()) return *found;
  const auto name = [](const std::string& its_variant, const std::string& its_transport) {
    return its_transport.empty() ? its_variant : its_variant + " with " + its_transport;
  };
  std::vector<std::string> pairs;
  for (const ExecutionEntry& entry : table) {
    if (!entry.between) {
      pairs.push_back(entry.variant);
      continue;
    }
    for (const std::string& one : transports_between({*entry.between}))
      pairs.push_back(name(entry.variant, one));
  }
  throw bad_use(fmt::format("there is no host code for the variant {}", name(variant, transport)),
                fmt::format("choose {} (--variant{})", fmt::join(pairs, ", "),
                            transport.empty() ? "" : ", --transport"));
}

}  // namespace fabricmark::runtime
