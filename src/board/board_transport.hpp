#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "board/board.hpp"
#include "collectives/replay/caller.hpp"
#include "transport/registry.hpp"
#include "transport/transport.hpp"

namespace fabricmark::board {

/// Collectives between the memories of devices over an emulated fabric, for kernels that know nothing of it:
/// what is sent is copied from the device to the memory of an emulated board, carried there to the other
/// boards, and copied back. The copies are a part of the emulation: they take no modelled time, as an engine
/// or kernels reach the memory of their device. What is carried takes that of the board, and begins when all
/// ranks are ready.
///
/// Every collective is one part of the board (board.hpp), has ended when it returns, and has faults of its
/// own. Parts of regions travel in words of four bytes.
class BoardTransport final : public transport::Transport {
 public:
  /// Collective; throws as Board and KernelLinks::make_collective_caller.
  explicit BoardTransport(const runtime::Context& context);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool supports(device::MemorySpace /*from*/, device::MemorySpace /*to*/,
                              transport::Operation operation) const override {
    return operation == transport::Operation::kCollective;
  }
  [[nodiscard]] std::unique_ptr<transport::Memory> allocate(std::size_t bytes) override;
  /// Throws Error (bad use): links lead to neighbours, and all ranks take part in all that moves.
  device::Event start(std::span<const transport::Message> sends, std::span<const transport::Message> receives,
                      const device::Events& after = {}) override;
  device::Event all_to_all(const transport::Region& outgoing, const transport::Region& incoming,
                           const device::Events& after = {}) override;
  device::Event all_gather(const transport::Region& own, const transport::Region& all,
                           const device::Events& after = {}) override;
  device::Event broadcast(const transport::Region& region, int root,
                          const device::Events& after = {}) override;

  /// What an exchange of all with all does where each rank gets so many bytes from each, in words.
  [[nodiscard]] std::string path_of(std::size_t part_bytes) const;

 private:
  /// A region as parts of the same size, one for each rank that they go to or come from.
  struct Parts {
    transport::Region region{};
    std::size_t count = 0;
    [[nodiscard]] std::size_t bytes() const { return count == 0 ? 0 : region.bytes / count; }
  };
  device::Event run(collectives::Call call, const Parts& own, const Parts& result,
                    const device::Events& after);
  /// Room for the parts in `memory`, which only grows.
  static collectives::View staged(const Parts& parts, std::vector<std::byte>& memory);
  // Copies of the parts, each with what fills its last word.
  void read(const Parts& parts, const collectives::View& staged) const;
  void write(const Parts& parts, const collectives::View& staged) const;

  const runtime::Context& context_;
  std::string name_;
  device::Queue queue_;
  Board board_;
  std::unique_ptr<collectives::Caller> caller_;
  std::vector<std::byte> own_, result_;  ///< of the board
};

/// As transport::make_transport; over transports of kernels for collectives of all ranks, which no costs of
/// messages between hosts concerns. Faults of messages are made there by the board.
std::unique_ptr<transport::Transport> make_transport(const runtime::Context& context,
                                                     const transport::TransportUse& use = {});

}  // namespace fabricmark::board
