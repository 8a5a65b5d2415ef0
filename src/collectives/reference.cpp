#include "collectives/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/random_bits.hpp"
#include "collectives/elements.hpp"
#include "collectives/operation_kind.hpp"

namespace fabricmark::collectives {

namespace {

/// Calls `visit(Element{}, Value{})`: how an element is stored, and how it is computed with here.
template <typename Visit>
auto with_element(Type type, const Visit& visit) {
  switch (type) {
    case Type::kInt8:
      return visit(std::int8_t{}, std::int8_t{});
    case Type::kInt32:
      return visit(std::int32_t{}, std::int32_t{});
    case Type::kInt64:
      return visit(std::int64_t{}, std::int64_t{});
    case Type::kFloat16:
      return visit(std::uint16_t{}, double{});
    case Type::kFloat32:
      return visit(float{}, double{});
    case Type::kFloat64:
      break;
  }
  return visit(double{}, double{});
}

template <typename Element, typename Value>
Element stored(Value value) {
  if constexpr (std::is_same_v<Element, std::uint16_t>) {
    return half_of_float(static_cast<float>(value));
  } else {
    return static_cast<Element>(value);
  }
}

template <typename Element>
auto loaded(const std::byte* place) {
  Element element;
  std::memcpy(&element, place, sizeof element);
  if constexpr (std::is_same_v<Element, std::uint16_t>) {
    return static_cast<double>(float_of_half(element));
  } else if constexpr (std::is_floating_point_v<Element>) {
    return static_cast<double>(element);
  } else {
    return element;
  }
}

/// Inputs of one rank.
template <typename Element, typename Value>
class Source {
 public:
  Source(const Inputs& inputs, int rank)
      : numbers_(inputs.numbers),
        key_(mixed_bits(inputs.seed + kRandomStep * (static_cast<std::uint64_t>(rank) + 1))),
        parts_(parts_of(inputs)),
        rank_(static_cast<std::uint64_t>(rank) % parts_),
        seed_part_(static_cast<std::int64_t>(inputs.seed % parts_)) {}
  Value operator()(std::size_t index) const {
    if (numbers_ == Inputs::Numbers::kDistinct) return distinct(index);
    const std::uint64_t bits = mixed_bits(key_ + kRandomStep * index);
    if constexpr (std::is_integral_v<Value>) {
      return static_cast<Value>(bits);
    } else if (numbers_ == Inputs::Numbers::kWhole) {
      return static_cast<Value>(static_cast<int>(bits >> 60U) - 8);
    } else {
      constexpr unsigned kBits = std::is_same_v<Element, double> ? 53 : 24;
      constexpr auto kMiddle = std::int64_t{1} << kBits;
      const auto steps = static_cast<std::int64_t>(bits >> (63U - kBits)) - kMiddle;
      // What the type cannot hold is no input.
      return rounded(static_cast<Value>(steps) / static_cast<Value>(kMiddle));
    }
  }

 private:
  static Value rounded(Value value) {
    const auto element = stored<Element>(value);
    return loaded<Element>(reinterpret_cast<const std::byte*>(&element));
  }
  /// One part is the seed's, from 0 on, the other the rank's and the place's, from there down: both are as
  /// many numbers as any sum of them leaves room for.
  Value distinct(std::size_t index) const {
    const std::uint64_t drawn = ((mixed_bits(kRandomStep * index) >> 32U) * parts_) >> 32U;
    const std::uint64_t of_place = drawn + rank_ - (drawn + rank_ >= parts_ ? parts_ : 0);
    return static_cast<Value>(seed_part_ - static_cast<std::int64_t>(of_place));
  }
  static std::uint64_t parts_of(const Inputs& inputs) {
    constexpr std::uint64_t kMost = std::is_same_v<Element, std::int8_t>     ? 127
                                    : std::is_same_v<Element, std::uint16_t> ? 2048
                                                                             : std::uint64_t{1} << 24U;
    return std::max<std::uint64_t>(kMost / static_cast<std::uint64_t>(std::max(inputs.summands, 1)), 1) + 1;
  }

  Inputs::Numbers numbers_;
  std::uint64_t key_;
  std::uint64_t parts_;
  std::uint64_t rank_;
  std::int64_t seed_part_;
};

/// A result's element, and the sum of the sizes of what it is made of.
template <typename Value>
struct Expected {
  Value value{};
  double sizes = 0;
};

/// The results of one rank, by their index.
template <typename Element, typename Value>
class Definition {
 public:
  Definition(const Inputs& inputs, const Call& call, int rank, int ranks)
      : call_(call), rank_(rank), origin_(kind_of(call.operation).origin) {
    for (int other = 0; other < ranks; ++other) sources_.emplace_back(inputs, other);
  }
  Expected<Value> operator()(std::size_t index) const {
    const Origin origin = origin_(call_, rank_, index);
    Expected<Value> made;
    made.value = sources_[origin.rank](origin.index);
    made.sizes = std::abs(static_cast<double>(made.value));
    if (!reduces(call_.operation)) return made;
    for (std::size_t other = 1; other < sources_.size(); ++other) {
      const Value value = sources_[other](origin.index);
      made.sizes += std::abs(static_cast<double>(value));
      made.value = reduced(made.value, value);
    }
    return made;
  }

