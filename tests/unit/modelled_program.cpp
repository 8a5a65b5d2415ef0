// A program that models what it does beside measuring it, as those over an emulated fabric will. The test
// that runs it (tests/python/test_programs_kinds.py) writes its kernel.toml.
#include "runtime/run.hpp"

namespace fabricmark {

namespace {

class Modelled : public runtime::Benchmark {
 public:
  static constexpr const char* name = "simulated";
  explicit Modelled(const runtime::Context& context)
      : clock_(context.simulated_clock()),
        rank_(context.ranks().rank()),
        seconds_(1e-6 * static_cast<double>(context.parameters().count("microseconds"))),
        first_rank_(static_cast<int>(context.parameters().count("first_rank"))),
        skipped_(static_cast<int>(context.parameters().count("skipped"))) {}

  void prepare(int repetition) override { repetition_ = repetition; }

  /// Rank r takes (r + 1) times as much as the first, in each of four places.
  void execute(runtime::TimedRegions& regions) override {
    regions.time_each("work", kPlaces, [&](std::size_t /*place*/) {
      if (rank_ >= first_rank_ && repetition_ != skipped_) clock_.advance(seconds_ * (rank_ + 1));
    });
    regions.time("silent", [] {});
  }

  std::vector<runtime::Verdict> validate() override { return {{.name = "places", .checked = kPlaces}}; }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    runtime::Metric wall{.name = "time", .region = "work", .unit = "us", .scale = 1e6};
    wall.better = runtime::Better::kLower;
    runtime::Metric modelled = wall;
    modelled.kind = runtime::TimeKind::kModelled;
    runtime::Metric rate = runtime::bandwidth("work", 1e6);
    rate.kind = runtime::TimeKind::kModelled;
    return {wall, modelled, rate};
  }

 private:
  static constexpr std::size_t kPlaces = 4;
  runtime::SimulatedClock& clock_;
  int rank_;
  double seconds_;
  int first_rank_;
  int skipped_;  ///< repetition in which nothing is simulated
  int repetition_ = 0;
};

}  // namespace

}  // namespace fabricmark

int main(int argc, char** argv) { return fabricmark::runtime::run<fabricmark::Modelled>(argc, argv); }
