#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/interface.hpp"

namespace fabricmark::runtime {

class LibraryCalls;

/// What went wrong on a rank.
struct Failure {
  ExitCode code = ExitCode::kEnvironment;
  std::string message;           ///< one line with cause and remedy
  bool is_deadline = false;      ///< the rank has waited for another one in vain
  std::optional<int> awaited{};  ///< that other one, where it is one, by its number among all of the run
};

/// A rank waited for another one until its deadline. Which rank is to blame shows in Communicator::end.
class DeadlineError : public Error {
 public:
  /// `awaited`: see Failure.
  explicit DeadlineError(const std::string& cause, std::optional<int> awaited = {})
      : Error(ExitCode::kEnvironment, cause, "see why that rank is stuck, or wait longer with --timeout"),
        awaited_(awaited) {}
  [[nodiscard]] std::optional<int> awaited() const { return awaited_; }

 private:
  std::optional<int> awaited_;
};

/// Another rank has failed: thrown by every collective and every wait from then on, on every rank.
class PeerFailure : public std::exception {
 public:
  PeerFailure(int rank, const Failure& cause);
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] bool is_deadline() const { return is_deadline_; }

 private:
  std::string text_;
  bool is_deadline_;
};

/// How all ranks end, as far as they could agree.
struct Ending {
  ExitCode code = ExitCode::kValid;
  std::string message;      ///< empty where no rank has failed
  bool is_speaker = false;  ///< this rank says the message; it is so on one rank
  bool is_orderly = true;   ///< all ranks have come; otherwise abort_all_ranks must end those that have not
};

/// Whose pointers to the memory of GPUs an MPI library may take for a message's bytes.
enum class DevicePointers { kCuda, kRocm, kLevelZero };

/// How a rank waits: it asks again and again, which is fastest (and yields where ranks share cores); or
/// sleeps in between, where the core has other work, such as a device's threads; or lets others run after
/// each look.
enum class Waiting { kSpin, kSleep, kYield };

/// A message between two processes that one of them may await, as both can name it: the number-th of a tag
/// that one sends the other.
struct Awaited {
  int from = 0;
  int to = 0;
  int tag = 0;      ///< below 0: of a collective
  int is_send = 0;  ///< 1: its sender's request, 0: its receiver's
  std::uint64_t number = 0;
  auto operator<=>(const Awaited&) const = default;
};

/// A message in flight. The memory behind it must stay until Communicator::test says that it is done.
struct Request {
  std::uintptr_t handle = 0;            ///< 0: done
  std::optional<std::size_t> wanted{};  ///< bytes of a receive, where the handle does not know them
  /// The pieces after the first, of a message longer than one can be; null for all others.
  std::unique_ptr<std::vector<Request>> rest{};
  Awaited awaited{};  ///< between processes
};

/// What else a rank does while it waits for others in vain.
class Pastime {
 public:
  virtual ~Pastime() = default;
  /// After a look in vain, some time after the one before. What it throws ends the wait.
  virtual void pass() = 0;
  /// The wait is over.
  virtual void stop() noexcept = 0;
};

/// Members of a run that work at the same time, each on a device or a part of one. Benchmarks see only this,
/// never MPI. One thread of a rank makes all calls.
///
/// Progress: nothing moves behind a rank's back. Collectives, `test` and `wait` make it; a rank that is not
/// in one of them neither sends nor receives, and learns nothing of the others. Failure: what one rank says
/// in `fail` ends every collective and every wait of all ranks with PeerFailure. Deadlines: a collective or a
/// wait that takes longer than the time-out throws DeadlineError; collectives wait kStepMargin longer, so
/// that a lost message is named where it was waited for. A rank that is stuck is named within the time-out
/// and two seconds: that, kGrace and what a rank waits for requests that it gives up are less.
class Communicator : public Interface {
 public:
  static constexpr std::chrono::milliseconds kStepMargin{500};
  /// How long ranks that end wait for each other after a failure: whoever looks at nothing for so long is
  /// taken for stuck.
  static constexpr std::chrono::milliseconds kGrace{1100};
  /// Bytes of a message that goes as a whole. Nobody but the library behind it looks at what its address
  /// stands for, where ranks are processes: it may be a handle.
  static constexpr std::size_t kLongestPiece = std::size_t{1} << 30;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Position among, and number of, the ranks on this host.
  /// A rank's number among all of the run, of which this communicator may be a part.
  [[nodiscard]] virtual int in_world(int rank) const { return rank; }
  [[nodiscard]] virtual int local_rank() const { return rank(); }
  [[nodiscard]] virtual int local_size() const { return size(); }
  /// Whether ranks of this host share cores: one that spins then takes the time of those it waits for.
  [[nodiscard]] bool is_crowded() const;
  /// "single", "in-process" or "mpi".
  [[nodiscard]] virtual std::string kind() const = 0;
  /// Name and version of the MPI library; empty without MPI.
  [[nodiscard]] virtual std::string library() const { return {}; }
  /// Whether that library says of itself that it takes such pointers.
  [[nodiscard]] virtual bool takes(DevicePointers /*pointers*/) const { return false; }
  /// The library's own calls between the ranks; null for ranks that no library connects, and for a part of
  /// them. Collective.
  [[nodiscard]] virtual std::unique_ptr<LibraryCalls> library_calls();
  [[nodiscard]] bool is_root() const { return rank() == 0; }

