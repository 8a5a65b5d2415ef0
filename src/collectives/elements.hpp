#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "collectives/moves.hpp"

/// Elements in raw memory, which needs no alignment: they lie as packets left them.
namespace fabricmark::collectives {

inline constexpr std::array kTypes{Type::kInt32,   Type::kInt64,   Type::kFloat16,
                                   Type::kFloat32, Type::kFloat64, Type::kInt8};
inline constexpr std::array kReductions{Reduction::kSum, Reduction::kMin, Reduction::kMax};

/// "int32", "int64", "float16", "float32", "float64", "int8".
[[nodiscard]] std::string_view name_of(Type type);
/// "sum", "min", "max".
[[nodiscard]] std::string_view name_of(Reduction reduction);
/// That of the kinds whose name it is. Throws Error (bad use) with the names that there are.
template <typename Kind, std::size_t Count>
Kind kind_named(const std::array<Kind, Count>& kinds, const std::string& name, const char* what) {
  std::vector<std::string_view> names;
  for (const Kind kind : kinds) {
    if (name_of(kind) == name) return kind;
    names.push_back(name_of(kind));
  }
  throw bad_use(fmt::format("there is no {} '{}'", what, name),
                fmt::format("use {}", fmt::join(names, ", ")));
}
Type type_named(const std::string& name);
Reduction reduction_named(const std::string& name);

/// Distance from 1 to the next number of the type; 0 for whole numbers.
[[nodiscard]] double epsilon_of(Type type);

/// An IEEE 754 binary16 number, by its bits.
[[nodiscard]] float float_of_half(std::uint16_t half);
/// Rounds to nearest, ties to even; a NaN stays one, with the upper bits of its payload.
[[nodiscard]] std::uint16_t half_of_float(float value);

/// result[i] = reduction(a[i], b[i]) for `count` elements; `result` may be `a` or `b`, and overlaps neither
/// otherwise.
///
/// Sums of whole numbers wrap around. float16 is reduced as float32 and rounded once, to nearest, ties to
/// even. The least and the greatest are those of IEEE 754-2019 (`minimum`, `maximum`): a NaN on any side
/// gives a NaN, and -0 is less than +0, so that no result but a NaN's payload depends on the order of ranks.
void combine(Type type, Reduction reduction, const std::byte* a, const std::byte* b, std::byte* result,
             std::size_t count);

/// Between float32 and float16, for messages that travel at half their size: to nearest, ties to even, beyond
/// 65504 to infinity. `to` does not overlap `from`.
void float32_to_float16(const std::byte* from, std::byte* to, std::size_t count);
void float16_to_float32(const std::byte* from, std::byte* to, std::size_t count);

}  // namespace fabricmark::collectives
