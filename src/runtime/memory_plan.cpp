// Which buffers kernels work on, how long they are and in which banks they lie.
#include "runtime/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/expression.hpp"
#include "runtime/choice_names.hpp"
#include "runtime/numbers.hpp"

namespace fabricmark::runtime {

namespace {

constexpr const char* kPart = "part";

using Numbers = std::map<std::string, double>;

/// A formula of kernel.toml over numbers of these names.
class Amount {
 public:
  Amount(const std::string& text, const Numbers& numbers, std::string what)
      : text_(text), what_(std::move(what)), formula_(text, names_of(numbers)) {}
  [[nodiscard]] double of(const Numbers& numbers) const {
    std::vector<double> values;
    for (const auto& [unused, number] : numbers) values.push_back(number);
    try {
      return formula_(values);
    } catch (const std::invalid_argument& error) {
      throw bad_use(fmt::format("{}, '{}', has no value: {}", what_, text_, error.what()),
                    "choose smaller parameters");
    }
  }

 private:
  static std::vector<std::string> names_of(const Numbers& numbers) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : numbers) names.push_back(name);
    return names;
  }
  std::string text_;
  std::string what_;
  Formula formula_;
};

/// The formula of an argument for a class of devices; empty where it has none there.
std::string of_class(const ArgumentSpec& argument, const std::string& device_class) {
  const auto own = argument.bytes.find(device_class);
  if (own != argument.bytes.end()) return own->second;
  const auto any = argument.bytes.find("");
  return any == argument.bytes.end() ? std::string() : any->second;
}

/// The same, or that of the argument of its entry point which it names.
std::string bytes_formula(const std::vector<ArgumentSpec>& arguments, const ArgumentSpec& argument,
                          const std::string& device_class) {
  const std::string text = of_class(argument, device_class);
  const auto named = std::ranges::find(arguments, text, &ArgumentSpec::name);
  return named == arguments.end() ? text : of_class(*named, device_class);
}

/// Whether it is an array in parts, each of which has a bank, or one buffer in a bank of the plan's choice.
bool has_parts(const ArgumentSpec& argument) { return argument.bank == kPart; }

/// One argument that has memory of its own.
struct Planned {
  std::size_t entry = 0;
  const ArgumentSpec* argument = nullptr;
  std::string bytes;                       ///< formula
  std::size_t buffers = 1;                 ///< at least one
  bool is_spread = false;                  ///< each in a bank of its own
  [[nodiscard]] bool is_divided() const {  ///< among them: they may be fewer, and longer
    return is_spread && bytes.find("buffers") != std::string::npos;
  }
};

std::vector<Planned> planned(const VariantSpec& variant, const Numbers& numbers,
                             const std::string& device_class, int banks) {
  std::vector<Planned> found;
  for (std::size_t entry = 0; entry <= variant.entry_points.size(); ++entry) {
    const bool is_beside = entry == variant.entry_points.size();
    const auto arguments = variant.arguments.find(is_beside ? "" : variant.entry_points[entry]);
    if (arguments == variant.arguments.end()) continue;
    for (const ArgumentSpec& argument : arguments->second) {
      Planned one{.entry = entry,
                  .argument = &argument,
                  .bytes = bytes_formula(arguments->second, argument, device_class)};
      if (one.bytes.empty()) continue;
      if (!argument.buffers.empty()) {
        const Amount buffers(argument.buffers, numbers, "the buffers of " + argument.name);
        const double count = buffers.of(numbers);
        one.buffers = static_cast<std::size_t>(std::max(1.0, count));
        one.is_spread = has_parts(argument) && count >= 1;
        if (one.is_spread && banks > 0) one.buffers = std::min(one.buffers, static_cast<std::size_t>(banks));
      }
      found.push_back(one);
    }
  }
  return found;
}

/// Makes the buffers of a plan, each argument's in turn.
class Planner {
 public:
  Planner(const VariantSpec& variant, const std::string& device_class, Numbers numbers,
          const device::BoardMemory& memory)
      : variant_(variant),
        numbers_(std::move(numbers)),
        memory_(memory),
        planned_(planned(variant, numbers_, device_class, memory.banks)) {
    for (const Planned& one : planned_) {
      is_spread_ = is_spread_ || one.is_spread;
      if (one.is_divided()) most_parts_ = std::max(most_parts_, one.buffers);
    }
  }

  /// With so many parts as formulas say, or the fewer ones with which all finds its place in the banks; where
  /// nothing fits, as many as there may be.
  [[nodiscard]] std::vector<PlannedBuffer> make() const {
    std::vector<PlannedBuffer> usual = buffers(most_parts_);
    if (memory_.banks == 0 || memory_.bank_bytes == 0 || most_parts_ < 2) return usual;
    for (std::size_t most = most_parts_; most > 0; --most) {
      std::vector<PlannedBuffer> some = buffers(most);
      if (fits(some)) return some;
    }
    return usual;
  }

