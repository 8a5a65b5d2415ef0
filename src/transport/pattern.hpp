#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "transport/transport.hpp"

namespace fabricmark::transport {

/// How the messages of a program follow each other, on which the fastest protocol depends too.
enum class Pattern {
  kExchange,  ///< a message to both neighbours of a ring at once, and nothing near it
  kInARow,    ///< the same, one exchange after the other, each with a place of its own in the memory
  kOneWay,    ///< between two ranks in one direction at a time
};
inline constexpr std::array kPatterns{Pattern::kExchange, Pattern::kInARow, Pattern::kOneWay};

/// "exchange", "in-a-row" or "one-way".
std::string name(Pattern pattern);
/// The pattern of this name. Throws Error (bad use) otherwise.
Pattern pattern_named(const std::string& name);

/// Times messages that follow each other as a program's do. Its calls are collective.
class PatternTimer {
 public:
  /// For messages of up to `largest_bytes`, the same on all ranks.
  PatternTimer(Transport& transport, Pattern pattern, std::size_t largest_bytes);
  /// One turn with messages of `bytes`: seconds of an exchange, of a message where these go one way, on this
  /// rank.
  double turn(std::size_t bytes);

 private:
  /// Exchanges that follow each other in one turn.
  [[nodiscard]] std::size_t count(std::size_t bytes) const;
  void exchange(std::size_t bytes, std::size_t place);
  void to_and_fro(std::size_t bytes);

  Transport& transport_;
  Pattern pattern_;
  std::size_t room_;  // bytes, of each direction
  std::unique_ptr<Memory> outgoing_, incoming_;
};

}  // namespace fabricmark::transport
