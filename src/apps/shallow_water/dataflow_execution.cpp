// The device design on emulated boards: dataflow kernels, with a partition in the local memory of each.
#include <fmt/format.h>

#include "apps/shallow_water/emulated_device.hpp"
#include "apps/shallow_water/stalls.hpp"
#include "base/error.hpp"

namespace fabricmark::shallow_water {

double pipeline_cycles(const runtime::Context& context) {
  constexpr double kMeyer = 687;  // of every row of Meyer 2024, Tables A.1 and A.2
  return context.costs() == nullptr ? kMeyer : context.costs()->value_or("pipeline_cycles", kMeyer);
}

namespace {

void require_design(const runtime::Parameters& parameters) {
  const bool is_as_built = parameters.integer("order") == 0 && parameters.text("data_type") == "float" &&
                           parameters.text("flux") == "rusanov";
  if (is_as_built) return;
  throw bad_use("the dataflow kernels have piecewise constant elements, floats and Rusanov's flux",
                "leave out --order, --data-type and --flux, or choose --variant throughput");
}

class DataflowExecution final : public Execution {
 public:
  DataflowExecution(const runtime::Context& context, const Problem& problem, const LocalMesh& local,
                    MakeDevice make_device)
      : ranks_(context.ranks()),
        problem_(problem),
        part_(fitting(context, local)),
        kernels_(part_, &local, pipeline_cycles(context)),
        device_(make_device(context, part_, kernels_)),
        stalls_(context) {}

  void write(const Field& field, std::uint32_t offset) override {
    kernels_.write(field, offset);
    if (counts_) stalls_.begin(kernels_);
  }
  void read(Field& field) override { kernels_.read(field); }
  std::vector<double> outflow() override { return kernels_.outflow(); }
  void write_outflow(const std::vector<double>& outflow) override { kernels_.write_outflow(outflow); }
  void advance(const Steps& steps) override {
    std::vector<Forcing> forcing;
    for (std::int64_t step = steps.first; step < steps.first + steps.count; ++step) {
      forcing.push_back(problem_.forcing(static_cast<double>(step) * steps.dt));
    }
    const double seconds = device_->advance(kernels_, steps, problem_.physics, forcing);
    if (counts_) stalls_.add(ranks_, kernels_, seconds);
  }
  std::optional<std::int64_t> trouble() override { return kernels_.trouble(); }
  common::HaloSums halo_sums() override { return kernels_.sums(); }
  void set_counting(bool counts) override { counts_ = counts; }
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions, const std::string& region,
      double steps) const override {
    return stalls_.metrics(regions, region, steps);
  }

 private:
  static DevicePart fitting(const runtime::Context& context, const LocalMesh& local) {
    require_design(context.parameters());
    const DevicePart part = device_part(local, context.ranks().size(), context.ranks().rank());
    require_fit(context, part);
    return part;
  }

  runtime::Communicator& ranks_;
  const Problem& problem_;
  DevicePart part_;
  DeviceKernels kernels_;
  std::unique_ptr<EmulatedDevice> device_;
  Stalls stalls_;
  bool counts_ = true;
};

}  // namespace

std::size_t dataflow_multiple(const runtime::Context& /*context*/) { return 1; }

void require_elements(const runtime::Context& context) {
  const std::string& mesh = context.parameters().text("mesh");
  if (!alike_parts(mesh, context.ranks().size())) return;
  throw bad_use(fmt::format("--mesh {} has numbers, and no elements to compute", mesh),
                "add --timing-only, or name a mesh, as in bay:8000");
}

std::unique_ptr<Execution> make_dataflow(const runtime::Context& context, const Problem& problem,
                                         const LocalMesh& local, MakeDevice make_device) {
  if (problem.has_inflow) {
    throw bad_use("the dataflow kernels have no rivers of a given inflow",
                  "choose --variant base or throughput, or leave out --river-discharge");
  }
  return std::make_unique<DataflowExecution>(context, problem, local, make_device);
}

}  // namespace fabricmark::shallow_water
