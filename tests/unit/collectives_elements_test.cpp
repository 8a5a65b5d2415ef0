#include <CL/cl_half.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "collectives/elements.hpp"
#include "collectives/operation.hpp"
#include "collectives/reference.hpp"
#include "support.hpp"

namespace fabricmark::collectives {

namespace {

using test::mentions;
using test::message_of;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Element>
Element combined(Type type, Reduction reduction, Element a, Element b) {
  // At odd addresses, as in packets; the result on one of the operands.
  std::vector<std::byte> memory(1 + 2 * sizeof(Element));
  std::memcpy(&memory[1], &a, sizeof a);
  std::memcpy(&memory[1 + sizeof a], &b, sizeof b);
  combine(type, reduction, &memory[1], &memory[1 + sizeof a], &memory[1], 1);
  Element result;
  std::memcpy(&result, &memory[1], sizeof result);
  return result;
}

TEST(CollectiveElements, HaveNamesAndSizes) {
  for (const Type type : kTypes) EXPECT_EQ(type_named(std::string(name_of(type))), type);
  for (const Reduction reduction : kReductions)
    EXPECT_EQ(reduction_named(std::string(name_of(reduction))), reduction);
  EXPECT_TRUE(mentions(message_of([] { type_named("int16"); }), "int32, int64, float16"));
  EXPECT_TRUE(mentions(message_of([] { reduction_named("product"); }), "sum, min, max"));
  EXPECT_EQ(bytes_of(Type::kFloat16), 2U);
  EXPECT_EQ(bytes_of(Type::kInt32) + bytes_of(Type::kFloat32), 8U);
  EXPECT_EQ(bytes_of(Type::kInt64) + bytes_of(Type::kFloat64), 16U);
}

TEST(CollectiveElements, SumsOfWholeNumbersWrapAround) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  constexpr auto kMost64 = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(combined<std::int32_t>(Type::kInt32, Reduction::kSum, kMost, 1), -kMost - 1);
  EXPECT_EQ(combined<std::int64_t>(Type::kInt64, Reduction::kSum, -2, -kMost64), kMost64);
  EXPECT_EQ(combined<std::int8_t>(Type::kInt8, Reduction::kSum, 127, 2), -127);
  EXPECT_EQ(combined<std::int32_t>(Type::kInt32, Reduction::kMin, -3, 2), -3);
  EXPECT_EQ(combined<std::int64_t>(Type::kInt64, Reduction::kMax, -3, kMost64), kMost64);
}

TEST(CollectiveElements, TheOrderOfNaNAndZerosDecidesNothing) {
  const auto both = [](Reduction reduction, float a, float b) {
    const float one = combined(Type::kFloat32, reduction, a, b);
    const float other = combined(Type::kFloat32, reduction, b, a);
    EXPECT_TRUE(std::isnan(one) ? std::isnan(other)
                                : std::bit_cast<std::uint32_t>(one) == std::bit_cast<std::uint32_t>(other));
    return one;
  };
  for (const Reduction reduction : kReductions) {
    EXPECT_TRUE(std::isnan(both(reduction, kNaN, 1)));
    EXPECT_TRUE(std::isnan(both(reduction, -kInfinity, kNaN)));
  }
  EXPECT_TRUE(std::signbit(both(Reduction::kMin, -0.0F, 0.0F)));
  EXPECT_FALSE(std::signbit(both(Reduction::kMax, -0.0F, 0.0F)));
  EXPECT_EQ(both(Reduction::kMin, 1, 2), 1);
  EXPECT_EQ(both(Reduction::kMax, 1, 2), 2);
}

TEST(CollectiveElements, HalvesAreRoundedToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    if (std::isnan(value)) {
      EXPECT_EQ(half_of_float(value), half | 0x200U) << bits;
      continue;
    }
    ASSERT_EQ(value, cl_half_to_float(half)) << bits;
    ASSERT_EQ(half_of_float(value), half) << bits;
    // The number itself, and all about the middle between it and the next.
    const float middle = std::abs(value) < kInfinity ? (value + float_of_half(half + 1U)) / 2 : value;
    for (const float near : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 2 * middle)}) {
      if (std::isnan(near)) continue;
      ASSERT_EQ(half_of_float(near), cl_half_from_float(near, CL_HALF_RTE)) << bits << ' ' << near;
    }
  }
  EXPECT_EQ(half_of_float(65504), 0x7BFFU);
  EXPECT_EQ(half_of_float(65519.996F), 0x7BFFU);
  EXPECT_EQ(half_of_float(65520), 0x7C00U);
  EXPECT_EQ(half_of_float(-1e30F), 0xFC00U);
  EXPECT_EQ(half_of_float(0x1p-25F), 0U);
  EXPECT_EQ(half_of_float(0x1.8p-25F), 1U);
}

