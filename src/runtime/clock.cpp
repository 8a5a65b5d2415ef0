#include "runtime/clock.hpp"

namespace fabricmark::runtime {

const char* name_of(TimeKind kind) {
  switch (kind) {
    case TimeKind::kMeasured:
      return "measured";
    case TimeKind::kEmulated:
      return "emulated";
    case TimeKind::kModelled:
      return "modelled";
  }
  return "unknown";
}

}  // namespace fabricmark::runtime
