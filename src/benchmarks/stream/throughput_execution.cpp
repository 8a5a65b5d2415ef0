// The ND-range kernel: each work-item handles `vectors_per_item` vectors.
#include "benchmarks/stream/execution.hpp"

namespace fabricmark::stream {

namespace {

class ThroughputExecution : public Execution {
 public:
  ThroughputExecution(const runtime::Context& context, std::size_t element_bytes)
      : Execution(context, context.parameters().count("vector_width"), element_bytes),
        vector_width_(context.parameters().count("vector_width")),
        vectors_per_item_(context.parameters().count("vectors_per_item")),
        work_group_(context.work_group_size()) {}

 private:
  [[nodiscard]] device::Geometry geometry(const Part& part) const override {
    const std::size_t items = (units(part) + vectors_per_item_ - 1) / vectors_per_item_;
    return {(items + work_group_ - 1) / work_group_ * work_group_, work_group_};
  }
  [[nodiscard]] std::uint32_t units(const Part& part) const override {
    return static_cast<std::uint32_t>(part.count / vector_width_);
  }

  std::size_t vector_width_;
  std::size_t vectors_per_item_;
  std::size_t work_group_;
};

}  // namespace

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, std::size_t element_bytes) {
  return std::make_unique<ThroughputExecution>(context, element_bytes);
}

}  // namespace fabricmark::stream
