#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/tsunami/gauges.hpp"
#include "apps/tsunami/ocean.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"
#include "stencil/recorder.hpp"

namespace fabricmark::tsunami {

/// The folder of --fields, which the command `fabricmark maps` reads: grid.json, fields at the end, snapshots
/// and stations.csv with what gauges recorded. Fields go over all ranks to the root, which writes.
class RunFiles final : public stencil::Recorder {
 public:
  /// Throws Error (bad use) for gauges that are no cells of water.
  RunFiles(const runtime::Context& context, const Ocean& ocean, const stencil::Part& part);

  void begin(const std::vector<double>& state) override;
  [[nodiscard]] std::int64_t next(std::int64_t step) const override;
  void take(std::int64_t step, const std::vector<double>& state) override;
  void end(const std::vector<double>& state) override;

 private:
  /// What `number` makes of each own cell, of the whole grid.
  template <typename Number>
  void write(const std::string& file, const Number& number);
  void record_gauges(std::int64_t step, const std::vector<double>& state);
  void record_snapshot(std::int64_t step, const std::vector<double>& state);
  [[nodiscard]] std::string description() const;

  runtime::Communicator& ranks_;
  const Ocean& ocean_;
  stencil::Part part_;
  std::string case_;
  std::filesystem::path folder_;
  std::int64_t snapshot_every_;  ///< 0: never
  std::int64_t gauge_every_ = 0;
  std::vector<Gauge> gauges_;
  std::string curves_;     ///< the text of stations.csv, on the root
  std::string snapshots_;  ///< of grid.json
};

/// null where --fields names none.
std::unique_ptr<RunFiles> run_files(const runtime::Context& context, const Ocean& ocean,
                                    const stencil::Part& part);

}  // namespace fabricmark::tsunami
