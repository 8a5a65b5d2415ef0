#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/collective_operation.hpp"
#include "base/interface.hpp"

namespace fabricmark::runtime {

/// The calls of the library that carries the ranks' messages, as it has them: for programs that measure that
/// library and nothing else. They block as it blocks. What they wait for has no deadline, and no failure of
/// another rank ends them. Throw Error (environment) for what the library says went wrong, and for a message
/// that arrives with another length, tag or sender than was asked for. Their messages are apart from those of
/// the communicator.
class LibraryCalls : public Interface {
 public:
  using Operation = collectives::Operation;
  enum class Type : std::uint8_t { kInt8, kInt32, kFloat32 };

  /// A collective operation of all ranks; reductions are sums. `count`: elements of a rank, of which operands
  /// that have a part for each rank have as many times more.
  struct Collective {
    Operation operation = Operation::kBarrier;
    Type type = Type::kInt8;
    std::size_t count = 0;
    int root = 0;
    const std::byte* own = nullptr;
    std::byte* result = nullptr;    ///< of a broadcast the memory of both
    std::span<const int> counts{};  ///< of each rank, for the call that takes them; empty: `count`
    std::span<const int> places{};  ///< where each rank's part begins [elements]
  };

  /// Of messages: what they consist of from now on.
  virtual void set_type(Type type) = 0;

  // Messages of `count` elements; in the order of their starts.
  virtual void send(int to, const std::byte* data, int count, int tag) = 0;
  virtual void receive(int from, std::byte* data, int count, int tag) = 0;
  virtual void start_send(int to, const std::byte* data, int count, int tag) = 0;
  virtual void start_receive(int from, std::byte* data, int count, int tag) = 0;
  /// Until all that was started has ended.
  virtual void wait_all() = 0;
  /// Gives up what was started and has not ended, such as after a call that failed: before its memory goes.
  virtual void give_up() noexcept = 0;

  virtual void call(const Collective& collective) = 0;
  /// One at a time.
  virtual void start(const Collective& collective) = 0;
  virtual bool test() = 0;
  virtual void wait() = 0;
};

}  // namespace fabricmark::runtime