TEST(CollectiveElements, HalvesAreReducedAsFloats) {
  const auto sum = [](float a, float b) {
    return float_of_half(combined(Type::kFloat16, Reduction::kSum, half_of_float(a), half_of_float(b)));
  };
  EXPECT_EQ(sum(2048, 1), 2048);  // between 2048 and 2050: to even
  EXPECT_EQ(sum(2050, 1), 2052);
  EXPECT_EQ(sum(65504, 16), kInfinity);
  EXPECT_EQ(float_of_half(combined(Type::kFloat16, Reduction::kMin, half_of_float(-1), half_of_float(1))),
            -1);
}

TEST(CollectiveElements, TravelAtHalfTheirSize) {
  const std::vector<float> values{1, -2.5F, 1e6F, 0x1p-24F, 1.0F + 0x1p-12F};
  std::vector<std::uint16_t> halves(values.size());
  std::vector<float> back(values.size());
  float32_to_float16(reinterpret_cast<const std::byte*>(values.data()),
                     reinterpret_cast<std::byte*>(halves.data()), values.size());
  float16_to_float32(reinterpret_cast<const std::byte*>(halves.data()),
                     reinterpret_cast<std::byte*>(back.data()), values.size());
  EXPECT_EQ(back, (std::vector<float>{1, -2.5F, kInfinity, 0x1p-24F, 1}));
}

TEST(CollectiveOperation, HasNameOperandsAndBusBandwidth) {
  for (const Operation operation : kOperations)
    EXPECT_EQ(operation_named(std::string(name_of(operation))), operation);
  EXPECT_TRUE(mentions(message_of([] { operation_named("scan"); }), "broadcast, scatter"));
  EXPECT_EQ(own_count(Operation::kScatter, 2, 2, 4, 10), 40U);
  EXPECT_EQ(own_count(Operation::kScatter, 1, 2, 4, 10), 0U);
  EXPECT_EQ(result_count(Operation::kScatter, 1, 2, 4, 10), 10U);
  EXPECT_EQ(result_count(Operation::kAllGather, 1, 2, 4, 10), 40U);
  EXPECT_EQ(own_count(Operation::kBarrier, 1, 2, 4, 10), 0U);
  EXPECT_DOUBLE_EQ(bus_bytes(Operation::kAllReduce, 4, 100), 150);
  EXPECT_DOUBLE_EQ(bus_bytes(Operation::kReduceScatter, 4, 100), 300);
  EXPECT_DOUBLE_EQ(bus_bytes(Operation::kBroadcast, 4, 100), 100);
}

TEST(CollectiveOperation, RefusesOtherOperands) {
  Call call{.operation = Operation::kScatter, .root = 1, .count = 3};
  call.result = {nullptr, 3, Type::kInt32};
  call.own = {nullptr, 6, Type::kInt32};
  check(call, 1, 2);
  call.own.count = 5;
  EXPECT_TRUE(mentions(message_of([&] { check(call, 1, 2); }), "own of scatter has 5 elements; give it 6"));
  check(call, 0, 2);  // has no such operand
  call.own = {nullptr, 6, Type::kInt64};
  EXPECT_TRUE(mentions(message_of([&] { check(call, 1, 2); }), "int64"));
  call.root = 2;
  EXPECT_TRUE(mentions(message_of([&] { check(call, 0, 2); }), "root 2"));
}

