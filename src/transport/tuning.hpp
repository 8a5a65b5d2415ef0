#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "transport/pattern.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Sizes of messages that stand for all up to the next one: powers of 4, from 16 KiB on of 2, in bytes.
std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes);
/// The position in them of the size that stands for messages of `bytes`: the largest that is not above.
std::size_t size_class(std::size_t bytes);

/// Those up to the largest that any rank wants. Collective.
std::vector<std::size_t> agreed_sizes(Transport& transport, std::size_t largest_bytes);

/// The protocols of a transport for one size, and what an exchange took in each: the median of the rounds
/// that it was in, the slowest rank's seconds.
struct TunedSize {
  std::size_t bytes = 0;
  std::vector<std::string> protocols;
  std::vector<double> seconds;
  std::size_t best = 0;
};

/// How much is measured, and how.
struct Tuning {
  std::size_t largest_bytes = 0;
  /// Rounds in which all protocols of a size take their turns. Protocols that are behind leave theirs to the
  /// others.
  int rounds = 6;
  /// Sizes whose protocols do not differ clearly get up to 16 times as many, which take so long in all.
  double patience_seconds = 0.3;
  Pattern pattern = Pattern::kExchange;
  /// Called after each pass over all sizes with the number of those that another one follows for; on all
  /// ranks.
  std::function<void(std::size_t undecided)> told{};
};

/// Measures the transport's protocols against each other, as messages of this pattern, and has it take the
/// fastest of each size (protocol_race.hpp), or that of the next smaller size where it hardly takes longer. A
/// pass has one round of each size: what slows the machine down for a while does so for all of them. Sizes
/// from 4 to 256 bytes are measured as one, as they cost their commands alone. Returns these by size class;
/// none where the transport has nothing to choose. Collective; all ranks get the same.
std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning);

/// Has the transport take these for the first size classes.
void take_all(Transport& transport, const std::vector<std::string>& protocols);

/// Such as "protocols over host: eager, from 4096 bytes on mapped memory", by size class.
std::string choice_in_words(const Transport& transport, const std::vector<std::string>& protocols);

}  // namespace fabricmark::transport
