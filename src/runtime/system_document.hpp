#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// What `fabricmark systems export` wrote, with messages that name the file and the place.
class SystemDocument {
 public:
  using Json = nlohmann::json;
  using Has = bool (Json::*)() const noexcept;

  explicit SystemDocument(const std::filesystem::path& file)
      : SystemDocument(file_text(file, "system file", kRemedy), file.string()) {}
  /// The same from its text; `origin` is for messages.
  SystemDocument(const std::string& text, std::string origin) : file_(std::move(origin)) {
    try {
      root_ = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
      throw bad_use(fmt::format("'{}' line {} is not JSON", file_, 1 + std::count(text.begin(), end, '\n')),
                    kRemedy);
    } catch (const Json::exception&) {  // a number that no type holds
      throw wrong("a number");
    }
    const auto found = root_.is_object() ? root_.find("schema") : root_.end();
    if (found == root_.end() || *found != kFormat) {
      throw bad_use(fmt::format("'{}' is no {}", file_, kFormat), kRemedy);
    }
  }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const Json& root() const { return root_; }

  [[nodiscard]] Error wrong(const std::string& place) const {
    return bad_use(fmt::format("'{}': {} is missing or wrong", file_, place), kRemedy);
  }

  /// Null where it is not there.
  static const Json* find(const Json& parent, const std::string& key) {
    const auto found = parent.is_object() ? parent.find(key) : parent.end();
    return found == parent.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Json& member(const Json& parent, const std::string& key, Has has,
                                   const std::string& where) const {
    const Json* const found = find(parent, key);
    if (found == nullptr || !(found->*has)()) throw wrong(where + key);
    return *found;
  }

  [[nodiscard]] const Json& list(const std::string& key) const {
    return member(root_, key, &Json::is_array, "");
  }
  [[nodiscard]] std::string text(const Json& parent, const std::string& key, const std::string& where) const {
    return member(parent, key, &Json::is_string, where).get<std::string>();
  }

  [[nodiscard]] Value value(const Json& json, const std::string& place) const {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_number_float()) return json.get<double>();
    if (!json.is_number_integer()) throw wrong(place);
    const auto number = json.get<std::int64_t>();
    if (json.is_number_unsigned() && number < 0) throw wrong(place);  // more than 63 bits
    return number;
  }

 private:
  static constexpr const char* kFormat = "fabricmark-exported-system/1";
  static constexpr const char* kRemedy = "give what `fabricmark systems export NAME --output FILE` writes";

  std::string file_;
  Json root_;
};

}  // namespace fabricmark::runtime
