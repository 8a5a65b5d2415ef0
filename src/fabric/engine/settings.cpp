#include "fabric/engine/settings.hpp"

namespace fabricmark::engine {}
