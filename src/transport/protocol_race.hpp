#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fabricmark::transport {

/// Finds the fastest of several protocols by rounds in which each has its turn. What counts of a round are
/// the times relative to the others', so that a machine that changes its speed between rounds misleads
/// nobody. A protocol that is behind leaves: one that takes half as long again as the leader in both of its
/// first rounds, in six where they last less than a millisecond, or one that takes 2 % more and was slower in
/// so many rounds that chance would say so once in twenty (sign test, which a stall in one round does not
/// mislead).
class ProtocolRace {
 public:
  explicit ProtocolRace(std::size_t protocols);

  /// The protocols of the next round.
  [[nodiscard]] const std::vector<std::size_t>& running() const { return running_; }
  /// What they took in it, in the order of `running`.
  void add(const std::vector<double>& seconds);
  /// The protocol with the smallest times relative to the others', of which the middle half counts; `usual`,
  /// where that is still in the race and takes hardly longer.
  [[nodiscard]] std::size_t best(std::optional<std::size_t> usual) const;
  /// [protocol] median of its rounds, which are the first ones.
  [[nodiscard]] std::vector<double> medians() const;

 private:
  [[nodiscard]] std::size_t leader() const;
  [[nodiscard]] bool is_behind(std::size_t protocol, std::size_t leader) const;
  [[nodiscard]] std::vector<double> relative(std::size_t protocol, std::size_t other) const;
  [[nodiscard]] std::vector<double> round_means() const;

  std::vector<std::size_t> running_;
  std::vector<std::vector<double>> seconds_;  // [protocol][round]
};

/// Whether as many successes of so many attempts, or more, come by chance alone less than once in twenty.
bool is_no_chance(std::size_t successes, std::size_t attempts);

}  // namespace fabricmark::transport
