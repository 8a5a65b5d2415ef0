#pragma once

// The ground of communicator_mpi.cpp, for builds with MPI only.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/ledger.hpp"
#include "runtime/library_calls.hpp"

namespace fabricmark::runtime {

/// What a call of MPI throws that ended with `code`.
Error mpi_failure(int code, const char* action);
inline void check_mpi(int code, const char* action) {
  if (code != MPI_SUCCESS) throw mpi_failure(code, action);
}

/// Whether the library says that it takes such pointers; false for one that says nothing.
bool mpi_takes(DevicePointers pointers);

/// Ends a request before the memory behind it goes. What does not end soon, such as a long message that is on
/// its way, may touch that still: from then on no pages are given back, to the system or to others.
void abandon(MPI_Request request, bool can_be_cancelled) noexcept;
/// Whether there was one that has not ended.
bool has_abandoned() noexcept;

/// MPI's own calls between the ranks of a communicator. Collective.
std::unique_ptr<LibraryCalls> mpi_calls(MPI_Comm ranks);

/// Ends the process where MPI itself does not: another rank may be gone while all finalise.
void end_process_after(std::chrono::seconds limit, int exit_code,
                       std::shared_ptr<std::atomic<bool>> is_over = nullptr);

// A request is a pointer in Open MPI and an integer in MPICH; no valid one of either is all zeros in memory.
inline Request pack(MPI_Request inner) {
  Request request;
  static_assert(sizeof(inner) <= sizeof(request.handle));
  std::memcpy(&request.handle, &inner, sizeof(inner));
  return request;
}
inline MPI_Request unpack(const Request& request) {
  MPI_Request inner = MPI_REQUEST_NULL;
  std::memcpy(&inner, &request.handle, sizeof(inner));
  return inner;
}

/// Tags of World::control.
enum ControlTag { kHeaderTag, kPayloadTag, kWordsTag, kControlTags };

/// The process among all others, behind its communicators: passes words on, and starts and ends MPI where
/// nobody else does.
class World {
 public:
  /// Starts MPI; its processes are the ranks.
  World(int* argc, char*** argv, Threads threads);
  /// The ranks of a communicator that somebody else has, in a program that starts and ends MPI by itself;
  /// messages have another one of the same ranks. Collective.
  explicit World(MPI_Comm ranks);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Waits for the next words of any rank.
  void listen();

  /// Looks whether a rank has said anything.
  void hear();

  /// Tells all ranks how this one ends; an empty message says only that it has come.
  void say(const Failure& cause);

  /// Tells ranks that come later, such as a stopped one that goes on, that another one has spoken.
  void say_that_it_has_been_said() { send_to_all({}); }

  [[nodiscard]] bool all_have_said();

  /// Of a message of any communicator, between this process and another one; collectives have tags of their
  /// own.
  Awaited next_awaited(bool is_send, int peer, MPI_Comm communicator, int tag);
  /// A receive that is not waited for any more: the message goes to the next one.
  void take_back(const Awaited& awaited);
  /// See Communicator.
  [[nodiscard]] bool has_answered(const Awaited& awaited) const;

  int rank = 0;
  int size = 1;
  int largest_tag = 32767;  // what the standard promises
  MPI_Comm messages = MPI_COMM_WORLD;
  MPI_Comm control = MPI_COMM_NULL;  // collectives and failures, apart from all other messages
  std::int64_t next_context = 1;
  std::vector<std::optional<Failure>> words;  // [rank], of how it ends

  bool is_ready = false;       // all ranks have started
  bool has_been_said = false;  // by the speaker of ranks that did not wait for this one

 private:
  void look_around();
  /// Of a guest: gives back what is its own.
  void leave();
  void stop_listening();
  void send_to_all(std::string_view text);

  bool is_guest_ = false;  // others start and end MPI

  Ledger sent_;    // messages that have been started
  Ledger wanted_;  // receives that have been started
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::vector<char> heard_;
  std::string said_;
  std::vector<MPI_Request> leaving_;
};

}  // namespace fabricmark::runtime
