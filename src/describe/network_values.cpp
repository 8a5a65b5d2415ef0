#include "describe/network_values.hpp"

#include <cmath>
#include <set>
#include <string>

namespace fabricmark::describe {

network::NetworkCosts network_costs(const Json& values) {
  std::set<std::string> known;
  for (const network::NetworkValue& one : network::network_values()) known.emplace(one.name);
  require_known(values, known);
  network::NetworkCosts found;
  for (const network::NetworkValue& one : network::network_values()) {
    const std::string name(one.name);
    if (!values.contains(name)) continue;
    const auto said = member<double>(values, name.c_str(), 0);
    if (one.is_count && (said < 0 || said > network::NetworkValue::kMostCount)) {
      throw bad_use("a request's " + name + " is out of range", kSeeDocs);
    }
    one.set(found, one.is_count ? std::floor(said) : said);
  }
  return found;
}

}  // namespace fabricmark::describe
