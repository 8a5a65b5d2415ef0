#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/accl/call.hpp"
#include "board/accl/engine.hpp"
#include "board/accl/result.hpp"
#include "board/accl/settings.hpp"
#include "board/accl/streams.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"
#include "collectives/replay/caller.hpp"

namespace fabricmark::accl {

class Caller;

/// A call in progress.
class Request {
 public:
  Request() = default;
  /// Waits for its end.
  const Result& wait();
  /// Waits so many seconds of modelled time at most; false where it has not ended then.
  bool wait(double seconds);
  /// Whether it has ended at the host's modelled time.
  bool test() { return wait(0); }
  /// Of what has ended: seconds of modelled time, from issue to end.
  [[nodiscard]] double duration();
  [[nodiscard]] device::Event event() const { return event_; }

 private:
  friend class Accl;
  Request(dataflow::Host& host, device::Event event, std::shared_ptr<Result> result)
      : host_(&host), event_(std::move(event)), result_(std::move(result)) {}
  dataflow::Host* host_ = nullptr;
  device::Event event_;
  std::shared_ptr<Result> result_;
};

/// The host's side of the engine of one device: calls as users of ACCL know them. They return at once; wait
/// for their requests. Every call may fail: its Result says with what. What a rank's call fails with ends
/// the calls of the others, too.
class Accl {
 public:
  /// Collective. `host` has to stay as long.
  Accl(std::shared_ptr<dataflow::Fabric> fabric, dataflow::Host& host, const EngineSettings& settings);
  ~Accl();
  Accl(const Accl&) = delete;
  Accl& operator=(const Accl&) = delete;

  /// Ranks of this fabric's devices, in their order. Number 0 is all of them. All members make it, with the
  /// same devices, in the same order.
  int communicator(const std::vector<int>& devices);
  [[nodiscard]] int rank(int communicator = 0) const;
  [[nodiscard]] int size(int communicator = 0) const;

  void set_timeout(double seconds);
  /// Calls that name no algorithm do the operation so, as those of kernels; empty: the engine chooses again.
  void set_algorithm(collectives::Operation operation, const std::string& algorithm);

  /// Any call.
  Request start(const Call& call);
  /// What a kernel's command asks for, so that the host can ask for the same. Throws CallFailed where it
  /// cannot be.
  [[nodiscard]] Call call_of(const Command& command) const;

  Request nop();
  Request send(const View& elements, int to, int tag = kAnyTag, int communicator = 0);
  Request recv(const View& elements, int from, int tag = kAnyTag, int communicator = 0);
  /// Writes into memory that the other rank has registered, without its action. RDMA only.
  Request put(const View& elements, int to, std::uint64_t memory, std::size_t first = 0,
              int communicator = 0);
  /// Into a kernel's stream of another rank.
  Request stream_put(const View& elements, int to, int stream, int communicator = 0);
  Request copy(const View& from, const View& to);
  Request copy_from_stream(int stream, const View& to);
  Request copy_to_stream(const View& from, int stream);
  Request combine(collectives::Reduction reduction, const View& a, const View& b, const View& result);
  /// Operands as collectives::Call says; `algorithm` empty: the engine chooses.
  Request collective(const collectives::Call& call, int communicator = 0, const std::string& algorithm = {},
                     bool is_compressed = false);
  /// Of `collective`.
  [[nodiscard]] collectives::Place place(int communicator = 0) const;

  /// Memory that other ranks may write with `put`; returns its number, which they have to know.
  std::uint64_t register_memory(const View& memory);
  /// Where it begins, for commands of kernels; of what is registered.
  [[nodiscard]] std::uint64_t address(std::uint64_t memory) const {
    return engine_->memory().address(memory);
  }
  /// Registers it, and says where it begins.
  std::uint64_t address_of(const View& memory) { return address(register_memory(memory)); }
  /// What commands of kernels need to know of a communicator and the type of elements.
  [[nodiscard]] fm::accl_use use(Type type, int communicator = 0, bool is_compressed = false) const;
  /// A stream that a kernel of this device reads, or writes, in words of kWordBytes; `number` is for calls.
  /// It must stay as long as the fabric.
  template <typename Word>
  void connect_to_kernel(int number, dataflow::stream<Word>& words) {
    receive_into_stream(number, streams_->connect_to_kernel(number, words));
  }
  template <typename Word>
  void connect_from_kernel(int number, dataflow::stream<Word>& words) {
    streams_->connect_from_kernel(number, words);
  }
  /// Calls from a kernel of this device: it writes commands and reads one status for each, in their order.
  void connect_logic(dataflow::stream<fm::accl_request>& commands, dataflow::stream<Status>& statuses);
  /// The same word by word, as ACCL's port has it. A word takes a cycle; a call is issued with its last one.
  void connect_logic(dataflow::stream<fm::accl_word>& words, dataflow::stream<Status>& statuses);
  /// Of calls of kernels: what the last one that failed ended with; "" where none has.
  [[nodiscard]] const std::string& logic_failure() const;
  /// Streams and memory that the engine uses, until the fabric is gone.
  void keep(std::shared_ptr<void> used) { fabric_->keep(std::move(used)); }
  /// From now on the device neither sends nor answers: what others then are told is to be seen.
  void kill_device();
  /// Has the fault happen to the next message with elements that leaves; none: takes back what has not yet.
  void corrupt(std::optional<network::MessageFault> fault) { engine_->corrupt(fault); }
  /// Messages that found no receive buffer of this device free, and were sent again.
  [[nodiscard]] std::uint64_t came_again() const { return engine_->came_again(); }
  /// Has the fault happen to the next credit that this engine gives; none: takes it back.
  void corrupt_credit(std::optional<CreditFault> fault) { engine_->corrupt_credit(fault); }
  /// Host::finish. Throws Error (1) for calls that have failed, messages that nobody has received and words
  /// of streams that were lost, too.
  void finish();

 private:
  struct Logic;
  /// `next` waits for the words of a command.
  void serve_logic(const dataflow::AnyStream& commands, std::function<std::vector<fm::accl_word>()> next,
                   dataflow::stream<Status>& statuses);
  void receive_into_stream(int stream, StreamEnd& end);
  void check_lost_words(const std::string& consequence) const;

  std::shared_ptr<dataflow::Fabric> fabric_;
  dataflow::Host& host_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Streams> streams_;
  std::shared_ptr<Caller> caller_;
  int logics_ = 0;
  std::shared_ptr<std::string> logic_failure_ = std::make_shared<std::string>();
};

}  // namespace fabricmark::accl
