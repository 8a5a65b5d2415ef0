#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "base/steady_seconds.hpp"
#include "microbench/common/sampling.hpp"
#include "microbench/omb/carrier.hpp"
#include "microbench/omb/content.hpp"
#include "runtime/result.hpp"
#include "runtime/shared_clock.hpp"

namespace fabricmark::microbench::omb {

/// Means of an operation that does not block, over all ranks; seconds, as OMB names them.
struct Overlap {
  double overall = 0;
  double compute = 0;  ///< without the looks
  double init = 0;
  double test = 0;
  double wait = 0;
  /// Of the pure time of the operation, how much the computation hid [%].
  [[nodiscard]] double share(double pure_seconds) const;
};

/// What one size took, and whether its results are right; on the root of all ranks.
struct Row {
  std::size_t bytes = 0;
  collectives::Type type = collectives::Type::kInt8;
  std::size_t window = 1;   ///< messages of one measured round
  std::string algorithm{};  ///< of an operation
  runtime::Result::PerRank
      seconds{};  ///< [rank][iteration] of one message or operation; none: only took part
  /// The same of rates that several pairs have together, [rank][batch], and when each began: so that pairs
  /// that take turns take the time of all turns. Empty for all other programs.
  runtime::Result::PerRank batch_seconds{};
  runtime::Result::PerRank batch_starts{};
  std::vector<double> spans{};  ///< of these [iteration], where each was timed alone
  std::optional<Overlap> overlap{};
  /// [rank] by the wall clock of the emulation, where `seconds` are modelled; else empty.
  std::vector<double> emulation_seconds{};
  Sampled sampled{};  ///< iterations whose contents were checked, of those that were done
  Found found{};      ///< of all ranks

  [[nodiscard]] bool is_modelled() const { return !emulation_seconds.empty(); }

  /// Over the ranks that measured: mean, least and greatest of their means.
  [[nodiscard]] double mean() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double greatest() const;
  /// Of the messages of all pairs: what their rate is of.
  [[nodiscard]] double together() const;
  /// Of the iterations, each the mean of the ranks that measured, or all pairs' time; nearest rank.
  [[nodiscard]] double percentile(int percent) const;
  [[nodiscard]] std::size_t measuring() const;  ///< ranks
};

/// Carries out a program for one size after the other.
class Measurer : public Interface {
 public:
  /// Collective: complete on the root. Throws what the way throws.
  virtual Row measure(std::size_t bytes, collectives::Type type) = 0;
  /// The largest message, of all sizes of the options, that all ranks have memory for.
  [[nodiscard]] virtual std::size_t largest() const = 0;
  [[nodiscard]] virtual device::DeviceInfo device() const = 0;
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
  [[nodiscard]] virtual runtime::Result::Kernel kernel() const { return {}; }
};

std::unique_ptr<Measurer> measure_pairs(runtime::Communicator& ranks, const Options& options);
std::unique_ptr<Measurer> measure_collective(runtime::Communicator& ranks, const Options& options);
std::unique_ptr<Measurer> measure_boards(runtime::Communicator& ranks, const Options& options);

/// Bytes that all messages of a window, which are checked one by one, may take.
inline constexpr std::size_t kCheckedBytes = std::size_t{32} << 20U;

/// Seeds of contents begin with one of so many.
inline constexpr std::size_t kSeeds = std::size_t{1} << 40U;

/// Samples of a size in the result file: means of so many parts of its iterations, or of each where there are
/// fewer.
inline constexpr std::size_t kBatches = 10;
/// So many iterations as [first, last) of a batch.
struct Batch {
  std::size_t first = 0;
  std::size_t last = 0;
};
std::vector<Batch> batches_of(std::size_t iterations);

/// When each iteration began on this rank; `are_apart`: after a barrier each, else after one for each stretch
/// of them, which are named by their first ones.
struct Begun {
  std::vector<double> starts{};
  bool are_apart = false;
  std::vector<std::size_t> stretches{};
};
/// Adds to a row, which has the seconds of all ranks, the batches of its pairs. Collective.
void add_batches(runtime::Communicator& ranks, const runtime::SharedClock& clock, const Begun& begun,
                 Row& row);

/// The wall clock.
inline double now() { return steady_seconds(); }

}  // namespace fabricmark::microbench::omb
