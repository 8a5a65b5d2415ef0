#include "runtime/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/expression.hpp"
#include "runtime/cost_spec.hpp"
#include "runtime/memory_plan.hpp"

namespace fabricmark::runtime {

namespace {

// Of a formula that is written out: each of many could name another one twice.
constexpr std::size_t kLongest = 10000;

/// What formulas mean something else by.
std::set<std::string> taken_names(const KernelSpec& spec) {
  std::set<std::string> names;
  const auto take = [&](const std::vector<std::string>& some) { names.insert(some.begin(), some.end()); };
  take(memory_names(spec));
  for (const ParameterSpec& parameter : spec.parameters) names.insert(parameter.name);
  for (const VariantSpec& variant : spec.variants) {
    for (const auto& [entry, arguments] : variant.arguments) {
      take(cost_names(spec, variant, entry));
      for (const ArgumentSpec& argument : arguments) names.insert(argument.name);
    }
  }
  return names;
}

/// Throws Error (bad use) where a key of a table is no name, or one of something else.
void require_new(const TomlReader& reader, const std::string& table, const std::string& name,
                 const std::set<std::string>& taken) {
  if (taken.contains(name) || names_in(name) != std::vector<std::string>{name})
    throw reader.wrong(table + "." + name, "a name that nothing else has, of small letters, digits and _");
}

}  // namespace

void read_given(const TomlReader& reader, KernelSpec& spec) {
  if (!reader.root().contains("given")) return;
  const toml::table& table = reader.table(reader.root(), "given", "");
  const std::set<std::string> taken = taken_names(spec);
  for (const auto& [key, unused] : table) {
    const std::string name(key.str());
    require_new(reader, "given", name, taken);
    const std::string parameter = reader.text(table, name, "given.");
    if (spec.find(parameter) == nullptr)
      throw reader.wrong("given." + name, "the name of a parameter that it follows from");
    spec.given[name] = parameter;
  }
}

Quantities::Quantities(const TomlReader& reader, const KernelSpec& spec) {
  if (!reader.root().contains("quantities")) return;
  const toml::table& table = reader.table(reader.root(), "quantities", "");
  const std::set<std::string> taken = taken_names(spec);
  std::map<std::string, std::string> left;
  for (const auto& [key, unused] : table) {
    const std::string name(key.str());
    require_new(reader, "quantities", name, taken);
    left[name] = reader.text(table, name, "quantities.");
  }
  // Each round writes out those that name no other.
  while (!left.empty()) {
    const auto waits = [&](const std::string& name) { return left.contains(name); };
    const auto next = std::ranges::find_if(
        left, [&](const auto& one) { return std::ranges::none_of(names_in(one.second), waits); });
    if (next == left.end())
      throw reader.wrong("quantities." + left.begin()->first, "a formula that does not follow from itself");
    const std::string text = written_out(next->second);
    if (text.size() > kLongest) throw reader.wrong("quantities." + next->first, "a shorter formula");
    formulas_[next->first] = text;
    left.erase(next);
  }
}

std::string Quantities::written_out(const std::string& text) const {
  return with_names(text, [&](const std::string& name) {
    const auto found = formulas_.find(name);
    return found == formulas_.end() ? name : fmt::format("({})", found->second);
  });
}

void Quantities::write_out(KernelSpec& spec) const {
  if (formulas_.empty()) return;
  spec.quantities = formulas_;
  const auto in_argument = [&](ArgumentSpec& argument) {
    for (auto& [unused, text] : argument.bytes) text = written_out(text);
    argument.buffers = written_out(argument.buffers);
  };
  for (VariantSpec& variant : spec.variants) {
    for (auto& [unused, arguments] : variant.arguments) std::ranges::for_each(arguments, in_argument);
    for (auto& [unused, loops] : variant.costs) {
      for (LoopSpec& loop : loops) {
        for (std::string* text : {&loop.repeat, &loop.trips, &loop.interval, &loop.depth, &loop.memory_bytes,
                                  &loop.memory_cycles})
          *text = written_out(*text);
        for (auto& [wait, text] : loop.waits) text = written_out(text);
      }
    }
  }
}

}  // namespace fabricmark::runtime
