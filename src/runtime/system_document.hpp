#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// A value of a JSON file and where it stands, for messages. Lives no longer than its document.
class JsonPlace {
 public:
  using Json = nlohmann::json;
  using Is = bool (Json::*)() const noexcept;
  static constexpr const char* kRemedy = "give what `fabricmark systems export NAME --output FILE` writes";

  JsonPlace(const std::string& file, const Json& json, std::string path = {})
      : file_(&file), json_(&json), path_(std::move(path)) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] const std::string& file() const { return *file_; }
  [[nodiscard]] Error wrong() const { return wrong_at(path_); }
  /// Of what is or should be inside.
  [[nodiscard]] Error wrong(const std::string& key) const { return wrong_at(inside(key)); }

  /// None where it is not there.
  [[nodiscard]] std::optional<JsonPlace> find(const std::string& key) const {
    const auto found = json_->is_object() ? json_->find(key) : json_->end();
    if (found == json_->end()) return std::nullopt;
    return JsonPlace(*file_, *found, inside(key));
  }
  [[nodiscard]] JsonPlace at(const std::string& key, Is is = &Json::is_object) const {
    const std::optional<JsonPlace> found = find(key);
    if (!found || !(found->json_->*is)()) throw wrong(key);
    return *found;
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    return at(key, &Json::is_string).json_->get<std::string>();
  }
  /// The entries of a list.
  [[nodiscard]] std::vector<JsonPlace> list(const std::string& key) const {
    const JsonPlace all = at(key, &Json::is_array);
    std::vector<JsonPlace> found;
    for (const Json& one : *all.json_)
      found.emplace_back(*file_, one, fmt::format("{}[{}]", all.path_, found.size()));
    return found;
  }
  /// The same; none where there is no such list.
  [[nodiscard]] std::vector<JsonPlace> list_if_any(const std::string& key) const {
    return find(key) ? list(key) : std::vector<JsonPlace>();
  }
  /// What an object has, by name.
  [[nodiscard]] std::map<std::string, JsonPlace> items(const std::string& key) const {
    const JsonPlace all = at(key);
    std::map<std::string, JsonPlace> found;
    for (const auto& [name, one] : all.json_->items())
      found.emplace(name, JsonPlace(*file_, one, all.inside(name)));
    return found;
  }
  /// A finite number from `least` on.
  [[nodiscard]] double number(double least = 0) const {
    if (!json_->is_number()) throw wrong();
    const auto found = json_->get<double>();
    if (!std::isfinite(found) || found < least) throw wrong();
    return found;
  }
  [[nodiscard]] Value value() const {
    if (json_->is_boolean()) return json_->get<bool>();
    if (json_->is_string()) return json_->get<std::string>();
    if (json_->is_number_float()) return json_->get<double>();
    if (!json_->is_number_integer()) throw wrong();
    const auto number = json_->get<std::int64_t>();
    if (json_->is_number_unsigned() && number < 0) throw wrong();  // more than 63 bits
    return number;
  }

 private:
  [[nodiscard]] Error wrong_at(const std::string& place) const {
    return bad_use(fmt::format("'{}': {} is missing or wrong", *file_, place), kRemedy);
  }
  [[nodiscard]] std::string inside(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }

  const std::string* file_;
  const Json* json_;
  std::string path_;
};

/// What `fabricmark systems export` wrote.
class SystemDocument {
 public:
  using Json = JsonPlace::Json;

  explicit SystemDocument(const std::filesystem::path& file)
      : SystemDocument(file_text(file, "system file", JsonPlace::kRemedy), file.string()) {}
  /// The same from its text; `origin` is for messages.
  SystemDocument(const std::string& text, std::string origin) : file_(std::move(origin)) {
    try {
      root_ = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
      throw bad_use(fmt::format("'{}' line {} is not JSON", file_, 1 + std::count(text.begin(), end, '\n')),
                    JsonPlace::kRemedy);
    } catch (const Json::exception&) {  // a number that no type holds
      throw root().wrong("a number");
    }
    const std::optional<JsonPlace> schema = root().find("schema");
    if (!schema || schema->json() != kFormat) {
      throw bad_use(fmt::format("'{}' is no {}", file_, kFormat), JsonPlace::kRemedy);
    }
  }

  [[nodiscard]] JsonPlace root() const { return {file_, root_}; }

 private:
  static constexpr const char* kFormat = "fabricmark-exported-system/1";

  std::string file_;
  Json root_;
};

}  // namespace fabricmark::runtime
