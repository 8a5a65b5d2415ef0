// What the runtime costs a repetition: a benchmark that does nothing, run like any other. It times itself
// from its first to its last repetition and says so in a note of its result.
#include <chrono>
#include <string>

#include "runtime/run.hpp"

namespace {

using Clock = std::chrono::steady_clock;

class Empty : public fabricmark::runtime::Benchmark {
 public:
  static constexpr const char* name = "empty";
  explicit Empty(const fabricmark::runtime::Context& /*context*/) {}

  void prepare(int /*repetition*/) override {}
  void execute(fabricmark::runtime::TimedRegions& regions) override {
    regions.time("nothing", [] {});
    last_ = Clock::now();
    if (repetitions_ == 0) first_ = last_;
    ++repetitions_;
  }
  std::vector<fabricmark::runtime::Verdict> validate() override {
    return {{.name = "repetitions", .error = repetitions_ > 1 ? 0.0 : 1.0, .checked = 1}};
  }
  [[nodiscard]] std::vector<fabricmark::runtime::Metric> metrics() const override {
    return {{.name = "empty region",
             .region = "nothing",
             .unit = "s",
             .better = fabricmark::runtime::Better::kLower}};
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    const std::chrono::duration<double> elapsed = last_ - first_;
    return {"seconds per repetition: " + std::to_string(elapsed.count() / (repetitions_ - 1) * 1e6) + "e-6"};
  }

 private:
  Clock::time_point first_;
  Clock::time_point last_;
  int repetitions_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return fabricmark::runtime::run<Empty>(argc, argv); }
