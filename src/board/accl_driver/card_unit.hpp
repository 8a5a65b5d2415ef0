#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "device/memory.hpp"
#include "device/program.hpp"
#include "kernels/common/accl.hpp"
#include "runtime/context.hpp"

namespace fabricmark::accl {

/// A compute unit of a bitstream with ACCL's engine, with a queue of its own: units wait for each other.
/// Streams are joined in the bitstream, and nobody sets them; arguments have their numbers in the source of
/// the kernel all the same. Never run on a card.
class CardUnit {
 public:
  /// Throws Error (bad use) where the bitstream has no such unit.
  CardUnit(const runtime::Context& context, const std::string& kernel, const std::string& unit);

  /// Memory that the argument reaches, of a byte where it would have none.
  [[nodiscard]] device::Buffer buffer(unsigned argument, std::size_t bytes) const;
  /// Elements of the host, in such memory.
  template <typename T>
  [[nodiscard]] device::Buffer buffer(unsigned argument, const std::vector<T>& elements) const {
    device::Buffer made = buffer(argument, elements.size() * sizeof(T));
    write(made, elements.data(), elements.size() * sizeof(T));
    return made;
  }
  /// Return when the bytes are there.
  void write(device::Buffer& buffer, const void* source, std::size_t bytes) const;
  void read(const device::Buffer& buffer, void* destination, std::size_t bytes) const;

  /// For the next start, once the last one has ended.
  void set(unsigned argument, const device::Buffer& buffer) const;
  /// A number, of the type that the kernel has there.
  template <typename T>
  requires std::integral<T> || std::floating_point<T>
  void set(unsigned argument, T number) const { kernel_->set_number(argument, &number, sizeof(number)); }
  /// What commands of the host's need, in three arguments from this one on.
  void set(unsigned argument, const fm::accl_use& use) const;

  void start() const;
  void finish() const { queue_.finish(); }

 private:
  const device::Device* card_;
  std::unique_ptr<device::backend::Kernel> kernel_;
  device::Queue queue_;
};

/// Starts units in this order, in which who takes words comes before who makes them, and waits for all.
void run(const std::vector<const CardUnit*>& units);

/// The unit that calls the engine, with memory for what became of its calls (fm::accl_outcome).
class CardCaller : public CardUnit {
 public:
  /// `failed`: the argument for it.
  CardCaller(const runtime::Context& context, const std::string& kernel, const std::string& unit,
             unsigned failed);
  /// Throws Error (1) where a call of the last start has failed.
  void require_no_failure() const;

 private:
  device::Buffer failed_;
};

/// Where memory begins, for commands of a kernel. Throws Refusal where the runtime does not say.
inline std::uint64_t address_of(const device::Buffer& buffer) {
  return buffer.implementation().physical_address();
}

/// Throws Error (bad use) where the run asks for several replicas of kernels that a card has one of, as ACCL
/// has one stream in each direction.
void require_one_replica(const runtime::Context& context);

/// Throws Error (1) for calls that a kernel says have failed: how many, and the status of the first one.
void require_no_failure(const std::array<int, 2>& failed);

}  // namespace fabricmark::accl
