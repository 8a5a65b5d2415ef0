// The single work-item kernel: one work-item runs over whole blocks of the local buffer's length.
#include "benchmarks/stream/execution.hpp"

namespace fabricmark::stream {

namespace {

class BaseExecution : public Execution {
 public:
  BaseExecution(const runtime::Context& context, std::size_t element_bytes)
      : Execution(context, context.parameters().count("buffer_size"), element_bytes),
        block_(context.parameters().count("buffer_size")) {}

 private:
  [[nodiscard]] device::Geometry geometry(const Part& /*part*/) const override { return {}; }
  [[nodiscard]] std::uint32_t units(const Part& part) const override {
    return static_cast<std::uint32_t>(part.count / block_);
  }

  std::size_t block_;
};

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, std::size_t element_bytes) {
  return std::make_unique<BaseExecution>(context, element_bytes);
}

}  // namespace fabricmark::stream
