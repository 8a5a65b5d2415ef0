#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fabricmark::device {

class Buffer;

/// What a kernel takes for an argument: memory, or a number of one of OpenCL's types.
enum class ArgumentKind { kBuffer, kUchar, kUint, kUlong, kFloat, kDouble };

/// Their names in kernel.toml; those of numbers are OpenCL's.
inline constexpr std::array kArgumentKinds{
    std::pair{std::string_view("buffer"), ArgumentKind::kBuffer},
    std::pair{std::string_view("uchar"), ArgumentKind::kUchar},
    std::pair{std::string_view("uint"), ArgumentKind::kUint},
    std::pair{std::string_view("ulong"), ArgumentKind::kUlong},
    std::pair{std::string_view("float"), ArgumentKind::kFloat},
    std::pair{std::string_view("double"), ArgumentKind::kDouble},
};

constexpr std::string_view name_of(ArgumentKind kind) {
  for (const auto& [name, known] : kArgumentKinds) {
    if (known == kind) return name;
  }
  return "";
}

/// An argument of a kernel, as kernel.toml declares it.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::kUint;
};

/// A kernel of a program with all its arguments, in order.
struct EntryPoint {
  std::string name;
  std::vector<Argument> arguments;
  bool is_replicated = false;  ///< a program may hold several, by other names (replicas.hpp)
};

/// What the host gives for an argument: memory or a number, which becomes one of the declared type.
class ArgumentValue {
 public:
  ArgumentValue(const Buffer& buffer) : value_(&buffer) {}  // NOLINT(google-explicit-constructor)
  template <std::unsigned_integral T>
  ArgumentValue(T number) : value_(std::uint64_t{number}) {}  // NOLINT(google-explicit-constructor)
  ArgumentValue(double number) : value_(number) {}            // NOLINT(google-explicit-constructor)

  using Held = std::variant<const Buffer*, std::uint64_t, double>;
  [[nodiscard]] const Held& held() const { return value_; }

 private:
  Held value_;
};

using NamedArguments = std::initializer_list<std::pair<std::string_view, ArgumentValue>>;

}  // namespace fabricmark::device
