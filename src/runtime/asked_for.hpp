#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"

namespace fabricmark::runtime {

/// What a run was asked to be, by who started it: `fabricmark` says it in variables, a launcher in its own.
/// What runs is compared with it, so that nothing is measured under another's name.

/// The launcher of this process and how many it started, where its variables say so.
struct Launched {
  std::string launcher;
  int processes = 1;
};
std::optional<Launched> launched();

/// Throws Error (environment) that names the launcher and a remedy where the `ranks` of a run, processes of a
/// launcher or not, are others than were asked for (FABRICMARK_EXPECT_RANKS), or where each process is a run
/// of its own though its launcher started several: each would do all of it, and one's result would stand for
/// all.
void check_ranks(int ranks, bool are_processes);

/// Throws Error (environment) where the device is another than was asked for by its name
/// (FABRICMARK_EXPECT_DEVICE).
void check_device(const device::DeviceInfo& info);

}  // namespace fabricmark::runtime
