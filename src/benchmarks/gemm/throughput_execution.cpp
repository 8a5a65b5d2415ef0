// The ND-range kernels. On a CPU A and B are packed first, which is part of the time; on a GPU one kernel
// does all.
#include "benchmarks/common/tiles.hpp"
#include "benchmarks/gemm/execution.hpp"
#include "kernels/gemm/pack_rows.h"

namespace fabricmark::gemm {

namespace {

bool packs(const runtime::Context& context) {
  return context.device().info().device_class == device::DeviceClass::kCpu;
}

std::size_t whole(std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; }

class CpuExecution : public Execution {
 public:
  CpuExecution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes)
      : Execution(context, shape, bytes),
        pack_a_(context.replications(static_cast<int>(parts().size()), 1)),
        pack_b_(context.replications(1, 2)),
        packed_b_(std::move(context.buffers(2, "packed").front())),
        packed_a_(context.buffers(1, "packed")) {
    const runtime::Parameters& parameters = context.parameters();
    const std::size_t tile_columns =
        parameters.count("tile_vectors") * common::vector_width(context, bytes.value);
    pack_b_.set(0, {{"b", b(0)}, {"packed", packed_b_}, {"columns", shape.columns}, {"depth", shape.depth}});
    for (std::size_t i = 0; i < parts().size(); ++i) {
      const common::Part& part = parts()[i];
      const int copy = static_cast<int>(i);
      pack_a_.set(copy, {{"a", a(i)}, {"packed", packed_a_[i]}, {"depth", shape.depth}});
      pack_geometries_.push_back({part.count / shape.row_block, 1});

      set_arguments(i, packed_a_[i], packed_b_);
      kernels().set(copy, {{"rows", part.count}, {"columns", shape.columns}, {"depth", shape.depth}});
      const std::size_t row_blocks = whole(part.count / shape.row_block, parameters.count("row_tiles"));
      const std::size_t column_blocks = whole(shape.columns / tile_columns, parameters.count("column_tiles"));
      geometries_.push_back(
          {row_blocks / parameters.count("row_tiles") * (column_blocks / parameters.count("column_tiles")),
           1});
    }
  }

  void run() override {
    start(pack_b_, {{whole(shape().depth, PACK_ROWS) / PACK_ROWS, 1}});
    start(pack_a_, pack_geometries_);
    start(kernels(), geometries_);
  }

  void poison() override {
    Execution::poison();
    kernels().transfer([&](int i) {
      packed_a_[static_cast<std::size_t>(i)].poison(kernels().queue(i));
      if (i == 0) packed_b_.poison(kernels().queue(i));
    });
  }

 private:
  device::Replications pack_a_;
  device::Replications pack_b_;
  device::Buffer packed_b_;
  std::vector<device::Buffer> packed_a_;  // [part]
  std::vector<device::Geometry> pack_geometries_, geometries_;
};

class GpuExecution : public Execution {
 public:
  GpuExecution(const runtime::Context& context, const Shape& shape, const ElementBytes& bytes)
      : Execution(context, shape, bytes) {
    const runtime::Parameters& parameters = context.parameters();
    const std::size_t side = parameters.count("group_side");
    const std::size_t columns = shape.columns / (side * parameters.count("tile_vectors"));
    for (std::size_t i = 0; i < parts().size(); ++i) {
      const common::Part& part = parts()[i];
      set_arguments(i, a(i), b(i));
      kernels().set(static_cast<int>(i),
                    {{"rows", part.count}, {"columns", shape.columns}, {"depth", shape.depth}});
      geometries_.push_back({part.count / shape.row_block * columns * side * side, side * side});
    }
  }

  void run() override { start(kernels(), geometries_); }

 private:
  std::vector<device::Geometry> geometries_;
};

Shape throughput_shape(const runtime::Context& context, const ElementBytes& bytes) {
  const runtime::Parameters& parameters = context.parameters();
  const std::size_t size = parameters.count("size");
  const std::size_t tile_rows = parameters.count("tile_rows");
  const std::size_t tile_vectors = parameters.count("tile_vectors");
  if (packs(context)) {
    const std::size_t width = common::vector_width(context, bytes.value);
    return {.rows = whole(size, tile_rows),
            .columns = whole(size, tile_vectors * width),
            .depth = whole(size, width),
            .row_block = tile_rows};
  }
  const std::size_t side = parameters.count("group_side");
  return {.rows = whole(size, side * tile_rows),
          .columns = whole(size, side * tile_vectors),
          .depth = whole(size, parameters.count("depth_block")),
          .row_block = side * tile_rows};
}

}  // namespace

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const ElementBytes& bytes) {
  const Shape shape = throughput_shape(context, bytes);
  require_memory(context, shape, bytes);
  if (packs(context)) return std::make_unique<CpuExecution>(context, shape, bytes);
  return std::make_unique<GpuExecution>(context, shape, bytes);
}

}  // namespace fabricmark::gemm
