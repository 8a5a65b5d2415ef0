#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/dataflow/credit_cable.hpp"
#include "board/dataflow/deadlock.hpp"
#include "board/dataflow/frames.hpp"
#include "board/dataflow/host_barrier.hpp"
#include "board/dataflow/kernel.hpp"
#include "board/dataflow/network.hpp"
#include "board/dataflow/peers.hpp"
#include "board/dataflow/stream.hpp"
#include "board/dataflow/thread_pool.hpp"
#include "board/dataflow/worker.hpp"
#include "network/flow_control.hpp"
#include "network/time.hpp"
#include "network/topology.hpp"

namespace fabricmark::dataflow {

/// What a link costs, and what keeps its sender from sending too much.
struct LinkCost {
  double latency_seconds = 0;  ///< of the way there; feedback takes as long back
  double clock_hz = 0;
  double width_bytes = 0;  ///< that a link moves in a cycle
  network::FlowSettings flow{};
};

/// Both directions of a link, as one device sees it.
template <typename T>
struct Link {
  stream<T> out;
  stream<T> in;
};

struct FabricSettings {
  int devices = 1;                              ///< each with a host, which is waited for
  std::optional<network::Topology> topology{};  ///< its links join devices directly
  LinkCost link{};
  std::optional<network::StackSettings> network{};  ///< packets between all devices, beside the links
  /// Cables and switches of packets that carry the links, too: as frames of a credit link. Absent: packets
  /// go over `topology`, and links over its cables.
  std::optional<network::Topology> switched{};
  int workers = 1;                               ///< threads that execute the emulated kernels
  int threads = 1;                               ///< that run kernels which compute for long
  std::optional<std::uint64_t> schedule_seed{};  ///< seed of the order in which kernels run
  std::size_t stack_bytes = std::size_t{8} << 20;
  std::shared_ptr<runtime::ActivityLog> log{};  ///< who computed, who waited for whom; null: nobody asks
  /// Where a deadlock writes the log as a timeline, with the waits that have no end; empty: nowhere. Needs no
  /// log of its own.
  std::filesystem::path deadlock_timeline{};
};

class Host;

/// What became of a kernel.
struct Outcome {
  bool has_ended = false;
  Time started = 0;
  Time ended = 0;
  std::exception_ptr failure;
};

/// The devices of a process, their kernels and links, in modelled time. Kernels are fibers; those of a device
/// are run by one worker. Whatever depends on time is decided when no kernel can run, the earliest first; so
/// nothing depends on threads and their speed. Threads of hosts wait in it, and while all of them do, it
/// runs.
class Fabric {
 public:
  /// Without peers all devices are in this process, with peers one.
  explicit Fabric(FabricSettings settings, std::unique_ptr<Peers> peers = nullptr);
  /// Collective: one fabric for the ranks of a process, each with the device of its number.
  static std::shared_ptr<Fabric> join(runtime::Communicator& ranks, FabricSettings settings);
  ~Fabric();

  /// One end of the cable at a port, for words of a type. Both ends must agree on the type. `word_bytes`: of
  /// the link that a word takes, where that is not its size. Throws Error (bad use) for a port without a
  /// cable, or with a link already.
  template <typename T>
  Link<T> open(const network::Port& port, std::size_t word_bytes = 0) {
    const auto make = [this, &port, word_bytes](const network::Port& from, const network::Port& to) {
      return stream<T>(std::static_pointer_cast<Typed<T>>(channel(
          from, to, port == from, sizeof(T), [this, word_bytes](const std::string& name, std::size_t bytes) {
            return std::make_shared<Typed<T>>(name, link_timing(word_bytes > 0 ? word_bytes : bytes), true);
          })));
    };
    const network::Port other = opposite(port);
    return {make(port, other), make(other, port)};
  }

  /// While no kernel writes to it: has the fault happen to the next word that leaves by a port that is open.
  void corrupt(const network::Port& port, network::MessageFault fault);

  [[nodiscard]] const FabricSettings& settings() const { return settings_; }
  /// Bytes a second that a link carries of long streams.
  [[nodiscard]] double link_rate() const;

  // For who builds on kernels and packets, such as an engine of messages.

