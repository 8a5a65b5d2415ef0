#pragma once

#include <cstddef>
#include <cstdint>

#include "base/interface.hpp"

/// Collective operations as programs of moves, whoever carries out the moves.
namespace fabricmark::collectives {

enum class Type : std::uint8_t { kInt32, kInt64, kFloat16, kFloat32, kFloat64, kInt8 };
enum class Reduction : std::uint8_t { kSum, kMin, kMax };

[[nodiscard]] std::size_t bytes_of(Type type);

/// Elements of one type, one behind the other, in memory of one rank. Without `data` nothing is moved or
/// computed: what happens to it only takes its time.
struct View {
  std::byte* data = nullptr;
  std::size_t count = 0;  ///< elements
  Type type = Type::kFloat32;

  [[nodiscard]] std::size_t bytes() const { return count * bytes_of(type); }
  /// Elements from `first` on.
  [[nodiscard]] View part(std::size_t first, std::size_t elements) const {
    return {data == nullptr ? nullptr : data + first * bytes_of(type), elements, type};
  }
};

/// What one rank of a collective call can do. An algorithm is a program of these, the same on every rank;
/// ranks are those of the call's communicator. Messages from one rank to another are matched in the order in
/// which both ends started them. Everything may throw what has failed: a program does not catch it.
class Moves : public Interface {
 public:
  /// Of a send or receive that was started.
  using Ticket = std::uint64_t;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Does not wait; the elements must stay as they are until it has ended. `to` is another rank.
  virtual Ticket start_send(int to, const View& elements) = 0;
  /// Does not wait; the elements may be looked at once it has ended.
  virtual Ticket start_receive(int from, const View& elements) = 0;
  virtual void wait(Ticket ticket) = 0;

  /// No part of `to` may lie in `from`, unless both are the same: then nothing is moved.
  virtual void copy(const View& from, const View& to) = 0;
  /// result[i] = reduction(a[i], b[i]); `result` may be one of them.
  virtual void combine(const View& a, const View& b, const View& result) = 0;
  /// Receives elements and combines them with `own` as they come: result[i] = reduction(received[i], own[i]);
  /// `result` may be `own`.
  virtual void receive_and_combine(int from, const View& own, const View& result) = 0;
  /// Memory of the type of the call until its end.
  virtual View scratch(std::size_t count) = 0;

  void send(int to, const View& elements) { wait(start_send(to, elements)); }
  void receive(int from, const View& elements) { wait(start_receive(from, elements)); }
  /// Both at the same time.
  void exchange(int to, const View& out, int from, const View& in) {
    const Ticket receiving = start_receive(from, in);
    const Ticket sending = start_send(to, out);
    wait(receiving);
    wait(sending);
  }
};

}  // namespace fabricmark::collectives
