#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/lbm/cases.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"
#include "stencil/recorder.hpp"

namespace fabricmark::lbm {

/// The folder of --fields, with the cells at the end: cells.npy, ten words each, as they stream through a
/// pipeline, and u.npy and v.npy. The root writes.
class RunFiles final : public stencil::Recorder {
 public:
  /// `other`, which may be null, records too.
  RunFiles(const runtime::Context& context, const Case& of, const stencil::Part& part,
           std::unique_ptr<stencil::Recorder> other);

  void begin(const std::vector<double>& state) override;
  [[nodiscard]] std::int64_t next(std::int64_t step) const override;
  void take(std::int64_t step, const std::vector<double>& state) override;
  void end(const std::vector<double>& state) override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  /// `own` of each rank, `columns` in a line of the file.
  void write(const std::string& file, const std::vector<float>& own, std::size_t columns);

  runtime::Communicator& ranks_;
  const Case& case_;
  stencil::Part part_;
  std::filesystem::path folder_;
  std::unique_ptr<stencil::Recorder> other_;
};

}  // namespace fabricmark::lbm
