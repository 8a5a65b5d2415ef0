#include "device/signature.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::device {

namespace {

std::string text_of(const TakenArgument& argument) {
  return (argument.space.empty() ? "" : argument.space + " ") + argument.type + " " + argument.name;
}

/// "float4*" taken apart.
struct Number {
  std::string type;  ///< "float"; empty for a type of the source's own
  int bytes = 0;     ///< of the whole vector
};

Number number_in(std::string type) {
  constexpr std::array kTypes{std::pair{"char", 1},   std::pair{"uchar", 1}, std::pair{"short", 2},
                              std::pair{"ushort", 2}, std::pair{"half", 2},  std::pair{"int", 4},
                              std::pair{"uint", 4},   std::pair{"float", 4}, std::pair{"long", 8},
                              std::pair{"ulong", 8},  std::pair{"double", 8}};
  while (!type.empty() && type.back() == '*') type.pop_back();
  const std::size_t letters = type.find_last_not_of("0123456789") + 1;
  const std::string width = type.substr(letters);
  const auto* const found =
      std::ranges::find_if(kTypes, [&](const auto& known) { return type.substr(0, letters) == known.first; });
  if (found == kTypes.end() || width.size() > 2) return {};
  return {found->first, found->second * (width.empty() ? 1 : std::stoi(width))};
}

/// A kernel as its source declares it, such as "stream(global float* first, uint blocks)"; with the number of
/// its arguments alone where the runtime keeps no more.
std::string signature(const std::string& name, const backend::Kernel& kernel) {
  const std::optional<std::vector<TakenArgument>> arguments = kernel.arguments();
  if (!arguments) return name + " with " + std::to_string(kernel.argument_count().value_or(0)) + " arguments";
  std::string text;
  for (const TakenArgument& argument : *arguments) text += (text.empty() ? "" : ", ") + text_of(argument);
  return name + "(" + text + ")";
}

}  // namespace

void check_declared(const Program& program, const EntryPoint& entry, const std::string& name) {
  const auto lock = setup_lock();
  const std::unique_ptr<backend::Kernel> kernel = program->kernel(entry.name);
  if (!kernel) return;
  const auto wrong = [&](const std::string& found, const std::string& declared) {
    return bad_use(
        "the kernel '" + entry.name + "' of '" + name + "' " + found + ", kernel.toml declares " + declared,
        "change [variants.NAME.arguments] to " + signature(entry.name, *kernel));
  };
  const std::optional<std::size_t> count = kernel->argument_count();
  if (!count) return;
  if (*count != entry.arguments.size())
    throw wrong("takes " + std::to_string(*count) + " arguments", std::to_string(entry.arguments.size()));
  const std::optional<std::vector<TakenArgument>> taken = kernel->arguments();
  if (!taken) return;
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const Argument& declared = entry.arguments[i];
    const std::string type = (*taken)[i].space.empty() ? number_in((*taken)[i].type).type : "buffer";
    const bool has_type = type.empty() || type == name_of(declared.kind);
    if ((*taken)[i].name == declared.name && has_type) continue;
    throw wrong("has '" + text_of((*taken)[i]) + "' for argument " + std::to_string(i + 1),
                "'" + std::string(name_of(declared.kind)) + " " + declared.name + "'");
  }
}

std::vector<std::string> check_signature(const Program& own, const Program& shipped, const std::string& entry,
                                         const std::string& name, const std::string& shipped_name) {
  const auto lock = setup_lock();
  const std::unique_ptr<backend::Kernel> wanted = shipped->kernel(entry);
  if (!wanted) return {};
  const std::string remedy =
      "declare it as " + shipped_name + " does: __kernel void " + signature(entry, *wanted);
  const std::unique_ptr<backend::Kernel> given = own->kernel(entry);
  if (!given) {
    const std::string present = own->kernel_names();
    throw bad_use("'" + name + "' has no kernel '" + entry + "', only '" + present + "'", remedy);
  }
  const std::optional<std::size_t> number = given->argument_count();
  if (number && number != wanted->argument_count()) {
    throw bad_use("the kernel '" + entry + "' of '" + name + "' takes " + std::to_string(*number) +
                      " argument" + (*number == 1 ? "" : "s"),
                  remedy);
  }
  const std::optional<std::vector<TakenArgument>> found = given->arguments();
  const std::optional<std::vector<TakenArgument>> expected = wanted->arguments();
  std::vector<std::string> remarks;
  if (!found || !expected) return remarks;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const TakenArgument& own_argument = (*found)[i];
    const TakenArgument& argument = (*expected)[i];
    const std::string difference = "argument " + std::to_string(i + 1) + " of the kernel '" + entry +
                                   "' of '" + name + "' is '" + text_of(own_argument) + "'";
    const Number own_number = number_in(own_argument.type);
    const Number number_wanted = number_in(argument.type);
    const bool is_known = !own_number.type.empty() && !number_wanted.type.empty();
    const bool is_value = argument.space.empty();
    if (own_argument.space.empty() != is_value ||
        (is_known && is_value && own_number.bytes != number_wanted.bytes)) {
      throw bad_use(difference, remedy);
    }
    if (is_known && own_number.type != number_wanted.type) {
      remarks.push_back(difference + ", where " + shipped_name + " has '" + text_of(argument) + "'");
    }
  }
  return remarks;
}

}  // namespace fabricmark::device
