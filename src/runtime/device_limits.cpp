// Defaults that the device can run: ranges, and what a work-group takes.
#include "runtime/device_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/expression.hpp"
#include "runtime/numbers.hpp"

namespace fabricmark::runtime {

namespace {

/// The value of an expression of whole parameters.
std::uint64_t needed(const std::string& text, const Parameters& parameters) {
  std::map<std::string, double> known = numbers_of(parameters);
  known.try_emplace("value_bytes", sizeof(float));
  try {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, evaluate(text, known)));
  } catch (const std::invalid_argument& error) {
    throw bad_use(fmt::format("what a work-group takes, '{}', has no value: {}", text, error.what()),
                  "choose smaller parameters of the kernel");
  }
}

std::vector<std::int64_t> whole_values(const ParameterSpec& spec) {
  std::vector<std::int64_t> found;
  for (const Value& value : spec.values) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) found.push_back(*integer);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::optional<Misfit> misfit_of_work_group(const VariantSpec& variant, const DeviceFacts& facts,
                                           const Parameters& parameters) {
  const WorkGroupSpec& group = variant.work_group;
  const std::string own_class = device::class_name(facts.device_class);
  if (!group.on.empty() && std::ranges::find(group.on, own_class) == group.on.end()) return std::nullopt;
  const auto misfit = [&](const std::string& text, std::optional<std::uint64_t> there,
                          const char* what) -> std::optional<Misfit> {
    if (text.empty() || !there) return std::nullopt;
    const std::uint64_t wanted = needed(text, parameters);
    if (wanted <= *there) return std::nullopt;
    std::vector<std::string> shrink;
    std::vector<std::string> used;
    std::vector<std::string> options;
    for (const std::string& name : group.shrink) {
      if (text.find(name) == std::string::npos) continue;
      shrink.push_back(name);
      used.push_back(fmt::format("{} = {}", name, to_text(parameters.value(name))));
      options.push_back(option_name(name));
    }
    return Misfit{
        bad_use(fmt::format("{} makes work-groups that take {} {}, and {} has no more than {}",
                            fmt::join(used, ", "), wanted, what, facts.device, *there),
                fmt::format("choose a smaller {}, or another --variant", fmt::join(options, " or "))),
        shrink};
  };
  if (auto found = misfit(group.work_items, facts.most_work_items, "work-items")) return found;
  return misfit(group.local_bytes, facts.local_bytes, "bytes of local memory");
}

std::int64_t nearest_allowed(const ParameterSpec& spec, const VariantSpec& variant, std::int64_t number) {
  if (const auto largest = variant.largest.find(spec.name); largest != variant.largest.end())
    number = std::min(number, static_cast<std::int64_t>(largest->second));
  if (spec.minimum) number = std::max(number, static_cast<std::int64_t>(*spec.minimum));
  if (spec.maximum) number = std::min(number, static_cast<std::int64_t>(*spec.maximum));
  const std::vector<std::int64_t> values = whole_values(spec);
  if (values.empty()) return number;
  const auto above = std::ranges::upper_bound(values, number);
  return above == values.begin() ? values.front() : *(above - 1);
}

std::optional<std::int64_t> next_smaller(const ParameterSpec& spec, std::int64_t number, bool in_steps) {
  const std::vector<std::int64_t> values = whole_values(spec);
  if (!values.empty()) {
    const auto place = std::ranges::lower_bound(values, number);
    return place == values.begin() ? std::nullopt : std::optional(*(place - 1));
  }
  const std::int64_t smaller = in_steps ? number - 1 : number / 2;
  const auto least = static_cast<std::int64_t>(spec.minimum.value_or(1));
  return smaller < least ? std::nullopt : std::optional(smaller);
}

}  // namespace fabricmark::runtime
