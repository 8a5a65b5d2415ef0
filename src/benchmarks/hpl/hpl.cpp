// HPL, device side only: factorises and checks L U x against A x.
#include <cmath>

#include "benchmarks/hpl/execution.hpp"
#include "harness/run.hpp"

namespace fabricmark::hpl {

namespace {

double element(std::size_t i, std::size_t j, std::size_t n) {
  if (i >= n || j >= n) return i == j ? 1 : 0;
  std::uint64_t bits = i * n + j + 1;
  for (int round = 0; round < 2; ++round) {
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    bits ^= bits >> 31U;
  }
  const double value = std::ldexp(static_cast<double>(bits >> 11U), -53) - 0.5;
  return i == j ? static_cast<double>(n) / 4 + value : value;
}

template <typename T>
class Hpl : public harness::Benchmark {
 public:
  explicit Hpl(const harness::Context& context)
      : ranks_(context.ranks()),
        layout_{context.parameters().count("size"), context.parameters().count("block_size"),
                harness::make_grid(context.ranks().size(), context.parameters().count("grid_rows")),
                context.ranks().rank()},
        execution_(context.variant() == "base" ? make_base(context, layout_)
                                               : make_throughput(context, layout_)),
        values_(layout_.elements()),
        result_(layout_.elements()) {}
  void generate() override {
    for (std::size_t i = 0; i < layout_.local_rows(); ++i) {
      for (std::size_t j = 0; j < layout_.local_columns(); ++j) {
        values_[i * layout_.local_columns() + j] =
            static_cast<T>(element(layout_.global_row(i), layout_.global_column(j), layout_.size));
      }
    }
  }
  void execute(harness::Laps& laps) override {
    execution_->write_matrix(values_.data());
    laps.time("lu", [&] { execution_->factorize(); });
    execution_->read_factors(result_.data());
  }
  void inject(const harness::Fault& /*fault*/) override {}
  std::vector<harness::Verdict> validate() override {
    const std::size_t n = layout_.size;
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = 1 + static_cast<double>(i % 7);
    const auto apply = [&](const std::vector<double>& v, const device::HostArray<T>& m, int part) {
      std::vector<double> y(n, 0.0);
      for (std::size_t i = 0; i < layout_.local_rows(); ++i) {
        const std::size_t row = layout_.global_row(i);
        if (row >= n) continue;
        for (std::size_t j = 0; j < layout_.local_columns(); ++j) {
          const std::size_t column = layout_.global_column(j);
          if (column >= n || (part == 1 && column < row) || (part == -1 && column >= row)) continue;
          y[row] += static_cast<double>(m[i * layout_.local_columns() + j]) * v[column];
        }
        if (part == -1 && row / layout_.block % layout_.grid.columns == layout_.grid_column())
          y[row] += v[row];
      }
      std::vector<double> sum(n, 0.0);
      for (const auto& other : ranks_.gather_numbers(y)) {
        for (std::size_t i = 0; i < n; ++i) sum[i] += other[i];
      }
      return sum;
    };
    const std::vector<double> expected = apply(x, values_, 0);
    const std::vector<double> actual = apply(apply(x, result_, 1), result_, -1);
    harness::Verdict verdict;
    verdict.name = "probe";
    verdict.measure = "|L U x - A x| / (eps |A x| sqrt n)";
    verdict.threshold = 16;
    verdict.checked = n;
    double worst = 0;
    double scale = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = std::abs(actual[i] - expected[i]);
      worst = std::isfinite(difference) ? std::max(worst, difference) : 1e300;
      scale = std::max(scale, std::abs(expected[i]));
    }
    verdict.error = worst / (scale * std::numeric_limits<T>::epsilon());
    return {verdict};
  }
  [[nodiscard]] std::vector<harness::Metric> metrics() const override {
    const auto n = static_cast<double>(layout_.size);
    return {{"performance",
             {{"operation", "lu"}},
             "lu",
             "GFLOP/s",
             1e-9,
             harness::Better::kHigher,
             2 * n * n * n / 3 / ranks_.size(),
             "FLOP"}};
  }
  [[nodiscard]] std::vector<harness::DerivedFigure> derive(
      const std::map<std::string, harness::LapSeconds>& /*laps*/) const override {
    const std::optional<double> own = execution_->exchange_hidden();
    std::vector<double> all;
    for (const auto& one : ranks_.gather_numbers(own ? std::vector<double>{*own} : std::vector<double>{}))
      all.insert(all.end(), one.begin(), one.end());
    if (all.empty()) return {};
    const double least = *std::min_element(all.begin(), all.end());
    const double most = *std::max_element(all.begin(), all.end());
    return {{"exchange_hidden", {}, "share", harness::Better::kHigher, most, least, "least and most"}};
  }

 private:
  harness::Ranks& ranks_;
  Layout layout_;
  std::unique_ptr<Execution> execution_;
  device::HostArray<T> values_, result_;
};

std::unique_ptr<harness::Benchmark> make(const harness::Context& context) {
  if (context.parameters().text("data_type") == "double") return std::make_unique<Hpl<double>>(context);
  return std::make_unique<Hpl<float>>(context);
}

}  // namespace

}  // namespace fabricmark::hpl

int main(int argc, char** argv) {
  return fabricmark::harness::run_program(argc, argv, {"hpl", fabricmark::hpl::make});
}
