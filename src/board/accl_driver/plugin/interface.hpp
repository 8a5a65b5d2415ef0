#pragma once

#include <cstddef>
#include <cstdint>

/// What the programs know of the plugin that drives ACCL's engine on a card: a table of functions with C
/// types only, since the plugin is compiled by itself where ACCL's driver is (C++17, as that is). Neither
/// exceptions nor classes cross it.
namespace fabricmark::accl_driver {

/// Of this table; a plugin of another version is refused.
constexpr std::uint32_t kVersion = 2;
/// The name of the function that gives it, of the type `Entry`.
constexpr const char* kEntry = "fabricmark_accl_functions";

/// An engine that is set up, which only the plugin can look into.
struct Engine;

enum Outcome : std::int32_t { kDone = 0, kRefused = 1 };

/// The network of the bitstream. RDMA needs the shell Coyote, which no bitstream of XRT has.
enum Protocol : std::int32_t { kUdp = 0, kTcp = 1 };

/// Types of elements whose arithmetic ACCL configures.
enum Type : std::int32_t { kFloat32 = 0, kFloat64 = 1, kInt32 = 2, kInt64 = 3, kFloat16 = 4 };

/// A rank of the communicator: the address of its card's network port, in dots, and its port of UDP or TCP.
struct Rank {
  const char* address;
  std::int32_t port;
};

/// What an engine is set up with.
struct Settings {
  void* device;           ///< XRT's handle of the driver (xclDeviceHandle); the bitstream is loaded
  const char* bitstream;  ///< its file
  std::int32_t protocol;
  const Rank* ranks;
  std::int32_t rank_count;
  std::int32_t rank;  ///< this one's number
  std::uint32_t receive_buffers;
  std::uint32_t receive_bytes;  ///< of each; messages up to so many are sent at once (eager)
  std::uint32_t timeout;        ///< of a call, in the engine's own unit, as ACCL::set_timeout takes it
};

/// The communicator that an engine is set up with.
constexpr std::uint32_t kAllRanks = 0;

/// Where the engine's memory describes what commands of kernels name (their words 3 and 7).
struct Places {
  std::uint32_t communicator;
  std::uint32_t datapath;
};

struct Functions {
  std::uint32_t version;
  /// Of the last function of this thread that did not return kDone.
  const char* (*last_words)();
  /// Collective: ranks wait for each other, by MPI where accl_network_utils was built with it.
  Outcome (*open)(const Settings* settings, Engine** opened);
  /// `communicator`: of kAllRanks, or one that `communicator` has made.
  Outcome (*places)(Engine* engine, std::uint32_t communicator, std::int32_t type, Places* found);
  void (*close)(Engine* engine);
  /// One of some ranks, by their numbers and with this one among them, whose ranks have the order given.
  Outcome (*communicator)(Engine* engine, const std::int32_t* ranks, std::int32_t count, std::uint32_t* made);
};

using Entry = const Functions* (*)();

}  // namespace fabricmark::accl_driver
