#pragma once

#include <vector>

#include "benchmarks/hpl/execution.hpp"
#include "benchmarks/hpl/row_parts.hpp"
#include "benchmarks/hpl/steps.hpp"
#include "transport/transport.hpp"

namespace fabricmark::hpl {

/// How kernels hold inverses and panels: a rank's rows of a panel are padded to whole tiles of `tile_rows`,
/// and they count `unit` elements as one where they are told the start of a panel.
struct Packing {
  std::size_t block = 1;
  std::size_t value_bytes = 4;
  std::size_t panel_value_bytes = 4;  ///< of panels
  std::size_t tile_rows = 1;
  std::size_t unit = 1;
  [[nodiscard]] std::size_t padded(std::size_t rows) const {
    return (rows + tile_rows - 1) / tile_rows * tile_rows;
  }
  /// Elements of panels of so many blocks; the inverses are panels of one block.
  [[nodiscard]] std::size_t left_elements(std::size_t blocks) const { return padded(blocks * block) * block; }
  [[nodiscard]] std::size_t top_elements(std::size_t blocks) const { return blocks * block * block; }
};

/// The entry points in the order of kernel.toml; base kernels have no `invert`, their lu does its work.
namespace entry {
inline constexpr std::size_t kLu = 0;
inline constexpr std::size_t kLeft = 1;
inline constexpr std::size_t kTop = 2;
inline constexpr std::size_t kInner = 3;
inline constexpr std::size_t kInvert = 4;
}  // namespace entry

/// The iterations of the factorisation: the order of kernels and messages, the same for all kernels.
///
/// One iteration is a communication phase (lu, left and top, with an exchange after each) and an update phase
/// (inner). With lookahead the updates that phase k + 1 starts from come first, and it runs while the device
/// does the rest of them. That rest is started in pieces, because some devices run one kernel after the
/// other: between two pieces lu, left, top and the copies of the exchange get their turn.
///
/// Where the host spreads the matrix over memory banks (matrix_banks), its rows of blocks are dealt to as
/// many buffers (RowParts). A kernel works on the rows of one buffer, and the left panel has its blocks in
/// the order of the buffers.
class Factorization : public Execution {
 public:
  void poison() override;
  void write_matrix(const void* values) override;
  void factorize() override;
  void read_factors(void* values) override;
  [[nodiscard]] std::optional<double> exchange_hidden() const override;

 protected:
  /// `inverses`: the number of the entry point that writes them. `is_one_queue`: left follows lu on its
  /// queue, and the host waits only for what it sends, as is best on a GPU.
  Factorization(const runtime::Context& context, const Layout& layout, const Packing& packing,
                std::size_t inverses, bool is_one_queue = false);
  void poison(device::Buffer& buffer);

  /// What factorises a block; its arguments that all kinds of kernel share are set when start_block is
  /// called.
  device::Replications& lu() { return lu_; }
  /// Starts the factorisation of a block whose place lu has, with all that its other arguments say, and
  /// what forms the inverses of its factors; returns the event of their end.
  virtual device::Event start_block(device::Buffer& lower, device::Buffer& upper,
                                    const device::Events& after) = 0;
  /// Set the arguments that not all kinds of kernel share, and say with how many work-items it is started.
  virtual device::Geometry prepare_left(device::Replications& kernel, std::size_t blocks) = 0;
  virtual device::Geometry prepare_top(device::Replications& kernel, std::size_t blocks) = 0;
  /// The parts in which a rectangle of inner blocks is updated; its rows and columns are counted from the
  /// blocks that the panels begin with.
  [[nodiscard]] virtual std::size_t items(const Rectangle& blocks) const = 0;
  /// Those from number `first` on.
  virtual device::Geometry prepare_inner(device::Replications& kernel, int copy, const Rectangle& blocks,
                                         std::size_t first, std::size_t count) = 0;

 private:
  using Events = device::Events;
  static void wait(const Events& events);
  /// For kernels before the inner ones, without waiting for those.
  void wait_for_first(const Events& events) const;

  /// left, top and the exchanges; `factorized`: the end of lu. Returns the ends of the panels that the host
  /// has not waited for.
  Events communicate(const Step& step, const Events& factorized);
  /// Starts the inner kernels, after the panels, and lu of the next step as soon as it may; returns the end
  /// of that.
  Events update(const Step& step, const Step& next, const Events& panels);
  /// Where this rank has the block, and there is one.
  Events start_lu(const Step& step);
  Events start_left(const Step& step, const Events& before);
  device::Event start_top(const Step& step, const Events& before);
  Events start_inner(const Step& step, const Rectangle& blocks, std::size_t items_per_launch,
                     const Events& after);
  void exchange(const Step& step, const Deliveries& deliveries);
  transport::Message message(const Step& step, const Delivery& delivery);
  void set_place(device::Replications& kernels, int copy, std::size_t block_row,
                 std::size_t block_column) const;
  [[nodiscard]] std::size_t panel_start(const Step& step, std::size_t part = 0) const;
  /// Calls `copy` with each buffer of the matrix that holds a piece of it, the piece's first byte in the
  /// matrix, its bytes, and where it lies in the buffer; waits for the copies.
  template <typename Copy>
  void each_piece(Copy copy);

  Layout layout_;
  Packing packing_;
  bool looks_ahead_;
  bool is_one_queue_;
  std::size_t launch_items_;
  device::Timeline& timeline_;
  device::Queue queue_;  // of the host's copies
  device::Replications lu_, left_, top_, inner_;
  RowParts parts_;
  std::vector<device::Buffer> matrix_;  // [part]
  std::size_t slot_elements_;           // of a panel: the panels of two iterations are in use at a time
  std::unique_ptr<transport::Transport> transport_;
  transport::Memory lower_, upper_, left_panel_, top_panel_;
  Events next_column_, next_row_;
  Events rest_[2];  // by parity of the iteration
};

/// Throws Error (bad use) where there is not the memory for a factorisation, and for `host_bytes` beside it.
void require_memory(const runtime::Context& context, double host_bytes);

/// Bytes of an element of the matrix.
std::size_t value_bytes(const runtime::Context& context);

}  // namespace fabricmark::hpl
