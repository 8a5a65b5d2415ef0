#include "collectives/elements.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace fabricmark::collectives {

float float_of_half(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFU;
  // The exponent is too small by 112, as that of a subnormal number, which this makes a normal one.
  const float scaled = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0U;
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

std::uint16_t half_of_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  // Just below the half of an even number rounds down, from there on up; the carry is the next exponent.
  const std::uint32_t normal = (magnitude - (112U << 23U) + 0xFFFU + ((magnitude >> 13U) & 1U)) >> 13U;
  // The last bit of numbers from 0.5 to 1 is 2^-24, as that of subnormal halves: the addition rounds.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  const std::uint32_t not_a_number = 0x7E00U | ((magnitude >> 13U) & 0x3FFU);
  // By masks: of branches compilers would not make several at once.
  const auto chosen = [](bool is_first, std::uint32_t first, std::uint32_t second) {
    const std::uint32_t mask = 0U - static_cast<std::uint32_t>(is_first);
    return (first & mask) | (second & ~mask);
  };
  std::uint32_t made = chosen(magnitude < 0x38800000U, subnormal, normal);  // 2^-14
  made = chosen(magnitude >= 0x47800000U, 0x7C00U, made);                   // 65536
  made = chosen(magnitude > 0x7F800000U, not_a_number, made);
  return static_cast<std::uint16_t>(made | sign);
}

namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t bytes = 0;
  double epsilon = 0;
};
const TypeFacts& facts_of(Type type) {
  static constexpr std::array<TypeFacts, kTypes.size()> kFacts{{{"int32", 4, 0},
                                                                {"int64", 8, 0},
                                                                {"float16", 2, 0x1p-10},
                                                                {"float32", 4, 0x1p-23},
                                                                {"float64", 8, 0x1p-52},
                                                                {"int8", 1, 0}}};
  return kFacts.at(static_cast<std::size_t>(type));
}

/// Calls `apply` with each pair, which may lie anywhere in memory.
template <typename Element, typename Apply>
void combine_as(const std::byte* a, const std::byte* b, std::byte* result, std::size_t count, Apply apply) {
  for (std::size_t i = 0; i < count; ++i) {
    Element left;
    Element right;
    std::memcpy(&left, a + i * sizeof(Element), sizeof left);
    std::memcpy(&right, b + i * sizeof(Element), sizeof right);
    const Element made = apply(left, right);
    std::memcpy(result + i * sizeof(Element), &made, sizeof made);
  }
}

template <typename Element>
Element sum_of(Element a, Element b) {
  if constexpr (std::is_same_v<Element, std::uint16_t>) {  // a half
    return half_of_float(float_of_half(a) + float_of_half(b));
  } else if constexpr (std::is_integral_v<Element>) {
    using Unsigned = std::make_unsigned_t<Element>;  // wraps around, which signed numbers must not
    return static_cast<Element>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

/// Numbers in floating point as the whole ones of their bits, which compilers compare several at once: the
/// order of these is that of the numbers, once those of negative ones are turned round.
template <typename Bits, Bits kInfinity>
struct FloatingOrder {
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static Bits key(Bits bits) {
    const auto sign =
        static_cast<Bits>(bits >> std::numeric_limits<Bits>::digits);  // all ones where negative
    return static_cast<Bits>(bits ^ (sign & kMagnitude));
  }
  static bool is_nan(Bits bits) { return (bits & kMagnitude) > kInfinity; }
  /// `b` where it is a NaN, `a` where that is one.
  static Bits unless_nan(Bits a, Bits b, Bits chosen) {
    const Bits one = is_nan(b) ? b : chosen;
    return is_nan(a) ? a : one;
  }
};

template <typename Element>
struct WholeOrder {
  static Element key(Element element) { return element; }
  static Element unless_nan(Element /*a*/, Element /*b*/, Element chosen) { return chosen; }
};

/// @tparam Ordered how elements are stored where they are compared
template <typename Element, typename Ordered, typename Order>
void combine_by(Reduction reduction, const std::byte* a, const std::byte* b, std::byte* result,
                std::size_t count) {
  switch (reduction) {
    case Reduction::kSum:
      return combine_as<Element>(a, b, result, count, sum_of<Element>);
    case Reduction::kMin:
      return combine_as<Ordered>(a, b, result, count, [](Ordered one, Ordered other) {
        return Order::unless_nan(one, other, Order::key(one) < Order::key(other) ? one : other);
      });
    case Reduction::kMax:
      return combine_as<Ordered>(a, b, result, count, [](Ordered one, Ordered other) {
        return Order::unless_nan(one, other, Order::key(one) > Order::key(other) ? one : other);
      });
  }
}

template <typename Element>
constexpr auto kCombineWhole = combine_by<Element, Element, WholeOrder<Element>>;
template <typename Element, typename Bits, Bits kInfinity>
constexpr auto kCombineFloating = combine_by<Element, Bits, FloatingOrder<Bits, kInfinity>>;

}  // namespace

std::size_t bytes_of(Type type) { return facts_of(type).bytes; }
std::string_view name_of(Type type) { return facts_of(type).name; }
double epsilon_of(Type type) { return facts_of(type).epsilon; }

std::string_view name_of(Reduction reduction) {
  constexpr std::array<std::string_view, kReductions.size()> kNames{"sum", "min", "max"};
  return kNames.at(static_cast<std::size_t>(reduction));
}

Type type_named(const std::string& name) { return kind_named(kTypes, name, "type of elements"); }
Reduction reduction_named(const std::string& name) { return kind_named(kReductions, name, "reduction"); }

void combine(Type type, Reduction reduction, const std::byte* a, const std::byte* b, std::byte* result,
             std::size_t count) {
  switch (type) {
    case Type::kInt8:
      return kCombineWhole<std::int8_t>(reduction, a, b, result, count);
    case Type::kInt32:
      return kCombineWhole<std::int32_t>(reduction, a, b, result, count);
    case Type::kInt64:
      return kCombineWhole<std::int64_t>(reduction, a, b, result, count);
    case Type::kFloat16:
      return kCombineFloating<std::uint16_t, std::int16_t, 0x7C00>(reduction, a, b, result, count);
    case Type::kFloat32:
      return kCombineFloating<float, std::int32_t, 0x7F800000>(reduction, a, b, result, count);
    case Type::kFloat64:
      return kCombineFloating<double, std::int64_t, 0x7FF0000000000000>(reduction, a, b, result, count);
  }
}

void float32_to_float16(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    const std::uint16_t half = half_of_float(value);
    std::memcpy(to + i * sizeof half, &half, sizeof half);
  }
}

void float16_to_float32(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, from + i * sizeof half, sizeof half);
    const float value = float_of_half(half);
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace fabricmark::collectives
