#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/shallow_water/field.hpp"
#include "apps/shallow_water/local_mesh.hpp"
#include "apps/shallow_water/problem.hpp"
#include "base/interface.hpp"
#include "benchmarks/common/halo_sums.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::shallow_water {

class DeviceKernels;
class EmulatedDevice;
struct DevicePart;

/// How the emulated device of a rank, on which the dataflow kernels run, gets to the others.
using MakeDevice = std::unique_ptr<EmulatedDevice>(const runtime::Context& context, const DevicePart& part,
                                                   DeviceKernels& kernels);

/// A stage of a step: q = keep q_before + take (q + dt L(q, t + shift dt)); of what it lets flow through open
/// edges, `weight` is a part of the step's (Shu and Osher 1988).
struct Stage {
  double shift = 0;
  double keep = 0;
  double take = 1;
  double weight = 1;
};
/// Euler's step, and the strong-stability-preserving ones of Runge and Kutta with 2 and 3 stages.
const std::vector<Stage>& stages_of(int order);

/// Steps that follow each other, from time `start` [s] of step `first` on.
struct Steps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  double dt = 0;  ///< step i begins at i dt
};

/// The device code on the elements of a rank: state in, steps, state out.
class Execution : public Interface {
 public:
  /// Of own elements, by their places. To kernels, steps have numbers that are larger by `offset`, so that
  /// they cannot know how far a run is: one of runtime::drawn_offset.
  virtual void write(const Field& field, std::uint32_t offset) = 0;
  virtual void read(Field& field) = 0;
  /// What left through open edges of each own element since `write` [m of its mean elevation].
  virtual std::vector<double> outflow() = 0;
  /// Sets that, as a run that goes on has it.
  virtual void write_outflow(const std::vector<double>& outflow) = 0;
  /// Returns when they are done, on all ranks that exchange halos with this one.
  virtual void advance(const Steps& steps) = 0;
  /// What a reader of its times should know.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// The first step in which an element was not deep enough, too fast for dt, or not a number. Then `read`
  /// gives what the stage in which that was found began with, and no step goes on.
  virtual std::optional<std::int64_t> trouble() = 0;
  /// Of all halos so far.
  virtual common::HaloSums halo_sums() = 0;
  /// Whether what follows counts for `derive`; from the start it does.
  virtual void set_counting(bool /*counts*/) {}
  /// What else there is to say of the timed region `region` with so many steps.
  [[nodiscard]] virtual std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& /*regions*/, const std::string& /*region*/,
      double /*steps*/) const {
    return {};
  }
};

/// As many elements as the arrays of a rank have to be a multiple of.
using Multiple = std::size_t (*)(const runtime::Context& context);
using MakeExecution = std::function<std::unique_ptr<Execution>(
    const runtime::Context& context, const Problem& problem, const LocalMesh& local)>;

/// In files of their names.
std::size_t base_multiple(const runtime::Context& context);
std::unique_ptr<Execution> make_base(const runtime::Context& context, const Problem& problem,
                                     const LocalMesh& local);
std::size_t throughput_multiple(const runtime::Context& context);
std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Problem& problem,
                                           const LocalMesh& local);

std::size_t dataflow_multiple(const runtime::Context& context);
std::unique_ptr<Execution> make_dataflow(const runtime::Context& context, const Problem& problem,
                                         const LocalMesh& local, MakeDevice make_device);
/// Throws Error (bad use) for a mesh that has numbers alone (parts:...).
void require_elements(const runtime::Context& context);
/// Of the same kernels, the time alone (--timing-only).
std::unique_ptr<runtime::Benchmark> make_dataflow_timing(const runtime::Context& context,
                                                         MakeDevice make_device);

}  // namespace fabricmark::shallow_water
