#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#define FABRICMARK_API __attribute__((visibility("default")))

namespace fabricmark::runtime {
class Communicator;
}

/// Messages and collective operations between OpenCL buffers of several devices: of one process, each with a
/// thread of its own, or of MPI processes (messages_mpi.hpp). docs/messages.md shows how.
///
/// Bytes go in the way that is the fastest for their number on this machine: mapped, whole, in chunks that
/// are read, handed over and written at the same time, and between ranks of one node through memory of the
/// host that both devices reach. Messages move on while somebody waits for one or tests one, and nowhere
/// else. One thread of a rank makes all calls.
namespace fabricmark::messages {

/// What went wrong, in one line with cause and remedy.
class FABRICMARK_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's place among those that talk to each other.
class FABRICMARK_API Ranks {
 public:
  explicit Ranks(std::unique_ptr<runtime::Communicator> communicator);
  ~Ranks();
  Ranks(Ranks&&) noexcept;
  Ranks& operator=(Ranks&&) noexcept;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

 private:
  friend class Endpoint;
  std::unique_ptr<runtime::Communicator> communicator_;
};

/// So many ranks of this process, which needs no MPI. Each is used by a thread of its own, as ranks wait for
/// each other. Throws Error for fewer than one.
FABRICMARK_API std::vector<Ranks> ranks_of_threads(int count);

/// Part of a buffer, in bytes.
struct Region {
  cl_mem memory = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// A message or a collective operation in flight. Its regions stay as they are, and are kept alive, until it
/// has ended; commands of the user's own queues that need them have to have ended before, or be named as
/// `after`. One that is destroyed before is withdrawn.
class FABRICMARK_API Request {
 public:
  struct State;
  Request();
  explicit Request(std::unique_ptr<State> state);
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;

  /// Both throw Error: a rank has failed, a message had another length, or did not come in time.
  [[nodiscard]] bool has_ended();
  void wait();

 private:
  std::unique_ptr<State> state_;
};

enum class Type { kInt32, kInt64, kFloat16, kFloat32, kFloat64 };
enum class Reduction { kSum, kMin, kMax };

[[nodiscard]] FABRICMARK_API std::size_t bytes_of(Type type);

struct Options {
  double timeout_seconds = 60;  ///< of a wait for another rank
  /// The protocols that `fabricmark tune` has kept for this machine are taken. Where there are none they are
  /// measured when the endpoint is made, for messages of up to so many bytes (about a second); with 0 they
  /// are not, and messages go as on most machines.
  std::size_t measured_bytes = std::size_t{16} << 20U;
};

/// What a rank sends and receives with: its place and its device. All ranks make theirs at the same time, and
/// call collective operations in the same order.
class FABRICMARK_API Endpoint {
 public:
  /// Context and device are retained. Throws Error where the device is not one of the context.
  Endpoint(Ranks ranks, cl_context context, cl_device_id device, const Options& options = {});
  ~Endpoint();
  Endpoint(Endpoint&&) noexcept;
  Endpoint& operator=(Endpoint&&) noexcept;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// How messages of each size go, in words.
  [[nodiscard]] const std::string& protocols() const;

  // Messages; tags from 0 to 16383. Messages of the same two ranks and tag arrive in order, and both sides
  // say the same number of bytes. They return at once; what is sent has to stay until its end. Both begin
  // once the commands of `after` have ended. Throw Error for regions outside of their buffers, buffers of
  // another context, and ranks and tags that are none.

  [[nodiscard]] Request start_send(const Region& region, int to, int tag = 0,
                                   std::span<const cl_event> after = {});
  [[nodiscard]] Request start_receive(const Region& region, int from, int tag = 0,
                                      std::span<const cl_event> after = {});
  void send(const Region& region, int to, int tag = 0) { start_send(region, to, tag).wait(); }
  void receive(const Region& region, int from, int tag = 0) { start_receive(region, from, tag).wait(); }
  /// Both at the same time.
  void exchange(const Region& out, int to, const Region& in, int from, int tag = 0);

  // Collective operations of all ranks. n is their number.

  /// The root's region goes to all others'.
  [[nodiscard]] Request start_broadcast(const Region& region, int root);
  /// Each rank's region becomes part number (its rank) of `all`, which is n times as long.
  [[nodiscard]] Request start_all_gather(const Region& own, const Region& all);
  /// Part r of `out` goes to rank r, where it becomes part (sender) of `in`; n parts of the same size each.
  [[nodiscard]] Request start_all_to_all(const Region& out, const Region& in);

  // The same and more with the algorithm that takes the least time by what messages, copies and reductions
  // cost on this machine; they return when this rank's result is there. In place: `own` and `result` are the
  // same region, or own is part (rank) of result. Sums of whole numbers wrap around; float16 is added as
  // float32 and rounded. Elements lie at multiples of their bytes.

  void broadcast(const Region& region, int root);
  void scatter(const Region& own, const Region& result, int root);  ///< own: n parts, of the root alone
  void gather(const Region& own, const Region& result, int root);   ///< result: n parts, of the root alone
  void all_gather(const Region& own, const Region& result);         ///< result: n parts
  void reduce(const Region& own, const Region& result, int root, Type type,
              Reduction reduction);  ///< result: of the root alone
  void all_reduce(const Region& own, const Region& result, Type type, Reduction reduction);
  void reduce_scatter(const Region& own, const Region& result, Type type,
                      Reduction reduction);                  ///< own: n parts
  void all_to_all(const Region& own, const Region& result);  ///< n parts each
  void barrier();

  /// Tells all ranks that this one cannot go on: their waits end with an Error that says so.
  void fail(const std::string& cause) noexcept;

  class State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace fabricmark::messages