 private:
  [[nodiscard]] std::vector<PlannedBuffer> buffers(std::size_t most_parts) const {
    std::vector<PlannedBuffer> found;
    Numbers numbers = numbers_;
    for (const char* const name : {"replica", kPart, "buffers"}) numbers[name] = 0;
    for (const Planned& one : planned_) {
      const Amount amount(one.bytes, numbers, "the bytes of " + one.argument->name);
      const std::size_t count = one.is_divided() ? std::min(one.buffers, most_parts) : one.buffers;
      numbers["buffers"] = static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i) {
        numbers["replica"] = numbers[kPart] = static_cast<double>(i);
        const double bytes = amount.of(numbers);
        if (!(bytes > 0)) continue;
        PlannedBuffer buffer{
            .place = {.entry = one.entry, .replica = static_cast<int>(i), .argument = one.argument->name},
            .bytes = static_cast<std::uint64_t>(std::ceil(bytes))};
        if (one.is_spread) buffer.place.part = static_cast<int>(i);
        found.push_back(buffer);
      }
    }
    place(found);
    return found;
  }

  /// Those whose bank is said first, then the others that lie in one, each in the emptiest.
  void place(std::vector<PlannedBuffer>& buffers) const {
    device::BankUse use(memory_);
    std::vector<PlannedBuffer*> others;
    for (PlannedBuffer& buffer : buffers) {
      if (is_beside(buffer)) continue;
      buffer.bank = memory_.within(bank_of(variant_, buffer.place));
      if (buffer.bank >= 0) use.add(buffer.bank, buffer.bytes);
      if (buffer.bank < 0 && is_spread_ && wants_a_bank(buffer)) others.push_back(&buffer);
    }
    if (use.emptiest() < 0) return;
    for (PlannedBuffer* const buffer : others) {
      buffer->bank = use.emptiest();
      buffer->place.part = buffer->bank;
      use.add(buffer->bank, buffer->bytes);
    }
  }

  /// It is no argument's.
  [[nodiscard]] bool is_beside(const PlannedBuffer& buffer) const {
    return buffer.place.entry == variant_.entry_points.size();
  }

  /// Its bank is that of its part, but it has no parts: it lies as a whole where most room is.
  [[nodiscard]] bool wants_a_bank(const PlannedBuffer& buffer) const {
    const auto& arguments = variant_.arguments.at(variant_.entry_points[buffer.place.entry]);
    const auto found = std::ranges::find(arguments, buffer.place.argument, &ArgumentSpec::name);
    return has_parts(*found) && found->buffers.empty();
  }

  [[nodiscard]] bool fits(const std::vector<PlannedBuffer>& buffers) const {
    std::vector<std::uint64_t> used(static_cast<std::size_t>(memory_.banks));
    for (const PlannedBuffer& buffer : buffers) {
      if (buffer.bank >= 0) used[static_cast<std::size_t>(buffer.bank)] += buffer.bytes;
    }
    return *std::ranges::max_element(used) <= memory_.bank_bytes;
  }

  const VariantSpec& variant_;
  Numbers numbers_;
  device::BoardMemory memory_;
  std::vector<Planned> planned_;
  std::size_t most_parts_ = 0;  ///< of arrays that are divided
  bool is_spread_ = false;
};

/// Calls `take` with each name in the formulas of a variant.
template <typename Take>
void for_each_name(const VariantSpec& variant, Take take) {
  for (const auto& [unused, arguments] : variant.arguments) {
    for (const ArgumentSpec& argument : arguments) {
      std::ranges::for_each(names_in(argument.buffers), take);
      for (const auto& [device_class, text] : argument.bytes) std::ranges::for_each(names_in(text), take);
    }
  }
}

bool has_formulas(const VariantSpec& variant) {
  for (const auto& [unused, arguments] : variant.arguments) {
    if (std::ranges::any_of(arguments, [](const ArgumentSpec& one) { return !one.bytes.empty(); }))
      return true;
  }
  return false;
}

}  // namespace