  /// Throws Error (bad use) for a fabric without a network.
  [[nodiscard]] Network& network();
  [[nodiscard]] bool is_elsewhere(int device) const { return !is_local(device); }  ///< in another process
  [[nodiscard]] Worker& worker(int device) const { return *worker_of(device); }
  /// A kernel of a device that starts at a time, or later, when others of the device have ended.
  struct Begin {
    Time at = 0;
    std::vector<std::shared_ptr<const Outcome>> after{};
    bool is_long = false;  ///< as Start has it
  };
  /// By its host, or by what runs on the device.
  std::shared_ptr<const Outcome> start(int device, const std::string& name, Begin begin,
                                       const KernelCost& cost, std::vector<std::shared_ptr<Channel>> streams,
                                       std::function<void()> body);
  /// What kernels use that never end: stays until they are gone.
  void keep(std::shared_ptr<void> used);

 private:
  friend class Host;
  struct Opened {
    std::shared_ptr<Channel> channel;
    int far = -1;               // the process of the other end, where that is another one
    std::vector<Packet> early;  // that came before it was opened here
    bool has_writer = false;
    bool has_reader = false;
  };
  struct Running {
    std::unique_ptr<Kernel> kernel;
    std::shared_ptr<Outcome> outcome;
  };
  /// A kernel that waits for others to end.
  struct Pending {
    std::string name;
    int number = 0;
    Begin begin;
    KernelCost cost;
    std::vector<std::shared_ptr<Channel>> streams;
    std::function<void()> body;
    std::shared_ptr<Outcome> outcome;
    [[nodiscard]] bool may_begin() const;
  };
  struct OfDevice {
    int started = 0;
    std::vector<Running> running;
    std::vector<Pending> pending;
    std::vector<std::shared_ptr<Channel>> unread;  // with words, and without kernels
  };
  using Make = std::function<std::shared_ptr<Channel>(const std::string& name, std::size_t word_bytes)>;

  [[nodiscard]] network::Port opposite(const network::Port& port) const;
  [[nodiscard]] ChannelTiming link_timing(std::size_t word_bytes) const;
  std::shared_ptr<Channel> channel(const network::Port& from, const network::Port& to, bool is_writer,
                                   std::size_t word_bytes, const Make& make);
  /// Flow control whose times do not follow from each other; null for credits.
  std::unique_ptr<LinkDirection> decided(Channel& channel, const Place& from, const Place& to);
  [[nodiscard]] bool is_local(int device) const { return peers_ == nullptr || peers_->own() == device; }
  [[nodiscard]] Worker* worker_of(int device) const;

  // By the threads of hosts.
  bool has_ended(const Outcome& outcome);
  void check_leftovers(int device);
  void finish();

  // While no host runs.
  void advance();
  Report run();
  std::optional<Report> meet(bool waits);
  void begin_meeting(Report own);
  std::optional<Report> end_meeting(bool waits);
  void deliver(Packet& packet, int from_rank);
  [[noreturn]] void throw_deadlock();
  bool run_long();
  std::string keep_timeline(const StuckState& all);
  [[nodiscard]] Time earliest_end() const;
  bool settle_ended();
  void settle(OfDevice& device, Running& ended);
  void begin(int device, OfDevice& own, Pending& pending);
  [[nodiscard]] Time next_due() const;
  [[nodiscard]] Time lookahead() const;
  [[nodiscard]] StuckState stuck() const;

  FabricSettings settings_;
  std::unique_ptr<Peers> peers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Network> network_;
  ThreadPool pool_;
  ThreadPool long_pool_;  // of kernels that compute for long

  Time horizon_ = 0;  // what is due before it may be decided

  // What follows is guarded by its mutex while hosts run; while none does, by that.
  HostBarrier barrier_;
  int finished_ = 0;                                                 // hosts that wait for all to finish
  std::uint64_t finishes_ = 0;                                       // how often all have
  std::map<std::pair<network::Port, network::Port>, Opened> links_;  // from, to
  std::unique_ptr<Frames> frames_;                                   // of links, where packets carry them
  std::map<std::pair<network::Port, network::Port>, std::shared_ptr<CreditCable>>
      cables_;                        // lower port first
  std::vector<Packet> said_, heard_;  // [rank], in the last meeting; kept for their memory
  std::vector<Letter> leaving_;       // to other processes, while a meeting is open
  std::vector<std::shared_ptr<void>> kept_;
  std::map<int, OfDevice> devices_;  // the last: their kernels need all others
};

}  // namespace fabricmark::dataflow