/// What a rank brings, as numbers that all types but the whole ones have exactly.
std::int64_t input(const Inputs& inputs, int rank, std::size_t index, Type type) {
  std::vector<std::byte> memory(bytes_of(type));
  fill_input(inputs, rank, {memory.data(), 1, type}, index);
  if (type == Type::kInt64) {
    std::int64_t value = 0;
    std::memcpy(&value, memory.data(), sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, memory.data(), sizeof value);
  return static_cast<std::int64_t>(value);
}

/// From the definition of each operation, in words of its own.
std::int64_t defined(const Inputs& inputs, const Call& call, int rank, int ranks, std::size_t index,
                     Type type) {
  const std::size_t part = index / call.count;
  const std::size_t within = index % call.count;
  const auto sum = [&](std::size_t of) {
    std::uint64_t all = 0;
    for (int other = 0; other < ranks; ++other)
      all += static_cast<std::uint64_t>(input(inputs, other, of, type));
    return static_cast<std::int64_t>(all);
  };
  switch (call.operation) {
    case Operation::kBroadcast:
      return input(inputs, call.root, index, type);
    case Operation::kScatter:
      return input(inputs, call.root, static_cast<std::size_t>(rank) * call.count + index, type);
    case Operation::kGather:
    case Operation::kAllGather:
      return input(inputs, static_cast<int>(part), within, type);
    case Operation::kReduce:
    case Operation::kAllReduce:
      return sum(index);
    case Operation::kReduceScatter:
      return sum(static_cast<std::size_t>(rank) * call.count + index);
    case Operation::kAllToAll:
      return input(inputs, static_cast<int>(part), static_cast<std::size_t>(rank) * call.count + within,
                   type);
    case Operation::kBarrier:
      break;
  }
  return 0;
}

TEST(CollectiveReference, IsTheDefinition) {
  constexpr int kRanks = 3;
  for (const Operation operation : kOperations) {
    for (const Type type : {Type::kInt64, Type::kFloat32}) {
      for (int rank = 0; rank < kRanks; ++rank) {
        Call call{.operation = operation, .root = 1, .count = 5};
        const std::size_t count = result_count(operation, rank, call.root, kRanks, call.count);
        std::vector<std::byte> memory(count * bytes_of(type));
        call.result = {memory.data(), count, type};
        for (std::size_t index = 0; index < count; ++index) {
          const std::int64_t whole = defined({}, call, rank, kRanks, index, type);
          const auto number = static_cast<float>(whole);
          if (type == Type::kInt64) {
            std::memcpy(&memory[index * sizeof whole], &whole, sizeof whole);
          } else {
            std::memcpy(&memory[index * sizeof number], &number, sizeof number);
          }
        }
        EXPECT_EQ(compare({}, call, rank, kRanks).wrong, 0U) << name_of(operation);
        EXPECT_EQ(compare({}, call, rank, kRanks).checked, count);
        std::vector<std::byte> filled(memory.size());
        fill_expected({}, call, rank, kRanks, {filled.data(), count, type});
        EXPECT_EQ(filled, memory) << name_of(operation);
      }
    }
  }
}

TEST(CollectiveReference, InputsDifferByRankIndexAndSeed) {
  const auto of = [](std::uint64_t seed, int rank, std::size_t index) {
    return input({.seed = seed}, rank, index, Type::kInt64);
  };
  EXPECT_NE(of(1, 0, 0), of(2, 0, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 1, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 0, 1));
  EXPECT_NE(of(1, 0, 1), of(1, 1, 0));
}

/// A result of all_reduce as it must be.
struct Filled {
  explicit Filled(Type type, Inputs::Numbers numbers)
      : inputs{.numbers = numbers}, memory(kCount * bytes_of(type)) {
    call.result = {memory.data(), kCount, type};
    fill_expected(inputs, call, 0, kRanks, call.result);
  }
  static constexpr int kRanks = 4;
  static constexpr std::size_t kCount = 100;
  Inputs inputs;
  Call call{.operation = Operation::kAllReduce, .count = kCount};
  std::vector<std::byte> memory;
};

TEST(CollectiveReference, FindsOneWrongElement) {
  for (const Type type : kTypes) {
    for (const auto numbers : {Inputs::Numbers::kWhole, Inputs::Numbers::kFractions}) {
      Filled made(type, numbers);
      EXPECT_EQ(compare(made.inputs, made.call, 0, Filled::kRanks).wrong, 0U);
      const std::size_t place = 41 * bytes_of(type) + bytes_of(type) - 1;
      made.memory[place] ^= std::byte{0x40};  // the sign's neighbour: a wrong exponent
      const Comparison found = compare(made.inputs, made.call, 0, Filled::kRanks);
      EXPECT_EQ(found.wrong, 1U) << name_of(type);
      EXPECT_EQ(found.worst_index, 41U);
      EXPECT_NE(found.expected, found.actual);
      EXPECT_GT(found.worst, 1);
    }
  }
}

TEST(CollectiveReference, BoundsSumsOfFractionsByTheirRoundings) {
  Filled made(Type::kFloat32, Inputs::Numbers::kFractions);
  const auto wrong_with = [&](float factor, Type wire) {
    fill_expected(made.inputs, made.call, 0, Filled::kRanks, made.call.result);
    float value = 0;
    std::memcpy(&value, made.memory.data(), sizeof value);
    value *= 1 + factor;
    std::memcpy(made.memory.data(), &value, sizeof value);
    return compare(made.inputs, made.call, 0, Filled::kRanks, wire).wrong;
  };
  EXPECT_EQ(wrong_with(0x1p-23F, Type::kFloat32), 0U);
  EXPECT_EQ(wrong_with(0x1p-10F, Type::kFloat32), 1U);
  EXPECT_EQ(wrong_with(0x1p-10F, Type::kFloat16), 0U);
  EXPECT_EQ(wrong_with(0.5F, Type::kFloat16), 1U);
  made.call.reduction = Reduction::kMax;
  EXPECT_EQ(wrong_with(0x1p-23F, Type::kFloat32), 1U) << "nothing is rounded";
}

}  // namespace

}  // namespace fabricmark::collectives