MemoryPlan::MemoryPlan(const VariantSpec& variant, const Parameters& parameters, const MemoryUser& user)
    : memory_(user.memory) {
  const auto is_missing = [&](const std::string& name) { return !user.given.contains(name); };
  if (!has_formulas(variant) || std::ranges::any_of(variant.given, is_missing)) return;
  Numbers numbers = numbers_of(parameters);
  const std::size_t wanted = parameters.has("grid_rows") ? parameters.count("grid_rows") : 1;
  const std::size_t rows = grid_rows(user.ranks, wanted);
  numbers["cores"] = static_cast<double>(user.cores);
  numbers["ranks"] = user.ranks;
  numbers["process_rows"] = static_cast<double>(rows);
  const std::size_t columns = static_cast<std::size_t>(user.ranks) / rows;
  numbers["process_columns"] = static_cast<double>(columns);
  numbers.insert(user.given.begin(), user.given.end());
  for_each_name(variant, [&](const std::string& name) {
    if (const std::optional<double> chosen = choice_number(name, parameters)) numbers[name] = *chosen;
  });
  // Those of the host are no banks that anybody chooses.
  device::BoardMemory of_board = user.memory;
  if (of_board.kind == device::BoardMemory::Kind::kHost) of_board.banks = 0;
  buffers_ = Planner(variant, device::class_name(user.device_class), std::move(numbers), of_board).make();
}

std::vector<PlannedBuffer> MemoryPlan::of(std::size_t entry, const std::string& argument) const {
  std::vector<PlannedBuffer> found;
  std::ranges::copy_if(buffers_, std::back_inserter(found), [&](const PlannedBuffer& one) {
    return one.place.entry == entry && one.place.argument == argument;
  });
  return found;
}

double MemoryPlan::bytes() const {
  double all = 0;
  for (const PlannedBuffer& one : buffers_) all += static_cast<double>(one.bytes);
  return all;
}

double MemoryPlan::bytes(const std::string& argument) const {
  double all = 0;
  for (const PlannedBuffer& one : buffers_)
    all += one.place.argument == argument ? static_cast<double>(one.bytes) : 0;
  return all;
}

double MemoryPlan::largest_bytes() const {
  double largest = 0;
  for (const PlannedBuffer& one : buffers_) largest = std::max(largest, static_cast<double>(one.bytes));
  return largest;
}

void MemoryPlan::require_banks() const {
  device::BankUse use(memory_);
  for (const PlannedBuffer& one : buffers_) use.add(one.bank, one.bytes);
  use.require_room();
}

std::vector<std::string> memory_names(const KernelSpec& spec) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.type != ParameterSpec::Type::kText) names.push_back(parameter.name);
  }
  std::ranges::copy(choice_names(spec), std::back_inserter(names));
  if (spec.find("data_type") != nullptr) names.insert(names.end(), {"element_bytes", "value_bytes"});
  for (const char* const name :
       {"cores", "ranks", "process_rows", "process_columns", "replica", "part", "buffers"}) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  std::ranges::copy(spec.given | std::views::keys, std::back_inserter(names));
  return names;
}

void note_given(KernelSpec& spec) {
  for (VariantSpec& variant : spec.variants) {
    std::set<std::string> names;
    for_each_name(variant, [&](const std::string& name) {
      if (spec.given.contains(name)) names.insert(name);
    });
    variant.given.assign(names.begin(), names.end());
  }
}

std::vector<std::string> memory_parameters(const KernelSpec& spec, const VariantSpec& variant) {
  std::set<std::string> words;
  for_each_name(variant, [&](const std::string& name) {
    words.insert(parameter_of_choice(name).value_or(name));
    if (const auto given = spec.given.find(name); given != spec.given.end()) words.insert(given->second);
  });
  if (words.contains("element_bytes") || words.contains("value_bytes")) words.insert("data_type");
  if (words.contains("process_rows") || words.contains("process_columns")) words.insert("grid_rows");
  std::vector<std::string> found;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (words.contains(parameter.name)) found.push_back(parameter.name);
  }
  return found;
}

void check_memory(const KernelSpec& spec, const std::string& file) {
  const std::vector<std::string> names = memory_names(spec);
  for (const VariantSpec& variant : spec.variants) {
    for (const auto& [entry, arguments] : variant.arguments) {
      for (const ArgumentSpec& argument : arguments) {
        std::vector<std::pair<std::string, std::string>> formulas{{"buffers", argument.buffers}};
        for (const auto& [device_class, unused] : argument.bytes)
          formulas.emplace_back("bytes", bytes_formula(arguments, argument, device_class));
        for (const auto& [key, text] : formulas) {
          if (text.empty()) continue;
          try {
            Formula(text, names);
          } catch (const std::invalid_argument& error) {
            throw bad_use(
                fmt::format("{}: variants.{}.{}.{}.{} {:?} is no formula: {}", file, variant.name,
                            entry.empty() ? "memory" : "arguments." + entry, argument.name, key, text,
                            error.what()),
                "correct it; it may name parameters that are numbers, element_bytes, value_bytes, cores, "
                "ranks, process_rows, process_columns, replica, part and buffers, or another argument");
          }
        }
      }
    }
  }
}

}  // namespace fabricmark::runtime
