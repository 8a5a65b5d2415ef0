// How a library of SYCL kernels, compiled ahead of time, names them to the host that loads it: dlsym of
// "fm_entry_points", "fm_entry_point_count" and "fm_is_emulated" (python/fabricmark/build/icpx.py writes it,
// src/device/sycl/plugin/library.cpp reads it). No header of SYCL is needed for it.
#ifndef FABRICMARK_ENTRY_POINTS_HPP
#define FABRICMARK_ENTRY_POINTS_HPP

namespace fm {

/// An argument of a kernel: its name and kind in kernel.toml, and of a buffer the number of its memory in the
/// board's board_spec.xml; -1: the board's usual one.
struct Argument {
  const char* name;
  const char* kind;
  int location;
};

/// A kernel with the function of the library that starts it: dlsym takes `start`, which is a Start.
struct EntryPoint {
  const char* name;
  const char* start;
  unsigned argument_count;
  const Argument* arguments;
};

/// Submits the kernel to `queue` behind `count` events `after`, and fills in `done`. `arguments[i]` leads to
/// argument i: of a buffer to a pointer, of a number to the number.
template <typename Queue, typename Event>
using Start = void (*)(Queue* queue, const Event* after, unsigned count, Event* done,
                       const void* const* arguments);

}  // namespace fm

#endif
