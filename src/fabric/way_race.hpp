#pragma once

#include <cstddef>
#include <vector>

namespace fabricmark::fabric {

/// Finds the fastest of several ways by rounds in which each has its turn. A way that is behind leaves, and
/// the others get its turns. A large difference of both median and least time is seen after a few rounds. For
/// a small one, of 2 % and more, a way must have been slower than the leader in so many rounds that chance
/// would say so once in twenty (sign test, which a stall in one round does not mislead).
class WayRace {
 public:
  /// `turns` of all ways together, at least one of each.
  WayRace(std::size_t ways, std::size_t turns);

  /// Whether there is still something to find out, and there are turns for a whole round.
  [[nodiscard]] bool goes_on() const { return running_.size() > 1 && turns_ >= running_.size(); }
  /// The ways of the next round.
  [[nodiscard]] const std::vector<std::size_t>& running() const { return running_; }
  /// What they took in it, in the order of `running`.
  void add(const std::vector<double>& seconds);
  /// The first way as long as it is not clearly behind; else the one with the smallest median.
  [[nodiscard]] std::size_t best() const;
  /// [way] median of its rounds, which are the first ones.
  [[nodiscard]] std::vector<double> medians() const;

 private:
  [[nodiscard]] std::size_t leader() const;
  [[nodiscard]] bool is_behind(std::size_t way, std::size_t leader) const;

  std::size_t turns_;
  std::vector<std::size_t> running_;
  std::vector<std::vector<double>> seconds_;  // [way][round]
};

/// Whether as many successes of so many attempts, or more, come by chance alone less than once in twenty.
bool is_no_chance(std::size_t successes, std::size_t attempts);

}  // namespace fabricmark::fabric
