#include "runtime/variant_choice.hpp"

#include <algorithm>

namespace fabricmark::runtime {

namespace {

bool is_over_fabric(const std::map<std::string, std::string>& given) {
  const auto transport = given.find("transport");
  const TransportSpec* const spec = transport == given.end() ? nullptr : find_transport(transport->second);
  return spec != nullptr && !spec->is_between_memories();
}

}  // namespace

std::string usual_variant(const KernelSpec& spec, device::DeviceClass device_class) {
  const auto own = std::ranges::find_if(spec.variants, [&](const VariantSpec& variant) {
    return std::ranges::count(variant.usual_on, device::class_name(device_class)) > 0;
  });
  if (own != spec.variants.end()) return own->name;
  const std::string preferred = device_class == device::DeviceClass::kGpu ? "throughput" : "base";
  const bool has_it = std::ranges::any_of(
      spec.variants, [&](const VariantSpec& variant) { return variant.name == preferred; });
  return has_it ? preferred : spec.variants.front().name;
}

std::string variant_of_transport(const KernelSpec& spec, const std::map<std::string, std::string>& given) {
  if (!is_over_fabric(given)) return {};
  auto found = std::ranges::find_if(spec.variants, &VariantSpec::is_dataflow);
  if (found == spec.variants.end()) {
    found = std::ranges::find_if(spec.variants,
                                 [](const VariantSpec& variant) { return variant.over_fabric.has_value(); });
  }
  return found == spec.variants.end() ? std::string() : found->name;
}

void default_over_fabric(KernelSpec& spec, const std::string& variant,
                         const std::map<std::string, std::string>& given) {
  const auto found = std::ranges::find(spec.variants, variant, &VariantSpec::name);
  if (!found->over_fabric || !is_over_fabric(given)) return;
  for (const auto& [parameter, values] : *found->over_fabric) found->defaults[parameter] = values;
}

}  // namespace fabricmark::runtime
