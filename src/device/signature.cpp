#include "device/signature.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::device {

namespace {

struct TakenArgument {
  std::string space;  ///< "global", "local", "constant"; empty for a value
  std::string type;   ///< as declared, such as "float4*"
  std::string name;
};

/// OpenCL returns texts with the zero byte at their end.
std::string without_zero(std::string text) {
  std::erase(text, '\0');
  return text;
}

std::string kind_name(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kBuffer:
      return "buffer";
    case ArgumentKind::kUchar:
      return "uchar";
    case ArgumentKind::kUint:
      return "uint";
    case ArgumentKind::kUlong:
      return "ulong";
    case ArgumentKind::kFloat:
      return "float";
    case ArgumentKind::kDouble:
      return "double";
  }
  return "";
}

std::string space_name(cl_kernel_arg_address_qualifier space) {
  switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
      return "global";
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return "local";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return "constant";
    default:
      return "";
  }
}

/// None where the runtime has not kept them.
std::optional<std::vector<TakenArgument>> arguments_of(const cl::Kernel& kernel) {
  std::vector<TakenArgument> arguments;
  try {
    for (cl_uint i = 0; i < kernel.getInfo<CL_KERNEL_NUM_ARGS>(); ++i) {
      arguments.push_back({space_name(kernel.getArgInfo<CL_KERNEL_ARG_ADDRESS_QUALIFIER>(i)),
                           without_zero(kernel.getArgInfo<CL_KERNEL_ARG_TYPE_NAME>(i)),
                           without_zero(kernel.getArgInfo<CL_KERNEL_ARG_NAME>(i))});
    }
  } catch (const cl::Error&) {
    return std::nullopt;
  }
  return arguments;
}

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

std::optional<cl::Kernel> find(const cl::Program& program, const std::string& entry) {
  try {
    return cl::Kernel(program, entry.c_str());
  } catch (const cl::Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string signature(const cl::Kernel& kernel) {
  const auto name = without_zero(kernel.getInfo<CL_KERNEL_FUNCTION_NAME>());
  const std::optional<std::vector<TakenArgument>> arguments = arguments_of(kernel);
  if (!arguments)
    return name + " with " + std::to_string(kernel.getInfo<CL_KERNEL_NUM_ARGS>()) + " arguments";
  std::string text;
  for (const TakenArgument& argument : *arguments) text += (text.empty() ? "" : ", ") + text_of(argument);
  return name + "(" + text + ")";
}

void check_declared(const cl::Program& program, const EntryPoint& entry, const std::string& name) {
  const auto lock = setup_lock();
  const std::optional<cl::Kernel> kernel = find(program, entry.name);
  if (!kernel) return;
  const auto wrong = [&](const std::string& found, const std::string& declared) {
    return bad_use(
        "the kernel '" + entry.name + "' of '" + name + "' " + found + ", kernel.toml declares " + declared,
        "change [variants.NAME.arguments] to " + signature(*kernel));
  };
  const auto count = kernel->getInfo<CL_KERNEL_NUM_ARGS>();
  if (count != entry.arguments.size())
    throw wrong("takes " + std::to_string(count) + " arguments", std::to_string(entry.arguments.size()));
  const std::optional<std::vector<TakenArgument>> taken = arguments_of(*kernel);
  if (!taken) return;
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const Argument& declared = entry.arguments[i];
    const std::string type = (*taken)[i].space.empty() ? number_in((*taken)[i].type).type : "buffer";
    const bool has_type = type.empty() || type == kind_name(declared.kind);
    if ((*taken)[i].name == declared.name && has_type) continue;
    throw wrong("has '" + text_of((*taken)[i]) + "' for argument " + std::to_string(i + 1),
                "'" + kind_name(declared.kind) + " " + declared.name + "'");
  }
}

std::vector<std::string> check_signature(const cl::Program& own, const cl::Program& shipped,
                                         const std::string& entry, const std::string& name,
                                         const std::string& shipped_name) {
  const auto lock = setup_lock();
  const std::optional<cl::Kernel> wanted = find(shipped, entry);
  if (!wanted) return {};
  const std::string remedy = "declare it as " + shipped_name + " does: __kernel void " + signature(*wanted);
  const std::optional<cl::Kernel> given = find(own, entry);
  if (!given) {
    const std::string present = without_zero(own.getInfo<CL_PROGRAM_KERNEL_NAMES>());
    throw bad_use("'" + name + "' has no kernel '" + entry + "', only '" + present + "'", remedy);
  }
  const auto number = given->getInfo<CL_KERNEL_NUM_ARGS>();
  if (number != wanted->getInfo<CL_KERNEL_NUM_ARGS>()) {
    throw bad_use("the kernel '" + entry + "' of '" + name + "' takes " + std::to_string(number) +
                      " argument" + (number == 1 ? "" : "s"),
                  remedy);
  }
  const std::optional<std::vector<TakenArgument>> found = arguments_of(*given);
  const std::optional<std::vector<TakenArgument>> expected = arguments_of(*wanted);
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
