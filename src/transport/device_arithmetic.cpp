#include "transport/device_arithmetic.hpp"

#include <string>

#include "collectives/elements.hpp"
#include "device/device_class.hpp"
#include "device/program.hpp"

namespace fabricmark::collectives {

namespace {

// ELEMENT as it lies in memory. Sums: of whole numbers they wrap around, halves are added as floats. The
// least and the greatest, by the bits: see collectives/elements.cpp.
constexpr const char* kSource = R"cl(
#ifdef IS_HALF
float float_of_half(ushort half_bits) {
  const uint magnitude = half_bits & 0x7FFFu;
  const float scaled = as_float(magnitude << 13) * 0x1p112f;
  const uint special = magnitude >= 0x7C00u ? 0x7F800000u : 0u;
  return as_float(as_uint(scaled) | special | ((half_bits & 0x8000u) << 16));
}
ushort half_of_float(float value) {
  const uint bits = as_uint(value);
  const uint magnitude = bits & 0x7FFFFFFFu;
  uint made = (magnitude - (112u << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  if (magnitude < 0x38800000u) made = as_uint(as_float(magnitude) + 0.5f) - 0x3F000000u;
  if (magnitude >= 0x47800000u) made = 0x7C00u;
  if (magnitude > 0x7F800000u) made = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  return (ushort)(made | ((bits >> 16) & 0x8000u));
}
#endif
#ifdef INFINITE
ELEMENT key(ELEMENT bits) { return bits < 0 ? (ELEMENT)(bits ^ GREATEST) : bits; }
int is_nan(ELEMENT bits) { return (bits & GREATEST) > INFINITE; }
#else
ELEMENT key(ELEMENT element) { return element; }
int is_nan(ELEMENT element) { return 0; }
#endif
ELEMENT combined(ELEMENT a, ELEMENT b) {
#if REDUCTION == 0 && defined(IS_HALF)
  return half_of_float(float_of_half(a) + float_of_half(b));
#elif REDUCTION == 0
  return a + b;
#elif REDUCTION == 1
  return is_nan(a) ? a : is_nan(b) ? b : key(a) < key(b) ? a : b;
#else
  return is_nan(a) ? a : is_nan(b) ? b : key(a) > key(b) ? a : b;
#endif
}
__kernel void combine(__global const ELEMENT* a, ulong a_first, __global const ELEMENT* b, ulong b_first,
                      __global ELEMENT* result, ulong result_first, ulong count) {
  const ulong i = get_global_id(0);
  if (i < count) result[result_first + i] = combined(a[a_first + i], b[b_first + i]);
}
)cl";

device::Definitions whole(Reduction reduction, const std::string& type) {
  return {{"ELEMENT", reduction == Reduction::kSum ? "u" + type : type}};
}

/// `bits`: the signed whole number of the same size, its greatest value, and an infinity of the type.
device::Definitions floating(Reduction reduction, const std::string& type, const std::string& bits,
                             const std::string& greatest, const std::string& infinite) {
  if (reduction == Reduction::kSum) return {{"ELEMENT", type}};
  return {{"ELEMENT", bits}, {"GREATEST", greatest}, {"INFINITE", infinite}};
}

device::Definitions definitions(Type type, Reduction reduction) {
  device::Definitions made;
  switch (type) {
    case Type::kInt8:
      made = whole(reduction, "char");
      break;
    case Type::kInt32:
      made = whole(reduction, "int");
      break;
    case Type::kInt64:
      made = whole(reduction, "long");
      break;
    case Type::kFloat16:
      made = floating(reduction, "ushort", "short", "0x7FFF", "0x7C00");
      made["IS_HALF"] = "1";
      break;
    case Type::kFloat32:
      made = floating(reduction, "float", "int", "0x7FFFFFFF", "0x7F800000");
      break;
    case Type::kFloat64:
      made = floating(reduction, "double", "long", "0x7FFFFFFFFFFFFFFFL", "0x7FF0000000000000L");
      break;
  }
  made["REDUCTION"] = std::to_string(static_cast<int>(reduction));
  return made;
}

}  // namespace

bool DeviceArithmetic::has(Type type, Reduction reduction) const {
  const device::DeviceInfo& info = device_.info();
  const bool builds =
      info.device_class == device::DeviceClass::kCpu || info.device_class == device::DeviceClass::kGpu;
  return builds && (type != Type::kFloat64 || reduction != Reduction::kSum || info.has_double);
}

device::backend::Kernel& DeviceArithmetic::kernel(Type type, Reduction reduction) {
  std::unique_ptr<device::backend::Kernel>& found = kernels_[{type, reduction}];
  if (!found) {
    const std::string name =
        "the reduction " + std::string(name_of(reduction)) + " of " + std::string(name_of(type));
    found = device::entry_point(
        device::build_from_source(device_, kSource, name, definitions(type, reduction)).program, "combine");
  }
  return *found;
}

void DeviceArithmetic::combine(Type type, Reduction reduction, const transport::Region& a,
                               const transport::Region& b, const transport::Region& result) {
  constexpr std::size_t kGroup =
      256;  // work-items; a runtime divides a prime number of them into single ones
  const std::size_t bytes = bytes_of(type);
  const auto count = static_cast<std::uint64_t>(result.bytes / bytes);
  device::backend::Kernel& kernel = this->kernel(type, reduction);
  unsigned index = 0;
  for (const transport::Region& operand : {a, b, result}) {
    const auto first = static_cast<std::uint64_t>(operand.offset / bytes);
    kernel.set_memory(index++, operand.buffer->device().implementation());
    kernel.set_number(index++, &first, sizeof first);
  }
  kernel.set_number(index, &count, sizeof count);
  const device::Geometry geometry{.global = (count + kGroup - 1) / kGroup * kGroup, .local = kGroup};
  kernel.start(queue_.implementation(), geometry, nullptr, nullptr);
  queue_.finish();
}

void DeviceArithmetic::copy(const transport::Region& from, const transport::Region& to) {
  from.buffer->device().copy_to(queue_, to.buffer->device(), from.bytes, from.offset, to.offset);
  queue_.finish();
}

}  // namespace fabricmark::collectives