  /// The first call on every rank of a run: learns which ranks share this host. Collective.
  virtual void start() {}

  // Collectives: every rank makes them in the same order; no rank returns before all have called.

  /// The largest value of all ranks.
  virtual std::int64_t all_reduce_max(std::int64_t value) = 0;
  /// The bytes of every rank, in the order of the ranks; lengths may differ.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) = 0;
  /// Ranks of the same `color` become a communicator, in the order of `key` and then of their ranks here.
  /// Failures are those of the whole run.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;
  void barrier() { all_reduce_max(0); }
  std::int64_t all_reduce_min(std::int64_t value) { return ~all_reduce_max(~value); }
  /// Sums in the order of the ranks, so that all get the same bits.
  double all_reduce_sum(double value);
  /// NaN where any value is.
  double all_reduce_max_number(double value);
  std::vector<std::string> all_gather_texts(const std::string& text);
  std::vector<std::vector<double>> all_gather_numbers(const std::vector<double>& numbers);

  // Messages between two ranks, by tag (from 0 to 32767) and in order; a rank may send to itself.

  /// These return at once.
  virtual Request start_send(int to, std::span<const std::byte> bytes, int tag) = 0;
  virtual Request start_receive(int from, std::span<std::byte> bytes, int tag) = 0;
  /// True when the message has left or arrived. Throws Error (environment) when it arrived with another
  /// length.
  virtual bool test(Request& request) = 0;
  /// Gives up messages that will not be waited for any more.
  virtual void cancel(Request& request) = 0;
  /// What is thrown by who has waited for a message from or to that rank for the time-out.
  [[nodiscard]] DeadlineError no_sign_of_message(int peer) const;
  /// Until the message has left or arrived; `peer` is named when it does not in time.
  void wait(Request& request, int peer, Waiting waiting = Waiting::kSpin);

  /// Of this communicator's waits alone; null: none.
  virtual void set_pastime(Pastime* pastime) { pastime_ = pastime; }
  [[nodiscard]] Pastime* pastime() const { return pastime_; }

  // Between processes, for those who have to know whether a rank that passes its time really waits, or only
  // for what is on its way.

  /// What this rank has looked for in vain since the last call, while it had a pastime.
  virtual std::vector<Awaited> take_awaited() { return {}; }
  /// Whether this process is the other end of a message, and has done its part: sent or asked for it.
  [[nodiscard]] virtual bool has_answered(const Awaited& /*awaited*/) const { return false; }

  // Failure.

  /// Seconds that a rank waits for another one.
  virtual void set_timeout(double seconds) { timeout_ = std::chrono::duration<double>(seconds); }
  [[nodiscard]] std::chrono::duration<double> timeout() const { return timeout_; }
  /// Tells all ranks that this one cannot go on. Throws nothing and waits for nobody.
  virtual void fail(const Failure& cause) noexcept = 0;
  /// Throws PeerFailure when a rank has failed. To be called now and then while waiting.
  virtual void check() = 0;
  /// The last call on every rank, with its own failure if it has one. Agrees with the ranks that come within
  /// kGrace of a failure on what is said: a failed rank's words before those of one that waited in vain,
  /// where the ranks that have not come are named, and of equals the first rank's. Of ranks that waited for
  /// each other it is one of the circle, not one that waits for a rank of it: a lost message is always in it.
  virtual Ending end(const std::optional<Failure>& own) noexcept = 0;

