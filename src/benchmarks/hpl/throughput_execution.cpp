// The ND-range kernels: of a CPU, on packed panels, and of a GPU, in local memory.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/common/tiles.hpp"
#include "benchmarks/hpl/factorization.hpp"
#include "kernels/hpl/panel_tiles.h"

namespace fabricmark::hpl {

namespace {

std::size_t divide_up(std::size_t count, std::size_t unit) { return (count + unit - 1) / unit; }

bool is_cpu(const runtime::Context& context) {
  return context.device().info().device_class == device::DeviceClass::kCpu;
}

/// What both have in common: they go over tiles, and work-items or work-groups over several of these.
class ThroughputFactorization : public Factorization {
 public:
  ThroughputFactorization(const runtime::Context& context, const Layout& layout, const Packing& packing,
                          bool is_one_queue)
      : Factorization(context, layout, packing, entry::kInvert, is_one_queue),
        block_(layout.block),
        invert_(context.replications(1, entry::kInvert)),
        scratch_(std::move(context.buffers(entry::kLu, "block").front())) {
    invert_.follow(lu());
    lu().set(0, {{"block", scratch_}});
    invert_.set(0, {{"block", scratch_}});
  }

  void poison() override {
    Factorization::poison();
    Factorization::poison(scratch_);
  }

 protected:
  /// Rows and columns of a tile; tiles of rows and columns of an item; work-items of an item.
  struct Tiling {
    std::size_t rows = 1;
    std::size_t columns = 1;
    std::size_t item_rows = 1;
    std::size_t item_columns = 1;
    std::size_t work_items = 1;
  };
  virtual const Tiling& tiling() const = 0;
  [[nodiscard]] std::size_t block() const { return block_; }

  device::Event start_block(device::Buffer& lower, device::Buffer& upper,
                            const device::Events& after) override {
    invert_.set(0, {{"lower", lower}, {"upper", upper}});
    lu().start("lu", 0, geometry(1), after);
    return invert_.start("invert", 0, geometry(inverse_items()));
  }
  /// Of the kernel that forms the inverses.
  [[nodiscard]] virtual std::size_t inverse_items() const = 0;
  device::Geometry prepare_top(device::Replications& /*kernel*/, std::size_t blocks) override {
    return geometry(blocks * block_ / tiling().columns);
  }
  [[nodiscard]] std::size_t items(const Rectangle& blocks) const override {
    const Rectangle all = tiles(blocks);
    return divide_up(all.rows.count(), tiling().item_rows) *
           divide_up(all.columns.count(), tiling().item_columns);
  }
  device::Geometry prepare_inner(device::Replications& kernel, int copy, const Rectangle& blocks,
                                 std::size_t first, std::size_t count) override {
    const Rectangle all = tiles(blocks);
    kernel.set(copy, {{"row_begin", all.rows.begin},
                      {"row_end", all.rows.end},
                      {"column_begin", all.columns.begin},
                      {"column_end", all.columns.end},
                      {"first", first}});
    return geometry(count);
  }
  [[nodiscard]] device::Geometry geometry(std::size_t items) const {
    return {items * tiling().work_items, tiling().work_items};
  }

 private:
  /// A tile that begins in one block of rows and ends in the next belongs to the first.
  [[nodiscard]] Rectangle tiles(const Rectangle& blocks) const {
    const auto rows = [&](std::size_t count) { return divide_up(count * block_, tiling().rows); };
    const auto columns = [&](std::size_t count) { return count * block_ / tiling().columns; };
    return {.rows = {rows(blocks.rows.begin), rows(blocks.rows.end)},
            .columns = {columns(blocks.columns.begin), columns(blocks.columns.end)}};
  }

  std::size_t block_;
  device::Replications invert_;
  device::Buffer scratch_;
};

class CpuFactorization : public ThroughputFactorization {
 public:
  CpuFactorization(const runtime::Context& context, const Layout& layout, const Packing& packing)
      : ThroughputFactorization(context, layout, packing, false),
        tiling_{.rows = packing.tile_rows,
                .columns = context.parameters().count("tile_vectors") * packing.unit,
                .item_rows = context.parameters().count("row_tiles"),
                .item_columns = context.parameters().count("column_tiles")} {}

 protected:
  [[nodiscard]] const Tiling& tiling() const override { return tiling_; }
  [[nodiscard]] std::size_t inverse_items() const override { return 2; }  // one for each
  device::Geometry prepare_left(device::Replications& kernel, std::size_t blocks) override {
    const std::size_t tiles = divide_up(blocks * block(), tiling_.rows);
    kernel.set(0, {{"tiles", tiles}});
    return geometry(divide_up(tiles, PANEL_TILES));
  }

 private:
  Tiling tiling_;
};

class GpuFactorization : public ThroughputFactorization {
 public:
  GpuFactorization(const runtime::Context& context, const Layout& layout, const Packing& packing)
      : ThroughputFactorization(context, layout, packing, true), tiling_(tiling_of(context)) {}

  static Tiling tiling_of(const runtime::Context& context) {
    const std::size_t side = context.parameters().count("group_side");
    return {.rows = side * context.parameters().count("tile_rows"),
            .columns = side * context.parameters().count("tile_vectors"),
            .work_items = side * side};
  }

 protected:
  [[nodiscard]] const Tiling& tiling() const override { return tiling_; }
  /// Work-groups share the columns of both, 16 at a time as long as local memory has the room.
  [[nodiscard]] std::size_t inverse_items() const override { return 2 * divide_up(block(), 16); }
  device::Geometry prepare_left(device::Replications& kernel, std::size_t blocks) override {
    const std::size_t tiles = blocks * block() / tiling_.rows;
    kernel.set(0, {{"tiles", tiles}});
    return geometry(tiles);
  }

 private:
  Tiling tiling_;
};

/// Throws Error (bad use) where a block is not made of whole tiles.
void check_multiple(std::size_t block, std::size_t unit, const std::string& what) {
  if (block % unit == 0) return;
  throw bad_use(fmt::format("block_size = {} is not a multiple of {}, {}", block, unit, what),
                fmt::format("choose --block-size {}", divide_up(block, unit) * unit));
}

Packing throughput_packing(const runtime::Context& context, std::size_t bytes) {
  const runtime::Parameters& parameters = context.parameters();
  const std::size_t block = parameters.count("block_size");
  Packing packing{.block = block, .value_bytes = bytes, .panel_value_bytes = bytes};
  if (is_cpu(context)) {
    packing.tile_rows = parameters.count("tile_rows");
    packing.unit = common::vector_width(context, bytes);
    check_multiple(block, parameters.count("tile_vectors") * packing.unit, "the columns of a tile");
    return packing;
  }
  if (parameters.text("data_type") == "mixed" && parameters.count("matrix_units") > 0)
    packing.panel_value_bytes = sizeof(device::Half);
  const std::size_t side = parameters.count("group_side");
  check_multiple(block, side * parameters.count("tile_rows"), "the rows of a work-group");
  check_multiple(block, side * parameters.count("tile_vectors"), "the columns of a work-group");
  check_multiple(block, parameters.count("depth_block"), "depth_block");
  return packing;
}

}  // namespace

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Layout& layout,
                                           double host_bytes) {
  const Packing packing = throughput_packing(context, value_bytes(context));
  require_memory(context, host_bytes);
  if (is_cpu(context)) return std::make_unique<CpuFactorization>(context, layout, packing);
  return std::make_unique<GpuFactorization>(context, layout, packing);
}

}  // namespace fabricmark::hpl
