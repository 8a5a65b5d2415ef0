// The time of the device design alone (--timing-only): the same kernels and ways, over which empty words
// pass.
#include <fmt/format.h>

#include <algorithm>

#include "apps/shallow_water/emulated_device.hpp"
#include "apps/shallow_water/gather.hpp"
#include "apps/shallow_water/stalls.hpp"
#include "apps/shallow_water/work.hpp"
#include "base/error.hpp"

namespace fabricmark::shallow_water {

namespace {

constexpr const char* kSteps = "steps";

class DataflowTiming final : public runtime::Benchmark {
 public:
  DataflowTiming(const runtime::Context& context, MakeDevice make_device)
      : ranks_(context.ranks()),
        steps_(steps_of(context.parameters())),
        part_(part_of_rank(context)),
        kernels_(part_, nullptr, pipeline_cycles(context)),
        device_(make_device(context, part_, kernels_)),
        stalls_(context) {}

  void prepare(int /*repetition*/) override {}
  void execute(runtime::TimedRegions& regions) override {
    stalls_.begin(kernels_);
    regions.time(kSteps, [&] { seconds_ = device_->advance(kernels_, {0, steps_, 0}, {}, {}); });
    stalls_.add(ranks_, kernels_, seconds_);
  }
  std::vector<runtime::Verdict> validate() override {
    runtime::Verdict verdict{.name = "nothing", .measure = "values"};
    return {verdict};
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const double cells = static_cast<double>(part_.own) * static_cast<double>(steps_);
    return {runtime::cell_steps(kSteps, cells), runtime::performance(kSteps, cells * flops_of_step(0))};
  }
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions) const override {
    return stalls_.metrics(regions, kSteps, static_cast<double>(steps_));
  }

 private:
  static std::int64_t steps_of(const runtime::Parameters& parameters) {
    constexpr std::int64_t kDefault = 100;
    const std::int64_t steps = parameters.integer("steps");
    return steps == 0 ? kDefault : steps;
  }
  static DevicePart part_of_rank(const runtime::Context& context) {
    runtime::Communicator& ranks = context.ranks();
    const std::string& mesh = context.parameters().text("mesh");
    DevicePart part;
    if (const std::optional<AlikeParts> alike = alike_parts(mesh, ranks.size())) {
      part = device_part(*alike, ranks.size(), ranks.rank());
    } else {
      part = numbered(ranks, context.parameters());
    }
    require_fit(context, part);
    return part;
  }
  /// The root cuts the mesh and tells each rank the numbers of its part.
  static DevicePart numbered(runtime::Communicator& ranks, const runtime::Parameters& parameters) {
    std::vector<std::int32_t> numbers;
    if (ranks.is_root()) {
      const mesh::Mesh mesh = make_problem(parameters).mesh;
      const std::vector<std::int32_t> part_of = mesh::partition(mesh, ranks.size());
      for (const DevicePart& part : device_parts(mesh, part_of, ranks.size())) {
        const auto add = [&](std::size_t number) { numbers.push_back(static_cast<std::int32_t>(number)); };
        add(part.core);
        add(part.own);
        add(part.outer);
        add(part.neighbours.size());
        for (const DevicePart::Neighbour& other : part.neighbours) {
          numbers.push_back(other.rank);
          add(other.sent);
          add(other.received);
        }
      }
    }
    numbers = all_elements(ranks, numbers).front();
    std::size_t next = 0;
    const auto take = [&] { return static_cast<std::size_t>(numbers[next++]); };
    DevicePart part;
    for (int rank = 0; rank <= ranks.rank(); ++rank) {
      part = {};
      part.core = take();
      part.own = take();
      part.outer = take();
      const std::size_t neighbours = take();
      for (std::size_t n = 0; n < neighbours; ++n) {
        const int other = static_cast<int>(take());
        const std::size_t sent = take();
        part.neighbours.push_back({other, sent, take()});
      }
    }
    return part;
  }

  runtime::Communicator& ranks_;
  std::int64_t steps_;
  DevicePart part_;
  DeviceKernels kernels_;
  std::unique_ptr<EmulatedDevice> device_;
  Stalls stalls_;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_dataflow_timing(const runtime::Context& context,
                                                         MakeDevice make_device) {
  return std::make_unique<DataflowTiming>(context, make_device);
}

}  // namespace fabricmark::shallow_water
