// The single work-item kernel: one work-item runs over whole blocks of the local buffer's length.
#include "benchmarks/common/stack.hpp"
#include "benchmarks/stream/execution.hpp"

namespace fabricmark::stream {

namespace {

/// Elements in the local buffer, whose length counts vectors. Throws Error (bad use) where it does not fit a
/// CPU's stacks.
std::size_t block_elements(const runtime::Context& context, std::size_t element_bytes) {
  const std::size_t elements =
      context.parameters().count("buffer_size") * context.parameters().count("vector_width");
  common::require_stack(context, elements * element_bytes, "buffer_size");
  return elements;
}

class BaseExecution : public Execution {
 public:
  BaseExecution(const runtime::Context& context, std::size_t block, std::size_t element_bytes)
      : Execution(context, block, element_bytes), block_(block) {}

 private:
  [[nodiscard]] device::Geometry geometry(const Part& /*part*/) const override { return {}; }
  [[nodiscard]] std::uint32_t units(const Part& part) const override {
    return static_cast<std::uint32_t>(part.count / block_);
  }

  std::size_t block_;
};

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, std::size_t element_bytes) {
  return std::make_unique<BaseExecution>(context, block_elements(context, element_bytes), element_bytes);
}

}  // namespace fabricmark::stream
