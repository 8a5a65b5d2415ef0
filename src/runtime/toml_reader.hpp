#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

/// Reads one TOML file with messages that name the file and the place.
class TomlReader {
 public:
  TomlReader(const std::string& text, std::filesystem::path file) : file_(std::move(file)) {
    try {
      root_ = toml::parse(text, file_.string());
    } catch (const toml::parse_error& error) {
      std::string description(error.description());  // may quote the line's end
      std::ranges::replace_if(
          description, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
      throw bad_use(
          fmt::format("'{}' line {} is not TOML: {}", file_.string(), error.source().begin.line, description),
          "correct that line");
    }
  }

  [[nodiscard]] const toml::table& root() const { return root_; }

  /// Takes over what another file has and this one has not; of lists it has both.
  void fill_from(const TomlReader& other) { fill(root_, other.root_); }

  [[nodiscard]] Error wrong(const std::string& key, const std::string& expected) const {
    return bad_use(fmt::format("'{}': {} is missing or wrong", file_.string(), key), "give " + expected);
  }

  [[nodiscard]] std::string text(const toml::table& table, const std::string& key,
                                 const std::string& where) const {
    const auto value = table[key].value_exact<std::string>();
    if (!value || value->empty()) throw wrong(where + key, "a text");
    return *value;
  }

  [[nodiscard]] bool flag(const toml::table& table, const std::string& key, const std::string& where) const {
    const auto value = table[key].value_exact<bool>();
    if (!value) throw wrong(where + key, "true or false");
    return *value;
  }

  [[nodiscard]] Value value(const toml::node& node, const std::string& where) const {
    if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
    if (const auto number = node.value_exact<double>()) return *number;
    if (const auto flag = node.value_exact<bool>()) return *flag;
    if (const auto text = node.value_exact<std::string>()) return *text;
    throw wrong(where, "a number, a text or true or false");
  }

  [[nodiscard]] const toml::table& table(const toml::table& parent, const std::string& key,
                                         const std::string& where) const {
    const toml::table* found = parent[key].as_table();
    if (found == nullptr) throw wrong(where + key, "a table");
    return *found;
  }

  /// The tables inside `parent`, in the order of the file.
  [[nodiscard]] std::vector<std::pair<std::string, const toml::table*>> tables(
      const toml::table& parent, const std::string& where) const {
    std::vector<std::pair<std::string, const toml::table*>> found;
    for (const auto& [key, node] : parent) {
      if (!node.is_table()) throw wrong(where + std::string(key.str()), "a table");
      found.emplace_back(key.str(), node.as_table());
    }
    std::ranges::stable_sort(found, [](const auto& left, const auto& right) {
      return left.second->source().begin.line < right.second->source().begin.line;
    });
    return found;
  }

  void only(const toml::table& table, const std::vector<std::string_view>& keys,
            const std::string& where) const {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(keys, key.str()) == keys.end()) {
        throw bad_use(fmt::format("'{}' line {}: unknown key {}{}", file_.string(), node.source().begin.line,
                                  where, std::string(key.str())),
                      fmt::format("use {}", fmt::join(keys, ", ")));
      }
    }
  }

 private:
  static void fill(toml::table& own, const toml::table& other) {
    for (const auto& [key, node] : other) {
      toml::node* const found = own.get(key.str());
      if (found == nullptr) {
        own.insert(key, node);
      } else if (found->is_table() && node.is_table()) {
        fill(*found->as_table(), *node.as_table());
      } else if (found->is_array() && node.is_array()) {
        for (const toml::node& one : *node.as_array()) found->as_array()->push_back(one);
      }
    }
  }

  std::filesystem::path file_;
  toml::table root_;
};

}  // namespace fabricmark::runtime
