#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.hpp"

/// What requests have in common.
namespace fabricmark::describe {

using Json = nlohmann::ordered_json;

inline constexpr const char* kSeeDocs = "see docs/describe.md";

/// A member of a request, as JSON has it or as `usual`. Throws Error (bad use) for another type.
template <typename T>
T member(const Json& request, const char* name, const T& usual) {
  const auto found = request.find(name);
  try {
    return found == request.end() ? usual : found->get<T>();
  } catch (const Json::exception&) {
    throw bad_use(std::string("a request's ") + name + " is of another type", kSeeDocs);
  }
}

/// Throws Error (bad use) for a member that is none of those known.
inline void require_known(const Json& request, const std::set<std::string>& known) {
  for (const auto& [name, unused] : request.items()) {
    if (!known.contains(name)) throw bad_use("a request has no " + name, kSeeDocs);
  }
}

}  // namespace fabricmark::describe
