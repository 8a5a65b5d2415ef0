// What the benches of the RTL share: ports of any width, random numbers, and the loop over seeds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "verilated.h"

namespace fabricmark::bench {

using Bytes = std::vector<std::uint8_t>;

/// What a bench has found wrong.
class Found : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void expect(bool is_right, const std::string& what) {
  if (!is_right) throw Found(what);
}

/// The storage of a port: Verilator has integers up to 64 bits, and arrays of words.
template <class Port>
auto* storage(Port& port) {
  if constexpr (std::is_integral_v<Port>) {
    return &port;
  } else {
    return port.data();
  }
}

template <class Port>
void set_bytes(Port& port, const Bytes& bytes, std::size_t at = 0) {
  std::memcpy(reinterpret_cast<std::uint8_t*>(storage(port)) + at, bytes.data(), bytes.size());
}

template <class Port>
Bytes get_bytes(Port& port, std::size_t count, std::size_t at = 0) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(storage(port)) + at;
  return {from, from + count};
}

/// Bits of a port, 64 at most.
template <class Port>
std::uint64_t get_bits(Port& port, std::size_t at, std::size_t count) {
  std::uint64_t bits = 0;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(storage(port));
  for (std::size_t i = 0; i < count; ++i)
    bits |= static_cast<std::uint64_t>((from[(at + i) / 8] >> (at + i) % 8) & 1U) << i;
  return bits;
}

template <class Port>
void set_bits(Port& port, std::size_t at, std::size_t count, std::uint64_t bits) {
  auto* const to = reinterpret_cast<std::uint8_t*>(storage(port));
  for (std::size_t i = 0; i < count; ++i) {
    const auto mask = static_cast<std::uint8_t>(1U << (at + i) % 8);
    std::uint8_t& byte = to[(at + i) / 8];
    byte = static_cast<std::uint8_t>((bits >> i & 1U) != 0 ? byte | mask : byte & ~mask);
  }
}

inline std::uint64_t ones(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : draw_(seed) {}
  unsigned number(unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(draw_);
  }
  bool chance(double probability) {
    return probability >= 1 || (probability > 0 && std::bernoulli_distribution(probability)(draw_));
  }
  /// 1 in one of three cases, else any share from `least` per cent on.
  double rate(unsigned least) { return number(0, 2) == 0 ? 1.0 : number(least, 100) / 100.0; }
  Bytes bytes(std::size_t count) {
    Bytes result(count);
    for (std::uint8_t& byte : result) byte = static_cast<std::uint8_t>(draw_());
    return result;
  }

 private:
  std::mt19937_64 draw_;
};

/// A clock cycle: outputs follow from the inputs before the edge, which comes next.
template <class Model>
void settle(Model& model) {
  model.clk = 0;
  model.eval();
}
template <class Model>
void edge(Model& model) {
  model.clk = 1;
  model.eval();
}

template <class Model>
void reset(Model& model, int cycles = 1) {
  model.rst = 1;
  for (int i = 0; i < cycles; ++i) {
    settle(model);
    edge(model);
  }
  model.rst = 0;
}

/// Usage of all benches: FIRST_SEED RUNS [FAULT]; prints the first thing that is wrong and ends with 1. `run`
/// takes a seed and a fault, and returns what it has stepped, in cycles.
template <class Run>
int over_seeds(int argc, char** argv, const char* name, Run run) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t runs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20;
  const unsigned fault = argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 0;
  std::uint64_t cycles = 0;
  Verilated::randReset(2);  // what no reset sets begins as anything
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    Verilated::randSeed(static_cast<int>(seed + 1));
    try {
      cycles += run(seed, fault);
    } catch (const Found& found) {
      std::printf("%s, seed %llu, fault %u: found: %s\n", name, static_cast<unsigned long long>(seed), fault,
                  found.what());
      return 1;
    }
  }
  std::printf("%s, fault %u: %llu runs, %llu cycles\n", name, fault, static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(cycles));
  return 0;
}

}  // namespace fabricmark::bench
