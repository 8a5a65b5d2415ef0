// What kernel.toml says and what collectives take, for everything that is no program of the suite: requests
// and answers are JSON.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "describe/collectives.hpp"
#include "describe/credit_link.hpp"
#include "describe/request.hpp"
#include "describe/simulate.hpp"
#include "device/device.hpp"
#include "runtime/cost_spec.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/memory_plan.hpp"

namespace {

using fabricmark::bad_use;
using namespace fabricmark::describe;
using namespace fabricmark::runtime;

constexpr const char* kUse =
    "fabricmark-describe: reads {\"requests\": [...]} and writes {\"answers\": [...]}; see "
    "docs/describe.md\n";

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

/// A number of a parameter: whole ones without a fraction.
Json number(const ParameterSpec& spec, double value) {
  return spec.type == ParameterSpec::Type::kInteger ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json error_json(const fabricmark::Error& error) {
  return {{"cause", error.cause()}, {"remedy", error.remedy()}, {"code", error.code()}};
}

Json parameter_json(const ParameterSpec& spec) {
  Json json{{"name", spec.name},
            {"type", ParameterSpec::kTypes.at(static_cast<std::size_t>(spec.type))},
            {"stage", spec.stage == ParameterSpec::Stage::kBuild ? "build" : "run"},
            {"unit", spec.unit},
            {"meaning", spec.meaning},
            {"scope", spec.is_total ? "total" : "per-rank"},
            {"dimensions", spec.dimensions},
            {"rounded_to", spec.rounded_to}};
  if (spec.minimum) json["range"] = {number(spec, *spec.minimum), number(spec, *spec.maximum)};
  for (const Value& value : spec.values) json["values"].push_back(to_json(value));
  for (const auto& [device_class, value] : spec.defaults)
    (device_class.empty() ? json["default"] : json["default"][device_class]) = to_json(value);
  return json;
}

/// The time of each loop of an entry point, as formulas (runtime/cost_spec.hpp), and of what they name in a
/// system that where it has none: a number, the name of another value, or "" for neither.
Json costs_json(const std::vector<LoopSpec>& loops) {
  Json costs = Json::array();
  for (const LoopSpec& loop : loops) {
    const LoopTime time = time_of(loop);
    costs.push_back({{"meaning", loop.meaning},
                     {"phase", loop.phase},
                     {"repeat", time.repeat},
                     {"cycles", time.cycles},
                     {"memory", time.memory},
                     {"seconds", time.seconds},
                     {"system", time.system}});
  }
  return costs;
}

Json kernel_json(const KernelSpec& spec) {
  Json json{{"benchmark", spec.benchmark},
            {"summary", spec.summary},
            {"quantities", spec.quantities},
            {"variants", Json::object()}};
  for (const VariantSpec& variant : spec.variants) {
    json["variants"][variant.name] = {{"file", variant.file},
                                      {"hls", variant.hls},
                                      {"sycl", variant.has_sycl},
                                      {"style", variant.style},
                                      {"entry_points", variant.entry_points},
                                      {"replicated", variant.replicated},
                                      {"autorun", variant.autorun},
                                      {"tuned", Json::object()},
                                      {"tuned_at", Json::object()},
                                      {"phases", variant.phases},
                                      {"costs", Json::object()}};
    for (const auto& [parameter, values] : variant.tuned_at) {
      for (const auto& [device_class, value] : values)
        json["variants"][variant.name]["tuned_at"][parameter][device_class] = to_json(value);
    }
    for (const auto& [parameter, classes] : variant.tuned) {
      for (const auto& [device_class, values] : classes) {
        for (const Value& value : values)
          json["variants"][variant.name]["tuned"][parameter][device_class].push_back(to_json(value));
      }
    }
    for (const auto& [entry, loops] : variant.costs)
      json["variants"][variant.name]["costs"][entry] = costs_json(loops);
  }
  json["parameters"] = Json::array();
  for (const ParameterSpec& parameter : spec.parameters)
    json["parameters"].push_back(parameter_json(parameter));
  return json;
}

std::map<std::string, std::string> settings(const Json& request, const KernelSpec& spec) {
  const auto found = member<std::map<std::string, std::string>>(request, "settings", {});
  for (const auto& [name, unused] : found) require_parameter(spec, name, "");
  for (const ParameterSpec& one : spec.parameters) {  // in this order, as programs check their options
    if (const auto given = found.find(one.name); given != found.end())
      check_given(option_name(one.name), given->second);
  }
  return found;
}

fabricmark::device::DeviceClass device_class(const std::string& name) {
  using namespace fabricmark::device;
  const auto found = std::ranges::find(kDeviceClasses, name, class_name);
  if (found == kDeviceClasses.end())
    throw bad_use("there is no device class '" + name + "'", "use cpu, gpu, fpga or emulator");
  return *found;
}

/// The bank of an argument's memory for each of its kernel's replicas; empty: the runtime's choice, or that
/// of the host, which spreads an array over banks, a part in each.
Json banks_json(const VariantSpec& variant, std::size_t entry, const ArgumentSpec& argument,
                std::int64_t replicas) {
  Json banks = Json::array();
  if (argument.bank.find("part") != std::string::npos) return banks;
  for (int replica = 0; replica < replicas; ++replica) {
    const int bank = bank_of(variant, {.entry = entry, .replica = replica, .argument = argument.name});
    if (bank >= 0) banks.push_back(bank);
  }
  return banks;
}

/// A board's memory as the request has it. Throws Error (bad use) for what there is not.
fabricmark::device::BoardMemory board_memory(const Json& request, std::int64_t banks) {
  using namespace fabricmark::device;
  BoardMemory memory{.banks = static_cast<int>(banks)};
  const auto given = member<Json>(request, "memory", Json::object());
  const auto named = [&](const char* name, const auto& known, auto& value) {
    const auto text = member<std::string>(given, name, "");
    if (text.empty()) return;
    if (!known.contains(text))
      throw bad_use(std::string("a memory has no ") + name + " '" + text + "'", kSeeDocs);
    value = known.at(text);
  };
  named("kind", memory_kinds(), memory.kind);
  named("placement", memory_choices(), memory.choice);
  memory.bank_bytes = member<std::uint64_t>(given, "bank_bytes", 0);
  return memory;
}

/// What a rank keeps in its device's memory; null where kernel.toml says nothing. With `refusal` where the
/// banks of a board, which a system says, have no such room.
Json memory_json(const VariantSpec& variant, const Resolved& found, MemoryUser user) {
  if (found.system) user.memory = found.system->overrides.memory;
  if (user.device_class != fabricmark::device::DeviceClass::kFpga) user.memory = {};
  const MemoryPlan plan(variant, found.parameters, user);
  if (plan.buffers().empty()) return nullptr;
  Json json{{"bytes", plan.bytes()},
            {"largest", plan.largest_bytes()},
            {"parameters", memory_parameters(found.spec, variant)}};
  try {
    plan.require_banks();
  } catch (const fabricmark::Error& error) {
    json["refusal"] = error_json(error);
  }
  return json;
}

Json resolved_json(const KernelSpec& spec, const Json& request) {
  DeviceFacts facts;
  facts.device_class = device_class(member<std::string>(request, "class", ""));
  fabricmark::device::DeviceInfo device;
  device.device_class = facts.device_class;
  facts.replicas = replicas_of(device);
  facts.cores.reset();
  if (request.contains("cores")) facts.cores = member<std::int64_t>(request, "cores", 1);
  facts.banks = member<std::int64_t>(request, "banks", 1);
  const fabricmark::device::BoardMemory memory = board_memory(request, facts.banks);
  facts.separate_banks = memory.separate_banks();
  if (request.contains("work_items")) facts.most_work_items = member<std::uint64_t>(request, "work_items", 1);
  if (request.contains("local_bytes")) facts.local_bytes = member<std::uint64_t>(request, "local_bytes", 1);
  facts.matrix_units = member<std::int64_t>(request, "matrix_units", 0);
  const Wanted wanted{.variant = member<std::string>(request, "variant", ""),
                      .bitstream = member<std::string>(request, "bitstream", ""),
                      .system = member<std::string>(request, "system", ""),
                      .bitstream_id = member<std::string>(request, "bitstream_id", ""),
                      .parameters = settings(request, spec)};
  const Resolved found = resolve(spec, facts, wanted);
  Json json{{"variant", found.variant}, {"banks", found.banks}};
  for (const ParameterSpec& one : spec.parameters)
    json["parameters"][one.name] = to_json(found.parameters.value(one.name));
  json["definitions"] = build_definitions(found.spec, found.parameters, facts.device_class);
  const VariantSpec& variant = spec.variant(found.variant);
  if (request.contains("ranks")) {
    const auto ranks = member<int>(request, "ranks", 1);
    if (ranks < 1) throw bad_use("a request's ranks are none", "use 1 or more");
    const Json needed = memory_json(variant, found,
                                    {.device_class = facts.device_class,
                                     .cores = facts.cores.value_or(1),
                                     .ranks = ranks,
                                     .memory = memory,
                                     .given = member<std::map<std::string, double>>(request, "numbers", {})});
    if (!needed.is_null()) json["memory"] = needed;
  }
  for (std::size_t number = 0; number < variant.entry_points.size(); ++number) {
    const std::string& name = variant.entry_points[number];
    const fabricmark::device::EntryPoint entry = entry_point(variant, name, found.parameters);
    const std::int64_t replicas = entry.is_replicated ? found.parameters.integer("replications") : 1;
    Json arguments = Json::array();
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      const ArgumentSpec& declared = variant.arguments.at(name).at(i);
      arguments.push_back({{"name", declared.name},
                           {"kind", name_of(entry.arguments[i].kind)},
                           {"access", declared.access},
                           {"bank", declared.bank},
                           {"banks", banks_json(variant, number, declared, replicas)}});
    }
    json["entry_points"].push_back(
        {{"name", name}, {"replicated", entry.is_replicated}, {"arguments", arguments}});
  }
  return json;
}

/// The kernel.toml files that were read, as batches ask for few of them often.
class Kernels {
 public:
  const KernelSpec& of(const std::string& benchmark) {
    const auto known = found_.find(benchmark);
    if (known != found_.end()) return known->second;
    if (benchmark.empty() || benchmark.find('/') != std::string::npos)
      throw bad_use("there is no benchmark '" + benchmark + "'", "name a folder of kernels/");
    return found_.emplace(benchmark, load_kernel_spec(kernels_folder() / benchmark / "kernel.toml"))
        .first->second;
  }

