#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "board/accl/call.hpp"
#include "board/accl/engine.hpp"
#include "board/accl/exchange_memory.hpp"
#include "board/accl/streams.hpp"
#include "board/dataflow/fabric.hpp"
#include "collectives/replay/caller.hpp"
#include "collectives/replay/choice.hpp"

namespace fabricmark::accl {

/// What ends a call with a text about it.
template <typename... Values>
CallFailed failed(const Call& call, Code code, fmt::format_string<const Values&...> text,
                  const Values&... values) {
  return {{code, call.text() + ": " + fmt::format(text, values...)}};
}

/// A communicator as one of its members sees it.
struct Group {
  std::vector<int> devices;  ///< by rank
  int rank = 0;
  std::uint64_t contexts = 0;  ///< collective calls so far
  collectives::Shape shape{};
};

/// Carries out calls, each in a fiber of the device: the host's and those of kernels are the same here.
class Caller {
 public:
  Caller(dataflow::Fabric& fabric, Engine& engine, Streams& streams);

  /// Returns its number. Throws Error (bad use) for devices that are not there or named twice, and where this
  /// device is not among them.
  int add_group(const std::vector<int>& devices);
  [[nodiscard]] const Group& group(int communicator) const;
  /// Of calls that name none.
  void set_algorithm(collectives::Operation operation, const std::string& algorithm) {
    algorithms_[operation] = algorithm;
  }

  /// Where this communicator's collective calls are made.
  [[nodiscard]] collectives::Place place(const Group& group) const;

  /// By the fiber of the call, at its clock. Does not throw what the call ends with.
  Result run(dataflow::Kernel& kernel, const Call& call);
  /// The same of a kernel's command, as the words that came, the last of which is the last of a command.
  Result run(dataflow::Kernel& kernel, std::span<const fm::accl_word> words);
  /// What a command asks for. Throws CallFailed.
  [[nodiscard]] Call call_of(const Command& command) const;
  /// What commands name communicators and types of elements by.
  [[nodiscard]] const ExchangeMemory& exchange() const { return exchange_; }

 private:
  /// A call in progress.
  struct Running {
    dataflow::Kernel& kernel;
    const Call& call;
    Group& group;
    Result result{};
    std::uint64_t lost_bytes = 0;
    std::vector<std::shared_ptr<std::vector<std::byte>>> memory{};  // of operands that are streams
  };

  [[nodiscard]] bool is_group(int communicator) const {
    return communicator >= 0 && communicator < std::ssize(groups_);
  }
  /// What a call ends with ends those of the other ranks, unless they know or may go on.
  void tell_others(dataflow::Kernel& kernel, int communicator, const Result& result);
  [[nodiscard]] static Command arguments(std::span<const fm::accl_word> words);
  [[nodiscard]] std::optional<int> communicator_of(std::span<const fm::accl_word> words) const;
  /// All but its operands.
  [[nodiscard]] Call numbers_of(const Command& command) const;
  void set_collective(const Command& command, Call& call) const;
  /// `place`: of the word with the low half of its address.
  [[nodiscard]] Operand operand_of(const Call& call, int place, std::uint64_t address,
                                   std::size_t count) const;
  void carry_out(Running& running);
  void send(Running& running);
  void receive(Running& running);
  void receive_into_stream(Running& running, const Expected& expected);
  void put(Running& running);
  void stream_put(Running& running);
  void copy(Running& running);
  void combine(Running& running);
  void collective(Running& running);

  /// Sends the call's operand, and waits until it has left.
  void leave(Running& running, int to, const Header& header);
  [[nodiscard]] int device_of(const Running& running) const;
  View loaded(Running& running, const Operand& operand, std::size_t count);
  /// The same without waiting for a stream: null where the operand is in memory.
  std::shared_ptr<Arriving> arriving(Running& running, const Operand& operand, std::size_t count);
  View room(Running& running, const Operand& operand, std::size_t count);
  void store(Running& running, const Operand& operand, const View& elements);
  /// The stream that a kernel writes, and one that a kernel reads.
  [[nodiscard]] StreamEnd& source(const Running& running, int stream) const;
  [[nodiscard]] StreamEnd& sink(const Running& running, int stream) const;
  static StreamEnd& connected(const Running& running, int stream, StreamEnd* end, const char* does);
  /// From the clock of the call on; returns when it is done.
  void do_job(Running& running, StreamEnd& end, StreamEnd::Job job);
  void check_type(const Running& running) const;
  void check_arithmetic(const Running& running) const;
  static void check_operands(const Running& running);

  dataflow::Fabric& fabric_;
  Engine& engine_;
  Streams& streams_;
  ExchangeMemory exchange_;
  std::map<collectives::Operation, std::string> algorithms_;
  std::deque<Group> groups_;  // calls in progress refer to them
};

}  // namespace fabricmark::accl
