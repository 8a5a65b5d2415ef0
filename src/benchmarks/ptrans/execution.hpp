#pragma once

#include <memory>
#include <span>

#include "benchmarks/ptrans/plan.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::ptrans {

/// The matrices of one rank, and one way for blocks of A to get to the ranks that need them. Blocks are in
/// the order of the plan. What moves them from kernel to kernel later is another one of these.
class Execution {
 public:
  virtual ~Execution() = default;
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  virtual void write_a(std::span<const std::byte> blocks) = 0;
  virtual void write_b(std::span<const std::byte> blocks) = 0;
  virtual void write_c(std::span<const std::byte> blocks) = 0;
  virtual void read_c(std::span<std::byte> blocks) = 0;
  /// Overwrites what earlier exchanges have left; `blocks` are as many as the rank has.
  virtual void poison_arrived(std::span<const std::byte> blocks) = 0;
  /// What the last exchange has left: a block for each place of the plan.
  virtual void read_arrived(std::span<std::byte> blocks) = 0;

  /// C = B + A^T, once, with exchange and transposition overlapped.
  virtual void run() = 0;
  /// The same in two steps: first all blocks to the devices that need them, then all kernels, which find
  /// only the blocks of the last rounds: C is not right then.
  virtual void exchange() = 0;
  virtual void transpose() = 0;
};

/// Over the transport "host": A lies on the device, and its blocks go to other devices over the hosts.
std::unique_ptr<Execution> make_host_execution(const runtime::Context& context, const Plan& plan,
                                               std::size_t block_bytes);
/// Over the transport "cpu", as the base version of Meyer 2024 (section 4.1.2.1): A lies on the host;
/// the hosts exchange its blocks and write all that the kernels need to the device.
std::unique_ptr<Execution> make_cpu_execution(const runtime::Context& context, const Plan& plan,
                                              std::size_t block_bytes);

}  // namespace fabricmark::ptrans
