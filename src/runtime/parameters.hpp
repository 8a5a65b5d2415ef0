#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace fabricmark::runtime {

/// A typed setting, so that a result file says 16, "float" or true and not a text or a lone flag.
using Value = std::variant<std::int64_t, double, bool, std::string>;

std::string to_text(const Value& value);

/// The settings of a run by name, as resolved from the command line, the system and the device class.
class Parameters {
 public:
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  /// These throw std::out_of_range for a name that kernel.toml does not list: a mistake of the benchmark.
  [[nodiscard]] const Value& value(const std::string& name) const { return values_.at(name); }
  [[nodiscard]] std::int64_t integer(const std::string& name) const {
    return std::get<std::int64_t>(value(name));
  }
  [[nodiscard]] std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(integer(name));
  }
  [[nodiscard]] double number(const std::string& name) const { return std::get<double>(value(name)); }
  [[nodiscard]] bool flag(const std::string& name) const { return std::get<bool>(value(name)); }
  [[nodiscard]] const std::string& text(const std::string& name) const {
    return std::get<std::string>(value(name));
  }
  [[nodiscard]] const std::map<std::string, Value>& all() const { return values_; }

 private:
  std::map<std::string, Value> values_;
};

}  // namespace fabricmark::runtime
