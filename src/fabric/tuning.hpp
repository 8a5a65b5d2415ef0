#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Sizes of messages that stand for all up to the largest: powers of 4, from 16 KiB on of 2, in bytes.
std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes);
/// The position in them of the size that stands for messages of `bytes`: the largest that is not above.
std::size_t size_class(std::size_t bytes);

/// Measures ways of a transport against each other: a ring in which every rank exchanges with both
/// neighbours, as b_eff does. Collective; all ranks get the same numbers.
class Tuner {
 public:
  Tuner(Transport& transport, runtime::Communicator& ranks, std::size_t largest_bytes);
  /// Seconds of an exchange of messages of `bytes`, by way: the best of several, in turns, of which the
  /// slowest rank counts. `use(way)` makes the transport take one.
  std::vector<double> seconds(std::size_t bytes, std::size_t ways,
                              const std::function<void(std::size_t)>& use);

 private:
  double one(std::size_t bytes);

  Transport& transport_;
  runtime::Communicator& ranks_;
  std::unique_ptr<Memory> outgoing_, incoming_;
  std::size_t room_;
};

}  // namespace fabricmark::fabric
