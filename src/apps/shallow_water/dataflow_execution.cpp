// The device design on emulated boards: dataflow kernels, with a partition in the local memory of each.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "apps/shallow_water/emulated_device.hpp"
#include "apps/shallow_water/gather.hpp"
#include "apps/shallow_water/stalls.hpp"
#include "base/error.hpp"

namespace fabricmark::shallow_water {

double pipeline_cycles(const runtime::Context& context) {
  constexpr double kMeyer = 687;  // of every row of Meyer 2024, Tables A.1 and A.2
  return context.costs() == nullptr ? kMeyer : context.costs()->value_or("pipeline_cycles", kMeyer);
}

std::unique_ptr<EmulatedDevice> make_device(const runtime::Context& context, const DevicePart& part,
                                            DeviceKernels& kernels) {
  const std::string& transport = context.parameters().text("transport");
  if (transport.starts_with("accl-")) return make_device_on_engine(context, part, kernels);
  if (runtime::is_of_kernels(transport)) return make_device_on_links(context, part, kernels);
  return make_device_on_host(context, part);
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
  DataflowExecution(const runtime::Context& context, const Problem& problem, const LocalMesh& local)
      : ranks_(context.ranks()),
        problem_(problem),
        part_(fitting(context, local)),
        kernels_(part_, &local, pipeline_cycles(context)),
        device_(make_device(context, part_, kernels_)),
        stalls_(context) {}

  void write(const Field& field) override {
    kernels_.write(field);
    stalls_.begin(kernels_);
  }
  void read(Field& field) override { kernels_.read(field); }
  std::vector<double> outflow() override { return kernels_.outflow(); }
  void write_outflow(const std::vector<double>& outflow) override { kernels_.write_outflow(outflow); }
  void advance(const Steps& steps) override {
    std::vector<Forcing> forcing;
    for (std::int64_t step = steps.first; step < steps.first + steps.count; ++step) {
      forcing.push_back(problem_.forcing(static_cast<double>(step) * steps.dt));
    }
    stalls_.add(ranks_, kernels_, device_->advance(kernels_, steps, problem_.physics, forcing));
  }
  std::optional<std::int64_t> trouble() override { return kernels_.trouble(); }
  std::vector<runtime::Verdict> verdicts() override { return {halo_verdict()}; }
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::LapSeconds>& laps, const std::string& lap,
      double steps) const override {
    return stalls_.metrics(laps, lap, steps);
  }

 private:
  static DevicePart fitting(const runtime::Context& context, const LocalMesh& local) {
    require_design(context.parameters());
    const DevicePart part = device_part(local, context.ranks().size(), context.ranks().rank());
    require_fit(context, part);
    return part;
  }

  /// Whether each device got what its neighbours sent, word for word, in all steps. Collective.
  runtime::Verdict halo_verdict() {
    const HaloSums& own = kernels_.sums();
    std::vector<std::vector<unsigned long long>> sent;
    for (const std::vector<std::byte>& bytes : ranks_.all_gather(std::as_bytes(std::span(own.sent)))) {
      std::vector<unsigned long long>& sums = sent.emplace_back(bytes.size() / sizeof(unsigned long long));
      if (!bytes.empty()) std::memcpy(sums.data(), bytes.data(), bytes.size());
    }
    std::vector<std::int32_t> neighbours;
    for (const DevicePart::Neighbour& neighbour : part_.neighbours) neighbours.push_back(neighbour.rank);
    const std::vector<std::vector<std::int32_t>> all = all_elements(ranks_, neighbours);
    runtime::Verdict verdict{
        .name = "halos", .measure = "ways with wrong words", .checked = part_.arriving()};
    for (std::size_t n = 0; n < neighbours.size(); ++n) {
      const auto other = static_cast<std::size_t>(neighbours[n]);
      const auto place = std::ranges::find(all[other], ranks_.rank()) - all[other].begin();
      if (sent[other][static_cast<std::size_t>(place)] == own.received[n]) continue;
      if (verdict.error == 0) {
        verdict.worst = {fmt::format("from device {} to device {}", other, ranks_.rank()), 0, 1};
      }
      ++verdict.error;
    }
    return verdict;
  }

  runtime::Communicator& ranks_;
  const Problem& problem_;
  DevicePart part_;
  DeviceKernels kernels_;
  std::unique_ptr<EmulatedDevice> device_;
  Stalls stalls_;
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
                                         const LocalMesh& local) {
  if (problem.has_inflow) {
    throw bad_use("the dataflow kernels have no rivers of a given inflow",
                  "choose --variant base or throughput, or leave out --river-discharge");
  }
  return std::make_unique<DataflowExecution>(context, problem, local);
}

}  // namespace fabricmark::shallow_water
