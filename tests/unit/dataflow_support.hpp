#pragma once

#include <exception>
#include <thread>

#include "board/dataflow/host.hpp"
#include "network/flow_control.hpp"
#include "network/topology.hpp"

/// What several tests of dataflow kernels have.
namespace fabricmark::dataflow {

inline constexpr DeviceCost kDevice{1e9, 0, 0};  // a cycle is a nanosecond
inline constexpr Time kCycle = 1'000'000;

inline void produce(stream<int>& out, int count) {
  for (int i = 0; i < count; ++i) out.write(i);
}

inline int sum(stream<int>& in, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += in.read();
  return total;
}

// A ring of devices, no two alike, whose kernels take their time and ask for words without waiting.

inline FabricSettings ring_of(int devices, const network::FlowSettings& flow) {
  return {.devices = devices,
          .topology = network::ring(devices),
          .link = {300e-9, 156.25e6, 32, flow},
          .stack_bytes = 1 << 16};
}

inline DeviceCost device_of_ring(int device) { return {200e6 + 10e6 * device, 1e-6 * device, 0}; }

inline void send_now_and_then(stream<int>& out, int device, int words) {
  for (int word = 0; word < words; ++word) {
    spend_cycles((word * (device + 3)) % 17);
    out.write(word);
  }
}

/// A word says how often it was asked for, too.
inline void ask_for_words(stream<int>& in, stream<int>& taken, int words) {
  for (int word = 0; word < words; ++word) {
    int value = 0;
    int misses = 0;
    while (!in.read_nb(value)) ++misses;
    taken.write(value + 1000 * misses);
  }
}

/// Both hosts finish, each in a thread of its own.
inline void finish(Host& first, Host& second) {
  std::exception_ptr failure;
  std::jthread other([&] {
    try {
      second.finish();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  first.finish();
  other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace fabricmark::dataflow
