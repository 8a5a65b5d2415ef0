#pragma once

#include "base/modelled_time.hpp"

namespace fabricmark::network {

using modelled::from_seconds;
using modelled::kEndOfTime;
using modelled::later;
using modelled::period;
using modelled::seconds;
using modelled::throw_beyond_clock;
using modelled::Time;
using modelled::times;
using modelled::transfer_time;

}  // namespace fabricmark::network
