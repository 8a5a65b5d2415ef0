#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Sizes of messages that stand for all up to the next one: powers of 4, from 16 KiB on of 2, in bytes.
std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes);
/// The position in them of the size that stands for messages of `bytes`: the largest that is not above.
std::size_t size_class(std::size_t bytes);

/// The ways of a transport for one size, and what an exchange took in each: the slowest rank's best seconds.
struct TunedSize {
  std::size_t bytes = 0;
  std::vector<std::string> ways;
  std::vector<double> seconds;
  std::size_t best = 0;
};

/// How much is measured.
struct Tuning {
  std::size_t largest_bytes = 0;
  int rounds = 5;  ///< in which all ways take turns
  /// Instead of a ring: of each two ranks the first one sends a message, the other one sends it back; half of
  /// that time counts. For measuring alone, as the programs of the suite send both ways at once.
  bool is_one_way = false;
  /// Called after each size; on all ranks.
  std::function<void(const TunedSize&)> told{};
};

/// Measures the transport's ways against each other, a ring in which every rank exchanges with both
/// neighbours as b_eff does, and has it take the fastest of each size. Ways that take twice as long as the
/// fastest are left out after two rounds. Returns these by size class; none
/// where the transport has nothing to choose. Collective; all ranks get the same.
std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning);

/// Such as "over host, messages go whole, from 4096 bytes on from mapped memory", by size class.
std::string choice_in_words(const Transport& transport, const std::vector<std::string>& ways);

}  // namespace fabricmark::fabric