 protected:
  /// What a rank says at its end: nothing where it has met all others without a failure of any; an empty
  /// message where only others have failed.
  std::optional<Failure> words_at_end(const std::optional<Failure>& own);

 private:
  std::chrono::duration<double> timeout_{60};
  mutable std::optional<bool> is_crowded_{};  // once asked for: a wait may be short
  Pastime* pastime_ = nullptr;
};

/// What a rank waits for. When another one gives up, a rank that has waited for a message about as long does
/// the same, so that all who wait for each other say for whom; a rank in a collective has nothing to add.
enum class WaitsFor { kMessage, kCollective };

/// One wait, for as long as nothing moves.
class Patience {
 public:
  Patience(Communicator& communicator, Waiting waiting, std::chrono::duration<double> limit,
           WaitsFor waits_for = WaitsFor::kMessage)
      : communicator_(communicator),
        waiting_(waiting == Waiting::kSpin && communicator.is_crowded() ? Waiting::kYield : waiting),
        limit_(limit),
        waits_for_(waits_for) {}
  ~Patience() { rest(); }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  /// To be called after each look in vain; true when the time is over, or as WaitsFor says. Throws
  /// PeerFailure when a rank has failed. The clock starts only after some looks: a short wait needs none.
  bool is_over();
  /// The wait has ended, though more may follow.
  void rest() noexcept {
    if (!has_passed_) return;  // as always without a pastime: looks at messages are many
    has_passed_ = false;
    communicator_.pastime()->stop();
  }

 private:
  /// Whether another rank has waited in vain, and this one about as long.
  bool gives_up_with_another();

  Communicator& communicator_;
  Waiting waiting_;
  std::chrono::duration<double> limit_;
  WaitsFor waits_for_;
  bool has_started_ = false;
  bool has_passed_ = false;  // some time with the communicator's pastime
  std::chrono::steady_clock::time_point deadline_{};
  unsigned looks_ = 0;
};

/// Throws PeerFailure for the first of these words, by rank, that are a failure.
void throw_first_failure(const std::vector<std::optional<Failure>>& words);

/// What the ranks that have come say: [rank], absent for a rank that has not come, and an empty message for
/// one that has nothing to say. `own` is one of those that have come.
Ending agree(const std::vector<std::optional<Failure>>& words, int own);

/// The ranks of a new communicator, by their ranks in the one that is split.
struct Group {
  std::vector<int> members;
  int own = 0;               ///< position of the calling rank
  std::int64_t context = 0;  ///< that no other communicator of any member has
};

/// What Communicator::split has to agree on. `next_context` is the calling rank's first one that is free.
Group agree_on_group(Communicator& parent, int color, int key, std::int64_t& next_context);

/// Tags of a communicator's messages, apart from those of others. Throws Error (environment) beyond
/// `largest`.
int tag_in_context(int tag, std::int64_t context, int largest);

/// One rank.
std::unique_ptr<Communicator> single_rank();

/// What collectives throw for ranks that are not in the same one.
Error out_of_step(int peer);

/// What Communicator::test throws for a message of another length than the receiver's.
Error other_length(int from, std::size_t arrived, std::size_t wanted);

/// True when a launcher (mpirun, srun with PMI) has started this process as one of several.
bool started_by_launcher();
/// Which of a launcher's processes this is, by the launcher's variables: needs no MPI. 0 where none says.
int launched_rank();

/// What MPI is told of a process: with several threads, of which one calls it, it may take locks.
enum class Threads { kOne, kSeveral };

/// The ranks of MPI; initialises MPI, and finalises it when destroyed. Throws Error (environment) when the
/// program was built without MPI.
std::unique_ptr<Communicator> mpi_ranks(int* argc, char*** argv, Threads threads = Threads::kSeveral);

/// Ends this process, and by the launcher's hand all others, when ranks can no longer agree on anything.
[[noreturn]] void abort_all_ranks(int exit_code);

/// Ranks of this process, each to be used by one thread at a time.
std::vector<std::unique_ptr<Communicator>> ranks_in_process(int count);

/// Runs `body` on `count` ranks, each a thread of this process; returns the largest of their results.
int run_in_process(int count, const std::function<int(Communicator&)>& body);

/// How many threads a rank may use for work of the host that is not timed: its share of the cores.
int host_threads(const Communicator& ranks);

}  // namespace fabricmark::runtime
