#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/operation.hpp"

namespace fabricmark::microbench::omb {

class Pair;

/// What a program's text consists of, and which options it takes.
enum class Family : std::uint8_t {
  kLatency,     ///< messages of a pair, there and back
  kBandwidth,   ///< many messages of a pair at a time
  kRate,        ///< the same of several pairs, and messages a second
  kCollective,  ///< an operation of all ranks
  kOverlap,     ///< one that does not block, beside computation
};

/// One of the programs: a row of the table in programs.cpp.
struct Program {
  std::string name;       ///< behind fm_, as OMB's behind osu_
  std::string title{};    ///< as OMB prints it: "Latency Test"
  std::string summary{};  ///< what is measured, for `fabricmark list`
  Family family = Family::kCollective;

  // Of messages.
  bool has_all_pairs = false;  ///< of all ranks, not of ranks 0 and 1 alone
  /// What one rank of a pair does that is measured once. Null for a collective operation.
  void (*round)(Pair& pair) = nullptr;
  int windows = 0;          ///< messages of a round are so many windows of them; 0: one message
  double parts = 1;         ///< of a round's time one counts: a message goes there and back in two
  bool is_one_way = false;  ///< only the second rank gets messages, and answers

  // Of collective operations.
  collectives::Operation operation = collectives::Operation::kBarrier;
  bool has_counts = false;  ///< ranks say how much each of them has, as in the calls of MPI that end in v

  bool is_in_short_set = false;  ///< `fabricmark run micro` starts it

  [[nodiscard]] bool is_collective() const { return round == nullptr; }
  [[nodiscard]] bool has_sizes() const {
    return !is_collective() || operation != collectives::Operation::kBarrier;
  }
  [[nodiscard]] bool reduces() const { return is_collective() && collectives::reduces(operation); }
};

/// All, in the order of their names.
[[nodiscard]] std::span<const Program> programs();
/// By its name with or without fm_. Throws Error (bad use) with those that there are.
const Program& program_named(const std::string& name);

}  // namespace fabricmark::microbench::omb
