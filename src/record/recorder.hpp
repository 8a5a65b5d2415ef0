#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "record/folding.hpp"
#include "record/polls.hpp"
#include "record/tables.hpp"

/// What a rank has called, and when: docs/simulate.md has the file that is made of it.
namespace fabricmark::record {

template <typename Handle>
std::uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uintptr_t>(handle);
  else
    return static_cast<std::uintptr_t>(handle);
}

[[nodiscard]] double now();  ///< [s]
[[nodiscard]] std::int64_t bytes_of(int count, MPI_Datatype type);

/// Of one process. Calls of other threads than the one that called MPI_Init are counted, not recorded.
class Recorder {
 public:
  static Recorder& of_process();

  /// Behind MPI_Init.
  void begin();
  /// Before MPI_Finalize: all ranks write one file.
  void end();
  [[nodiscard]] bool is_on() const { return is_on_; }

  /// Null for one that is not known, or joins two groups.
  [[nodiscard]] const Communicator* find(MPI_Comm communicator);
  [[nodiscard]] const Communicator* with_id(std::int32_t id) const;
  void add(MPI_Comm communicator);
  void remove(std::uintptr_t handle);
  Requests& requests() { return requests_; }

  /// A call that began and ended then.
  void note(const Signature& signature, double begin, double end);
  /// A test for a message that has not come.
  void skip(double begin, double end);
  /// One that is no part of the trace.
  void count_unmodelled(const char* name);

  /// What the rank has to say as a line of the file.
  [[nodiscard]] std::string line() const;

 private:
  Recorder() = default;
  /// What tests that find nothing take, with the recorder and without: all ranks measure it together.
  void measure_tests();

  Signatures signatures_;
  Folding steps_{std::size_t{1} << 22, Signatures::kMost};
  Requests requests_;
  std::vector<Communicator> communicators_;
  std::vector<Communicator> former_;  ///< that the program has freed
  std::size_t last_found_ = 0;
  std::map<std::string, std::uint64_t> unmodelled_;
  MPI_Comm own_ = MPI_COMM_NULL;  ///< for the file
  std::int32_t created_ = 1;
  int rank_ = 0;
  int ranks_ = 0;
  bool is_on_ = false;
  double start_ = 0;
  double end_ = 0;
  double last_end_ = 0;
  Polls polls_{};
  double test_ = 0;         ///< seconds of a test that finds nothing, without the recorder
  double own_seconds_ = 0;  ///< of the recorder, which no step has
  std::uint64_t calls_ = 0;
  std::uint64_t left_out_ = 0;  ///< for want of room
};

/// A call while it is made, from here on.
class Timed {
 public:
  Timed();
  /// Whether it is to be recorded.
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// What the MPI library gave back; the call has ended.
  int done(int code) {
    if (is_on_) end_ = now();
    return code;
  }
  /// The first signature has the time, those that follow have none.
  void note(const Signature& signature);
  void skip() const { Recorder::of_process().skip(begin_, end_); }

 private:
  bool is_on_;
  double begin_ = 0;
  double end_ = 0;
};

/// A rank of the communicator in MPI_COMM_WORLD; kNone for MPI_PROC_NULL and MPI_ANY_SOURCE.
[[nodiscard]] std::int32_t in_world(const Communicator& communicator, int rank);

/// In the file's place, wholly or not at all. An empty text: it is there; else why it is not.
[[nodiscard]] std::string write_whole(const std::string& path, const std::vector<std::string>& lines);
/// A text between quotes, as JSON has it.
[[nodiscard]] std::string quoted(const std::string& text);
/// Of this process.
[[nodiscard]] std::string command_line();

}  // namespace fabricmark::record