 private:
  std::map<std::string, KernelSpec> found_;
};

/// Without a device class: the kernel.toml itself, or where there are settings what these mean, each alone.
Json answer(Kernels& kernels, const Json& request) {
  if (!request.is_object()) throw bad_use("a request is no object", kSeeDocs);
  static const std::set<std::string> known{"benchmark", "class",      "cores",       "banks",
                                           "variant",   "bitstream",  "system",      "bitstream_id",
                                           "settings",  "work_items", "local_bytes", "ranks",
                                           "memory",    "numbers",    "matrix_units"};
  if (request.contains("collective")) return collective_json(request);
  if (request.contains("credit_link")) return credit_link_json(request);
  if (request.contains("simulate")) return simulate_json(request);
  require_known(request, known);
  const KernelSpec& spec = kernels.of(member<std::string>(request, "benchmark", ""));
  if (request.contains("class")) return resolved_json(spec, request);
  if (!request.contains("settings")) return kernel_json(spec);
  Json values = Json::object();
  for (const auto& [name, text] : settings(request, spec))
    values[name] = to_json(checked_text(*spec.find(name), text));
  return {{"parameters", values}};
}

Json answers(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  const auto requests = document.is_object() ? document.find("requests") : document.end();
  if (requests == document.end() || !requests->is_array())
    throw bad_use("standard input has no list of requests", kSeeDocs);
  Kernels kernels;
  Json found = Json::array();
  for (const Json& request : *requests) {
    try {
      found.push_back(answer(kernels, request));
    } catch (const fabricmark::Error& error) {
      found.push_back({{"error", error_json(error)}});
    }
  }
  return {{"answers", found}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      const std::string word = argv[1];
      if (word != "--help" && word != "--version")
        throw bad_use("unknown option '" + word + "'", "see --help");
      std::cout << (word == "--help" ? kUse : "fabricmark-describe " + fabricmark::version() + "\n");
      return 0;
    }
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    fabricmark::write_standard_output(answers(text).dump(-1, ' ', false, Json::error_handler_t::replace) +
                                      "\n");
    return 0;
  } catch (const fabricmark::Error& error) {
    std::cerr << "fabricmark-describe: error: " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}
