#include "apps/lbm/wake.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricmark::lbm {

double frequency_of(const std::vector<double>& samples, double interval) {
  double first = 0;
  double last = 0;
  int rises = 0;
  for (std::size_t i = samples.size() / 2 + 1; i < samples.size(); ++i) {
    const double before = samples[i - 1];
    if (before > 0 || samples[i] <= 0) continue;
    last = static_cast<double>(i) - samples[i] / (samples[i] - before);  // straight between samples
    if (rises++ == 0) first = last;
  }
  constexpr int kFewest = 4;
  return rises < kFewest ? 0 : (rises - 1) / ((last - first) * interval);
}

namespace {

class Wake final : public stencil::Recorder {
 public:
  Wake(runtime::Communicator& ranks, const stencil::Part& part, const Case& of, std::int64_t interval)
      : ranks_(ranks), part_(part), cylinder_(of.cylinder.value()), speed_(of.speed), interval_(interval) {
    constexpr double kBehind = 3;  // diameters, where vortices are strong and go by one after the other
    column_ = std::min(static_cast<std::size_t>(cylinder_.x + kBehind * 2 * cylinder_.radius),
                       of.problem.columns - 1);
    row_ = of.problem.rows / 2;
  }

  void begin(const std::vector<double>& /*state*/) override { samples_.clear(); }
  [[nodiscard]] std::int64_t next(std::int64_t step) const override { return next_multiple(step, interval_); }
  void take(std::int64_t /*step*/, const std::vector<double>& state) override {
    if (!part_.has(row_)) return;
    samples_.push_back(flow_of(&state[part_.at(0, row_ - part_.first_row, column_)], part_.cells()).v);
  }
  void end(const std::vector<double>& /*state*/) override {
    frequency_ = ranks_.all_reduce_max_number(frequency_of(samples_, static_cast<double>(interval_)));
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    const std::string where = fmt::format("behind the cylinder (column {}, row {})", column_, row_);
    if (frequency_ == 0) return {"no vortices pass " + where + " yet: use more --steps"};
    const double strouhal = frequency_ * 2 * cylinder_.radius / speed_;
    return {fmt::format("vortices pass {} every {:.6g} steps: Strouhal number {:.6g}", where, 1 / frequency_,
                        strouhal)};
  }

 private:
  runtime::Communicator& ranks_;
  stencil::Part part_;
  Cylinder cylinder_;
  double speed_;
  std::int64_t interval_;
  std::size_t column_ = 0;
  std::size_t row_ = 0;
  std::vector<double> samples_;
  double frequency_ = 0;
};

}  // namespace

std::unique_ptr<stencil::Recorder> record_wake(runtime::Communicator& ranks, const stencil::Part& part,
                                               const Case& of, std::int64_t interval) {
  return std::make_unique<Wake>(ranks, part, of, interval);
}

}  // namespace fabricmark::lbm
