#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/shallow_water/device_part.hpp"
#include "apps/shallow_water/execution.hpp"
#include "benchmarks/common/halo_sums.hpp"
#include "board/board.hpp"

namespace fabricmark::shallow_water {

/// Cables to other devices that the send and receive kernels of links serve.
inline constexpr int kLinksOfDevice = 4;
/// A word of a halo in the device's memory, and as it travels by an engine: 512 bits, for four elements.
inline constexpr std::size_t kHaloWordBytes = 64;
/// Of a message, which begins with a word of its own.
constexpr std::size_t halo_bytes(std::size_t elements) {
  constexpr std::size_t kInWord = 4;
  return (elements + kInWord - 1) / kInWord * kHaloWordBytes;
}

/// The kernels of kernels/shallow_water/dataflow.cpp on one device, with the memories that they work on and
/// the streams between them. Whoever starts them waits for their ends, and gives no other steps before.
class DeviceKernels {
 public:
  /// `local`: null where only time is asked for; else it has to stay. `pipeline_cycles`: L_pipe of eq. 5.2.
  DeviceKernels(const DevicePart& part, const LocalMesh* local, double pipeline_cycles);
  ~DeviceKernels();

  /// As Execution::write.
  void write(const Field& field, std::uint32_t offset);
  void read(Field& field) const;
  void write_outflow(const std::vector<double>& outflow);
  [[nodiscard]] std::vector<double> outflow() const;
  /// The first step in which an element must not go on.
  [[nodiscard]] std::optional<std::int64_t> trouble() const;
  [[nodiscard]] const common::HaloSums& sums() const;
  /// Modelled time that the element kernel has waited so far for halos, and for what lies beyond outer edges,
  /// which is the way through the pipelines [s].
  struct Stalls {
    double halos = 0;
    double pipelines = 0;
  };
  [[nodiscard]] Stalls stalls() const;

  /// The element and the edge kernel, for these steps. `forcing`: of each; may be empty where only time is
  /// asked for.
  void start(dataflow::Host& host, const Steps& steps, const Physics& physics,
             const std::vector<Forcing>& forcing);

  /// What kernels on a card take and give back of these steps (card_device.cpp): memory as the host has it,
  /// and numbers. It stays until the next call of this object.
  struct OnCard {
    std::span<std::byte> neighbours, elements, states, outflow, edge_states, edges, slots, places, forcing;
    std::span<std::byte> halo, arrived;  ///< what comes, which the host does not see
    std::span<std::byte> sent, received, trouble;
    std::uint32_t core = 0, own = 0, outer = 0, known = 0, leaving = 0;  ///< as counts of the kernels
    std::array<float, 6> stage{};  ///< dt, gravity, both frictions, Coriolis, the least depth
    std::uint32_t first = 0, steps = 0;
  };
  OnCard on_card(const Steps& steps, const Physics& physics, const std::vector<Forcing>& forcing);

  // Over links.

  /// Neighbour n at port n of its own.
  void open_links(board::Board& board);
  void start_links(dataflow::Host& host);

  // By an engine, in whose memory messages arrive; or by the host.

  void connect(accl::Accl& engine, bool is_called_by_logic);
  /// Words that arrive and leave, message by message.
  [[nodiscard]] std::vector<std::byte>& arrived();
  [[nodiscard]] std::vector<std::byte>& stored();
  /// The kernels of the engine for all steps of `start`.
  void start_engine(dataflow::Host& host);
  /// Throws Error (1) where a call of these has failed.
  void check_calls() const;
  /// The kernel that sends by the engine, for all steps; it tells the kernel that calls, where there is one.
  void start_sending(dataflow::Host& host, bool tells);
  /// Of one step, where the host exchanges what the kernel stored.
  device::Event start_storing(dataflow::Host& host, std::int64_t step);
  /// What lies in the memory, to the element kernel.
  device::Event start_receiving(dataflow::Host& host, std::int64_t step);

 private:
  struct Memory;
  struct Streams;
  /// What the kernels need of these steps.
  void prepare(const Steps& steps, const Physics& physics, const std::vector<Forcing>& forcing);

  DevicePart part_;
  double pipeline_cycles_;
  std::unique_ptr<Memory> memory_;
  std::shared_ptr<Streams> streams_;
};

}  // namespace fabricmark::shallow_water
