#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fabric/pattern.hpp"
#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Sizes of messages that stand for all up to the next one: powers of 4, from 16 KiB on of 2, in bytes.
std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes);
/// The position in them of the size that stands for messages of `bytes`: the largest that is not above.
std::size_t size_class(std::size_t bytes);

/// The ways of a transport for one size, and what an exchange took in each: the median of the rounds that it
/// was in, the slowest rank's seconds.
struct TunedSize {
  std::size_t bytes = 0;
  std::vector<std::string> ways;
  std::vector<double> seconds;
  std::size_t best = 0;
};

/// What was chosen for a size, beside all ways that it was chosen from.
struct CheckedSize {
  std::size_t bytes = 0;
  std::string chosen;
  std::vector<std::string> ways;             ///< the first: whole messages, each rank with its own memory
  std::vector<std::vector<double>> seconds;  ///< [way, at last what was chosen][round], the slowest rank's
};

/// How much is measured, and how.
struct Tuning {
  std::size_t largest_bytes = 0;
  /// In which all ways take turns; twice as many for short messages. Ways that are behind leave the others
  /// their turns.
  int rounds = 6;
  Pattern pattern = Pattern::kExchange;
  std::size_t in_a_row = 3;  ///< exchanges of a turn, see PatternTimer
  /// Called after each size; on all ranks.
  std::function<void(const TunedSize&)> told{};
  std::function<void(const CheckedSize&)> checked{};
};

/// Measures the transport's ways against each other, as messages of this pattern, and has it take the fastest
/// of each size (way_race.hpp). Returns these by size class; none where the transport has nothing to choose.
/// Collective; all ranks get the same.
std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning);

/// Measures what the transport takes, `chosen` by size class, against each of its ways in turns, `rounds`
/// times each. None where nothing was chosen. Collective; all ranks get the same.
std::vector<CheckedSize> check_ways(Transport& transport, const std::vector<std::string>& chosen,
                                    const Tuning& tuning);

/// Has the transport take these for the first size classes.
void take_all(Transport& transport, const std::vector<std::string>& ways);

/// Such as "over host, messages go whole, from 4096 bytes on from mapped memory", by size class.
std::string choice_in_words(const Transport& transport, const std::vector<std::string>& ways);

}  // namespace fabricmark::fabric
