#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

/// What requests have in common.
namespace fabricmark::describe {

using Json = nlohmann::ordered_json;

inline constexpr const char* kSeeDocs = "see docs/describe.md";

/// Whether a text fits into a line of a message.
inline bool is_one_line(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < ' '; });
}
inline bool is_one_line(const std::vector<std::string>& texts) {
  return std::ranges::all_of(texts, [](const std::string& text) { return is_one_line(text); });
}

/// A member of a request, as JSON has it or as `usual`. Throws Error (bad use) for another type.
template <typename T>
T member(const Json& request, const char* name, const T& usual) {
  const auto found = request.find(name);
  try {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>) {
      if (found != request.end() && !is_one_line(found->get<T>()))
        throw bad_use(std::string("a request's ") + name + " has control characters", kSeeDocs);
    }
    return found == request.end() ? usual : found->get<T>();
  } catch (const Json::exception&) {
    throw bad_use(std::string("a request's ") + name + " is of another type", kSeeDocs);
  }
}

/// Throws Error (bad use) for a member that is none of those known.
inline void require_known(const Json& request, const std::set<std::string>& known) {
  for (const auto& [name, unused] : request.items()) {
    if (!known.contains(name))
      throw bad_use("a request has no " + (is_one_line(name) ? name : Json(name).dump()), kSeeDocs);
  }
}

}  // namespace fabricmark::describe
