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

/// Bytes that were received, from `start` of a message on, beside what they should be.
struct Received {
  std::span<const std::byte> bytes{};
  Content content{};
  std::size_t start = 0;
};

/// How verdicts name a byte.
std::string place_of(const Content& content, std::size_t byte);

/// Compares all bytes and adds to a verdict. `step`: in front of the place.
void check_message(const Received& received, const std::string& step, runtime::Verdict& verdict);

/// What is the same over all transports: the messages' sizes, contents and verdicts, how many are in a row,
/// faults of values, and what becomes of the times of the exchanges.
class Exchanges : public runtime::Benchmark {
 public:
  explicit Exchanges(const runtime::Context& context);

  void prepare(int repetition) override;
  std::vector<runtime::Verdict> validate_repetition() override { return validate(); }
  /// Of each direction, and of the steps where there are any.
  std::vector<runtime::Verdict> validate() override;

  /// Bandwidth and latency of the exchange of each size; the latency of each of steps() behind them.
  [[nodiscard]] std::vector<runtime::Metric> metrics() const override;
  /// The effective bandwidth (eq. 4.1).
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions) const override;
  /// Faults are made while messages are exchanged.
  void inject(const runtime::Fault& /*fault*/) override {}

 protected:
  static constexpr const char* kExchange = "exchange";
  static constexpr std::size_t kRoomBytes = std::size_t{4} << 20;  // for a part's messages of a direction

  /// Steps of an exchange that are timed one by one.
  [[nodiscard]] virtual std::vector<std::string> steps() const { return {}; }
  static std::string region_name(const std::string& operation, std::size_t bytes);
  /// How many messages are in a row in a timed region; `usual` where the user does not say.
  [[nodiscard]] std::size_t messages(std::size_t bytes, std::size_t usual) const;
  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }
  [[nodiscard]] runtime::Communicator& ranks() const { return ranks_; }
  /// Whether there is anything to make and to compare.
  [[nodiscard]] bool computes() const { return computes_; }
  /// Rank to the right (0) or to the left (1).
  [[nodiscard]] int neighbour(std::size_t direction) const;
  /// What a content calls repetition: each has exchanges, and behind them perhaps steps.
  [[nodiscard]] std::uint32_t series_number(bool is_of_steps) const {
    return 2 * prepared_ + (is_of_steps ? 1 : 0);
  }
  /// Of a message of the exchanges or of the steps.
  [[nodiscard]] Content content(int sender, std::size_t direction, std::size_t bytes,
                                bool is_of_steps = false, std::size_t place = 0) const;
  [[nodiscard]] runtime::Verdict& verdict(std::size_t direction) { return verdicts_.at(direction); }
  [[nodiscard]] runtime::Verdict& of_steps() { return of_steps_; }
  /// Without anything found.
  void prepare_verdicts();
  /// Throws Error (bad use) where `--inject-fault` has a target that is none of these, or makes no value of
  /// it wrong.
  void require_target(const std::vector<std::string>& targets) const;
  /// Whether `--inject-fault` is to make values wrong in this repetition, at this target, of messages of this
  /// size: the longest ones.
  [[nodiscard]] bool corrupts(std::size_t bytes, const std::string& target = "") const;
  /// Makes received bytes wrong as the fault says.
  void corrupt(std::span<std::byte> message) const;

 private:
  [[nodiscard]] runtime::Metric latency(const std::string& operation, std::size_t bytes) const;

  const runtime::Context& context_;
  runtime::Communicator& ranks_;
  bool computes_;
  std::size_t most_messages_;
  std::vector<std::size_t> sizes_;
  std::uint32_t prepared_ = 0;           ///< repetitions, the warm-up's too
  std::optional<runtime::Fault> fault_;  ///< of values, in this repetition
  Verdicts verdicts_;
  runtime::Verdict of_steps_;
};

}  // namespace fabricmark::b_eff
