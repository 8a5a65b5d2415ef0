// The FPGA design: a single work-item, through which the cells of a grid stream once for each step.
#include <fmt/format.h>

#include "base/error.hpp"
#include "stencil/device_states.hpp"
#include "stencil/streamed.hpp"

namespace fabricmark::stencil {

namespace {

template <typename T>
class BaseExecution final : public Execution {
 public:
  BaseExecution(const runtime::Context& context, const Problem& problem, const Part& part)
      : problem_(problem),
        part_(part),
        stream_(streamed(context, problem)),
        timeline_(context.timeline()),
        states_(context),
        constants_(of_advance(context, "constants")),
        host_(context.host_array<T>(part.cells() * (part.fields + 1))) {
    const std::vector<T> constants(problem.constants.begin(), problem.constants.end());
    constants_.write(states_.queue(), constants.data(), constants.size() * sizeof(T));
    states_.queue().finish();
    states_.set({{"constants", constants_}, {"columns", stream_.in_row}, {"rows", stream_.rows}});
  }

  void write(const std::vector<double>& state, std::uint32_t offset) override {
    for (std::size_t row = 0; row < part_.rows; ++row) {
      for (std::size_t column = 0; column < part_.columns; ++column) {
        for (std::size_t field = 0; field < part_.fields; ++field) {
          host_[at(row, column) + field] = static_cast<T>(state[part_.at(field, row, column)]);
        }
        host_[at(row, column) + part_.fields] =
            static_cast<T>(problem_.kind({column, part_.first_row + row}));
      }
    }
    states_.now().write(states_.queue(), host_.data(), host_.size() * sizeof(T));
    states_.begin(offset);
  }
  void read(std::vector<double>& state) override {
    states_.now().read(states_.queue(), host_.data(), host_.size() * sizeof(T));
    states_.queue().finish();
    state.resize(part_.numbers());
    for (std::size_t field = 0; field < part_.fields; ++field) {
      for (std::size_t row = 0; row < part_.rows; ++row) {
        for (std::size_t column = 0; column < part_.columns; ++column) {
          state[part_.at(field, row, column)] = static_cast<double>(host_[at(row, column) + field]);
        }
      }
    }
  }
  void advance(std::int64_t first, std::int64_t count) override {
    states_.set_state(first);
    for (std::int64_t step = first; step < first + count; ++step) {
      device::Replications& kernel = states_.kernel();
      kernel.set(0, {{"begin_state", states_.told(step)}});
      device::Event done;
      kernel.start_on(states_.queue(), 0, {}, nullptr, timeline_.enabled() ? &done : nullptr);
      if (timeline_.enabled()) timeline_.add("steps", "advance", 0, done);
      states_.launched(step, step + 1);
    }
    states_.queue().finish();
  }
  std::optional<std::int64_t> trouble() override { return states_.trouble(); }
  [[nodiscard]] std::int64_t state() const override { return states_.state(); }

 private:
  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const {
    return stream_.at(row, column) * (part_.fields + 1);
  }

  const Problem& problem_;
  Part part_;
  Streamed stream_;
  device::Timeline& timeline_;
  DeviceStates states_;
  device::Buffer constants_;
  device::HostArray<T> host_;
};

void require_stream(const runtime::Context& context, const Problem& problem) {
  if (context.ranks().size() > 1) {
    throw bad_use("the base kernel has the whole grid on one device",
                  "use one rank, or --variant throughput, which takes a band of rows on each");
  }
  require_streams(context, problem, streamed(context, problem));
}

}  // namespace

std::unique_ptr<Execution> make_base(const runtime::Context& context, const Problem& problem,
                                     const Part& part) {
  require_stream(context, problem);
  if (context.parameters().text("data_type") == "double")
    return std::make_unique<BaseExecution<double>>(context, problem, part);
  return std::make_unique<BaseExecution<float>>(context, problem, part);
}

}  // namespace fabricmark::stencil