 private:
  [[nodiscard]] Value reduced(Value a, Value b) const {
    if (call_.reduction == Reduction::kMin) return std::min(a, b);
    if (call_.reduction == Reduction::kMax) return std::max(a, b);
    if constexpr (std::is_integral_v<Value>) {
      using Unsigned = std::make_unsigned_t<Value>;
      return static_cast<Value>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }

  const Call& call_;
  int rank_;
  Origin (*origin_)(const Call& call, int rank, std::size_t index);
  std::vector<Source<Element, Value>> sources_;
};

/// Relative error that is allowed to a result, by the sum of the sizes of what it is made of.
double bound_of(const Inputs& inputs, const Call& call, int ranks, Type wire) {
  if (inputs.numbers != Inputs::Numbers::kFractions) return 0;
  const double on_wire = std::max(epsilon_of(wire), epsilon_of(call.result.type));
  if (reduces(call.operation) && call.reduction == Reduction::kSum) return ranks * on_wire;
  return wire == call.result.type ? 0 : on_wire;
}

/// Of an element; infinity for a NaN and for what must be exact and is not.
double error_by_bound(double expected, double actual, double bound) {
  const double error = std::abs(expected - actual);
  if (error == 0) return 0;
  if (!(error <= std::numeric_limits<double>::max()) || bound == 0)
    return std::numeric_limits<double>::infinity();
  return error / bound;
}

template <typename Value>
double error_of(const Expected<Value>& expected, Value actual, double bound) {
  if constexpr (std::is_integral_v<Value>) {
    return expected.value == actual ? 0 : std::numeric_limits<double>::infinity();
  } else {
    return error_by_bound(expected.value, actual, bound * expected.sizes);
  }
}

template <typename Element, typename Value>
Comparison compared(const Inputs& inputs, const Call& call, int rank, int ranks, double bound) {
  Comparison made;
  made.checked = result_count(call.operation, rank, call.root, ranks, call.count);
  const Definition<Element, Value> definition(inputs, call, rank, ranks);
  for (std::size_t index = 0; index < made.checked; ++index) {
    Expected<Value> expected = definition(index);
    const auto actual = static_cast<Value>(loaded<Element>(call.result.data + index * sizeof(Element)));
    const double error = error_of(expected, actual, bound);
    if (error > 1) ++made.wrong;
    if (error > made.worst) {
      made.worst = error;
      made.worst_index = index;
      made.expected = static_cast<double>(expected.value);
      made.actual = static_cast<double>(actual);
    }
  }
  return made;
}

}  // namespace

void fill_input(const Inputs& inputs, int rank, const View& elements, std::size_t first) {
  with_element(elements.type, [&]<typename Element, typename Value>(Element, Value) {
    const Source<Element, Value> source(inputs, rank);
    for (std::size_t i = 0; i < elements.count; ++i) {
      const auto element = stored<Element>(source(first + i));
      std::memcpy(elements.data + i * sizeof element, &element, sizeof element);
    }
  });
}

void fill_expected(const Inputs& inputs, const Call& call, int rank, int ranks, const View& elements,
                   std::size_t first) {
  if (call.operation == Operation::kBarrier) return;
  with_element(elements.type, [&]<typename Element, typename Value>(Element, Value) {
    const Definition<Element, Value> definition(inputs, call, rank, ranks);
    for (std::size_t i = 0; i < elements.count; ++i) {
      const auto element = stored<Element>(definition(first + i).value);
      std::memcpy(elements.data + i * sizeof element, &element, sizeof element);
    }
  });
}

Comparison compare(const Inputs& inputs, const Call& call, int rank, int ranks, Type wire) {
  if (result_count(call.operation, rank, call.root, ranks, call.count) == 0) return {};
  const double bound = bound_of(inputs, call, ranks, wire);
  return with_element(call.result.type, [&]<typename Element, typename Value>(Element, Value) {
    return compared<Element, Value>(inputs, call, rank, ranks, bound);
  });
}

Comparison compare(const Inputs& inputs, const Call& call, int rank, int ranks) {
  return compare(inputs, call, rank, ranks, call.result.type);
}

}  // namespace fabricmark::collectives
