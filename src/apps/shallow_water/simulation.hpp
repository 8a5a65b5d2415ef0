#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/shallow_water/checkpoint.hpp"
#include "apps/shallow_water/execution.hpp"
#include "base/progress.hpp"
#include "mesh/tides.hpp"

namespace fabricmark::shallow_water {

/// What a run writes beside its result, by steps; 0: never.
struct Outputs {
  std::filesystem::path fields;  ///< folder of mesh, snapshots and stations; empty: none
  std::int64_t snapshot_steps = 0;
  std::int64_t station_steps = 0;
  std::vector<mesh::Station> stations;
  std::filesystem::path checkpoint;  ///< empty: none
  std::int64_t checkpoint_steps = 0;
};

/// As the options say, for steps of this length. Throws Error (bad use) for stations that are no points of
/// the mesh.
Outputs outputs_of(const runtime::Context& context, const mesh::Mesh& mesh, const Steps& plan);

/// Steps on all ranks, with what is written and checked in between.
class Simulation {
 public:
  Simulation(const runtime::Context& context, const Problem& problem, const Basis& basis,
             const LocalMesh& local, Execution& execution, const Steps& plan, std::string key);

  /// To be called before the first step; `writes`: of a run that counts. `volume_at_start`: for checkpoints.
  /// Collective, as all others.
  void begin(bool writes, double volume_at_start);
  /// Steps up to this one. Throws Error (invalid result) that names element and time where an element is not
  /// deep enough, too fast for the step, or not a number.
  void advance(std::int64_t to);
  /// Throws as `advance` does, for what the device has found since it was given a state.
  void check();
  /// Writes what ends with the run.
  void end();
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Elements of all ranks.
  [[nodiscard]] const std::vector<std::vector<std::int32_t>>& elements() const { return elements_; }

 private:
  [[nodiscard]] double seconds() const { return static_cast<double>(step_) * plan_.dt; }
  [[nodiscard]] std::int64_t next_event() const;
  void record();
  void record_snapshot(const Field& field);
  void record_stations(const Field& field);
  void save(const Field& field);
  void show_progress();

  const runtime::Context& context_;
  runtime::Communicator& ranks_;
  const Problem& problem_;
  const Basis& basis_;
  const LocalMesh& local_;
  Execution& execution_;
  Steps plan_;
  std::string key_;  ///< of checkpoints
  Outputs outputs_;
  std::vector<std::vector<std::int32_t>> elements_;
  Progress progress_;
  std::int64_t step_ = 0;
  bool writes_ = false;
  double volume_at_start_ = 0;
  std::chrono::steady_clock::time_point shown_{};
  /// A station in an own element: its number, and where in the element it is.
  struct OwnStation {
    std::size_t number = 0;
    std::size_t place = 0;
    double r = 0;
    double s = 0;
    double depth = 0;
  };
  std::vector<OwnStation> stations_;
  std::string curves_;  ///< the text of stations.csv, on the root
  std::string snapshots_;
  std::size_t snapshot_count_ = 0;
};

}  // namespace fabricmark::shallow_water
