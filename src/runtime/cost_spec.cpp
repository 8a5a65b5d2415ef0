// What kernel.toml says of the time that kernels take.
#include "runtime/cost_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/error.hpp"
#include "base/expression.hpp"
#include "runtime/choice_names.hpp"

namespace fabricmark::runtime {

namespace {

LoopSpec read_loop(const TomlReader& reader, const toml::table& table, const std::string& where) {
  reader.only(table,
              {"meaning", "phase", "repeat", "trips", "interval", "depth", "memory_bytes", "memory_cycles",
               "waits", "efficiency"},
              where);
  const auto formula = [&](const char* key) {
    return table.contains(key) ? reader.text(table, key, where) : std::string();
  };
  LoopSpec loop{.meaning = formula("meaning"),
                .phase = table.contains("phase") ? formula("phase") : "kernel",
                .repeat = formula("repeat"),
                .trips = formula("trips"),
                .interval = formula("interval"),
                .depth = formula("depth"),
                .memory_bytes = formula("memory_bytes"),
                .memory_cycles = formula("memory_cycles"),
                .waits = {},
                .efficiency = formula("efficiency")};
  if (table.contains("waits")) {
    const toml::table& waits = reader.table(table, "waits", where);
    for (const auto& [key, node] : waits) {
      const std::string name(key.str());
      if (!name.ends_with("_seconds"))
        throw reader.wrong(where + "waits." + name, "a value of the system in seconds, like burst_seconds");
      loop.waits[name] = reader.text(waits, name, where + "waits.");
    }
  }
  if (!loop.efficiency.empty() && !loop.efficiency.ends_with("_efficiency"))
    throw reader.wrong(where + "efficiency", "a value of a bitstream, like panel_efficiency");
  const bool has_cycles = !loop.trips.empty() || !loop.depth.empty();
  if (!has_cycles && loop.memory_bytes.empty() && loop.memory_cycles.empty() && loop.waits.empty())
    throw reader.wrong(where + "trips",
                       "what the loop takes: trips, depth, memory_bytes, memory_cycles or waits");
  if (loop.trips.empty() && !loop.interval.empty())
    throw reader.wrong(where + "trips", "them where interval is");
  return loop;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> LoopSpec::formulas() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [key, text] : {std::pair{"repeat", &repeat},
                                  {"trips", &trips},
                                  {"interval", &interval},
                                  {"depth", &depth},
                                  {"memory_bytes", &memory_bytes},
                                  {"memory_cycles", &memory_cycles}}) {
    if (!text->empty()) found.emplace_back(key, *text);
  }
  for (const auto& [name, text] : waits) found.emplace_back("waits." + name, text);
  return found;
}

LoopTime time_of(const LoopSpec& loop) {
  LoopTime time;
  const auto is_some = [](const std::string& text) { return !text.empty() && text != "0"; };
  const auto add = [&](std::string& sum, const std::string& amount, const char* sign,
                       const std::string& value, const char* usual) {
    if (!is_some(amount)) return;
    sum += fmt::format("{}({}) {} {}", sum.empty() ? "" : " + ", amount, sign, value);
    time.system.emplace(value, usual);
  };
  std::string cycles = loop.interval.empty() || !is_some(loop.trips)
                           ? loop.trips
                           : fmt::format("({}) * ({})", loop.interval, loop.trips);
  if (is_some(loop.depth)) cycles = is_some(cycles) ? fmt::format("{} + {}", cycles, loop.depth) : loop.depth;
  add(time.cycles, cycles, "/", "kernel_hz", "");
  add(time.memory, loop.memory_bytes, "/", "bank_bytes_per_second", "");
  add(time.memory, loop.memory_cycles, "/", "memory_hz", "kernel_hz");
  for (const auto& [name, count] : loop.waits) add(time.memory, count, "*", name, "0");
  for (std::string* sum : {&time.cycles, &time.memory}) {
    if (sum->empty()) *sum = "0";
  }
  // Neither is below zero.
  time.seconds = time.memory == "0" ? "cycles" : time.cycles == "0" ? "memory" : "max(cycles, memory)";
  if (!loop.efficiency.empty()) {
    time.seconds += " / " + loop.efficiency;
    time.system.emplace(loop.efficiency, "1");
  }
  if (!loop.repeat.empty()) {
    time.repeat = loop.repeat;
    time.seconds += fmt::format(" * ({})", loop.repeat);
  }
  return time;
}

void read_costs(const TomlReader& reader, const toml::table& all, const std::string& variant,
                VariantSpec& spec) {
  for (const auto& [key, list] : all) {
    const std::string entry(key.str());
    const std::string where = variant + "costs." + entry;
    if (std::ranges::find(spec.entry_points, entry) == spec.entry_points.end())
      throw reader.wrong(where, "costs of an entry point");
    if (!list.is_array() || list.as_array()->empty()) throw reader.wrong(where, "a list of loops");
    for (const toml::node& node : *list.as_array()) {
      if (!node.is_table()) throw reader.wrong(where, "a list of loops, each a table");
      spec.costs[entry].push_back(read_loop(reader, *node.as_table(), where + "."));
    }
  }
}

std::vector<std::string> cost_names(const KernelSpec& spec, const VariantSpec& variant,
                                    const std::string& entry) {
  std::vector<std::string> names;
  if (const auto arguments = variant.arguments.find(entry); arguments != variant.arguments.end()) {
    for (const ArgumentSpec& argument : arguments->second) {
      if (argument.kind != "buffer") names.push_back(argument.name);
    }
  }
  for (const ParameterSpec& parameter : spec.parameters) {
    const bool is_known = std::ranges::find(names, parameter.name) != names.end();
    if (parameter.type != ParameterSpec::Type::kText && !is_known) names.push_back(parameter.name);
  }
  std::ranges::copy(choice_names(spec), std::back_inserter(names));
  if (spec.find("data_type") != nullptr) names.emplace_back("element_bytes");
  names.insert(names.end(), {"banks", "drain_cycles"});
  return names;
}

void check_costs(const KernelSpec& spec, const std::string& file) {
  for (const VariantSpec& variant : spec.variants) {
    for (const auto& [entry, loops] : variant.costs) {
      const std::vector<std::string> names = cost_names(spec, variant, entry);
      const auto check = [&, place = fmt::format("{}: variants.{}.costs.{}", file, variant.name, entry)](
                             const std::string& key, const std::string& text, const auto& known) {
        try {
          Formula(text, known);
        } catch (const std::invalid_argument& error) {
          throw bad_use(fmt::format("{}.{} {:?} is no formula: {}", place, key, text, error.what()),
                        "correct it; it may name the kernel's arguments that are numbers, parameters, "
                        "PARAMETER_is_VALUE, element_bytes, banks and drain_cycles");
        }
      };
      for (const LoopSpec& loop : loops) {
        for (const auto& [key, text] : loop.formulas()) check(key, text, names);
        const LoopTime time = time_of(loop);
        std::vector<std::string> all{"cycles", "memory", "seconds"};
        for (const auto& [name, usual] : time.system) all.push_back(name);
        for (const std::string& name : all) {
          if (std::ranges::find(names, name) == names.end()) continue;
          throw bad_use(fmt::format("{}: variants.{}.costs.{}: '{}' is a parameter or argument, and what the "
                                    "time of a loop is made of",
                                    file, variant.name, entry, name),
                        "give the parameter or argument another name");
        }
        all.insert(all.end(), names.begin(), names.end());
        check("trips", time.cycles, all);
        check("memory_bytes", time.memory, all);
      }
    }
  }
}

}  // namespace fabricmark::runtime
