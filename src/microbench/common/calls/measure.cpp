#include "microbench/common/calls/measure.hpp"

#include <array>

namespace fabricmark::microbench {

std::unique_ptr<Measurer> make_measurer(runtime::Communicator& ranks, const Options& options) {
  constexpr std::array kMakers{over_engine, over_links, over_transport};
  return kMakers.at(static_cast<std::size_t>(options.medium))(ranks, options);
}

}  // namespace fabricmark::microbench
