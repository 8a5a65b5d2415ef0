#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/b_eff/content.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::b_eff {

/// Both directions of the ring: to the right neighbour and to the left one.
inline constexpr std::size_t kDirections = 2;

inline constexpr const char* kWrongBytes = "wrong bytes";  // measure of verdicts

/// Messages in a row between kernels: modelled time is exact, so that more of them change nothing.
inline constexpr std::size_t kMessagesOfKernels = 4;

using Verdicts = std::array<runtime::Verdict, kDirections>;

/// What all ways of the messages have in common: their sizes, how many are in a row, and what becomes of the
/// times of the exchanges.
class Exchanges : public runtime::Benchmark {
 public:
  explicit Exchanges(const runtime::Context& context);

  /// Bandwidth and latency of the exchange of each size; the latency of each of steps() behind them.
  [[nodiscard]] std::vector<runtime::Metric> metrics() const override;
  /// The effective bandwidth (eq. 4.1).
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::LapSeconds>& laps) const override;
  /// Faults are made while messages are exchanged.
  void inject(const runtime::Fault& /*fault*/) override {}

 protected:
  static constexpr const char* kExchange = "exchange";
  static constexpr std::size_t kRoomBytes = std::size_t{4} << 20;  // for a part's messages of a direction

  /// Steps of an exchange that are timed one by one.
  [[nodiscard]] virtual std::vector<std::string> steps() const { return {}; }
  static std::string lap_name(const std::string& operation, std::size_t bytes);
  /// How many messages are in a row in a timed part; `usual` where the user does not say.
  [[nodiscard]] std::size_t messages(std::size_t bytes, std::size_t usual) const;
  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
  [[nodiscard]] runtime::Communicator& ranks() const { return ranks_; }
  /// Whether there is anything to make and to compare.
  [[nodiscard]] bool computes() const { return computes_; }
  /// Rank to the right (0) or to the left (1).
  [[nodiscard]] int neighbour(std::size_t direction) const;
  /// One for each direction, without anything found.
  static Verdicts new_verdicts(const std::string& measure);

 private:
  [[nodiscard]] runtime::Metric latency(const std::string& operation, std::size_t bytes) const;

  runtime::Communicator& ranks_;
  bool computes_;
  std::size_t most_messages_;
  std::vector<std::size_t> sizes_;
};

/// Compares all bytes of a message and adds to a verdict. `step`: in front of the place.
void check_message(std::span<const std::byte> message, const Content& content, const std::string& step,
                   runtime::Verdict& verdict);

}  // namespace fabricmark::b_eff
