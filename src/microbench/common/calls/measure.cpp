#include "microbench/common/calls/measure.hpp"

#include <stdexcept>

namespace fabricmark::microbench {

std::unique_ptr<Measurer> make_measurer(runtime::Communicator& ranks, const Options& options) {
  switch (options.way) {
    case Way::kEngine:
      return over_engine(ranks, options);
    case Way::kLinks:
      return over_links(ranks, options);
    case Way::kTransport:
      return over_transport(ranks, options);
  }
  throw std::logic_error("a way without a measurer");
}

}  // namespace fabricmark::microbench
