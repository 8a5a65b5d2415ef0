#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::microbench {

/// So many of a loop's iterations are checked, where it has as many: if one in twenty is wrong, wherever
/// these are, none of them is drawn in one run of 28000.
inline constexpr std::size_t kSampledIterations = 200;

/// How much of what was done has been checked. What is done in part counts as that part.
struct Sampled {
  double checked = 0;
  double of = 0;
  void add(double share) {
    checked += share;
    ++of;
  }
};

/// Draws which iterations of a measured loop are checked: nobody beneath can know them before the run, and
/// all ranks draw the same. Checked iterations come between those that are counted, which nothing is done
/// for: neither their memory nor their clock knows of the check.
class Sampling {
 public:
  /// Collective.
  explicit Sampling(runtime::Communicator& ranks);

  /// One of `count` numbers from 0 on.
  std::size_t below(std::size_t count);
  /// `count` of the numbers below `of`, in their order.
  std::vector<std::size_t> some(std::size_t count, std::size_t of);

  /// Goes through a loop: calls `count` for iterations [first, last) after another, and between them `check`
  /// with how many are to be checked there. The loop is cut into equal parts, each with a check at a place
  /// that is drawn, so that nothing that lasts for two parts is missed. Parts are at least `least`
  /// iterations, for loops whose clock is to be read seldom.
  void go(std::size_t iterations, std::size_t least,
          const std::function<void(std::size_t first, std::size_t last)>& count,
          const std::function<void(std::size_t checks)>& check);

 private:
  std::mt19937_64 engine_;
};

}  // namespace fabricmark::microbench
