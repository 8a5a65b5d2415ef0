#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/error.hpp"

namespace fabricmark::harness {

/// A message under way. The memory behind it must stay until Ranks::test says that it is done.
struct Request {
  std::uintptr_t handle = 0;            ///< 0: done
  std::optional<std::size_t> wanted{};  ///< bytes of a receive, where the handle does not know them
};

/// The members of a run that work at the same time, each on a device or a part of one. Benchmarks see only
/// this, never MPI. All calls but the getters are collective: every rank makes them in the same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Position among, and number of, the ranks on this host.
  [[nodiscard]] virtual int local_rank() const { return rank(); }
  [[nodiscard]] virtual int local_size() const { return size(); }
  /// "single", "in-process" or "mpi".
  [[nodiscard]] virtual std::string kind() const = 0;
  /// Name and version of the MPI library; empty without MPI.
  [[nodiscard]] virtual std::string library() const { return {}; }

  /// The largest value of all ranks. No rank returns before all have called, so that it is a barrier too.
  virtual std::int64_t largest(std::int64_t value) = 0;
  /// The bytes of every rank, in the order of the ranks; lengths may differ.
  virtual std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> bytes) = 0;

  /// Messages between two ranks, by tag (from 0 to 32767) and in order; a rank may send to itself. These
  /// return at once; Ranks::test makes progress.
  virtual Request start_send(int to, std::span<const std::byte> bytes, int tag) = 0;
  virtual Request start_receive(int from, std::span<std::byte> bytes, int tag) = 0;
  /// True when the message has left or arrived. Throws Error (environment) when it arrived with another
  /// length.
  virtual bool test(Request& request) = 0;
  /// To be called while nothing moves: gives the core to another rank that may need it. MPI sees to that
  /// itself.
  virtual void relax() {}
  /// Gives up messages that will not be waited for any more.
  virtual void cancel(Request& request) = 0;

  void barrier() { largest(0); }
  [[nodiscard]] bool is_root() const { return rank() == 0; }
  std::vector<std::string> gather_texts(const std::string& text);
  std::vector<std::vector<double>> gather_numbers(const std::vector<double>& numbers);
};

/// One rank.
std::unique_ptr<Ranks> single_rank();

/// What Ranks::test throws for a message of another length than the receiver's.
Error other_length(int from, std::size_t arrived, std::size_t wanted);

/// True when a launcher (mpirun, srun with PMI) has started this process as one of several.
bool started_by_launcher();
/// True unless the launcher's variables say that this is another than the first process; needs no MPI.
bool is_first_process();

/// The ranks of MPI; initialises MPI, and finalises it when destroyed. Throws Error (environment) when the
/// program was built without MPI.
std::unique_ptr<Ranks> mpi_ranks(int* argc, char*** argv);

/// Ends this process, and by the launcher's hand all others, when ranks can no longer agree on anything.
[[noreturn]] void abort_all_ranks(int exit_code);

/// Runs `body` on `count` ranks, each a thread of this process; returns the largest of their results.
int run_in_process(int count, const std::function<int(Ranks&)>& body);

}  // namespace fabricmark::harness
