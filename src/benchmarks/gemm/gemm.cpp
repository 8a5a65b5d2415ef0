// GEMM: C = alpha A B + beta C of square matrices, embarrassingly parallel over the ranks (Meyer 2024,
// section 3.1.5).
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "benchmarks/gemm/column_check.hpp"
#include "benchmarks/gemm/execution.hpp"
#include "benchmarks/gemm/full_check.hpp"
#include "benchmarks/gemm/inputs.hpp"
#include "runtime/run.hpp"

namespace fabricmark::gemm {

namespace {

/// Significant bits of a type.
template <typename T>
constexpr int kBits = std::numeric_limits<T>::digits;
template <>
inline constexpr int kBits<device::Half> = 11;

/// A and B of type In, arithmetic and C of type Out. One repetition writes A, B and C to the device,
/// multiplies and reads the result, which is NaN before; every repetition has other matrices.
template <typename In, typename Out>
class TypedGemm : public runtime::Benchmark {
 public:
  TypedGemm(const runtime::Context& context, MakeExecution make_execution)
      : size_(context.parameters().count("size")),
        rank_(context.ranks().rank()),
        threads_(runtime::host_threads(context.ranks())),
        // As the device holds them.
        alpha_(static_cast<double>(static_cast<Out>(context.parameters().number("alpha")))),
        beta_(static_cast<double>(static_cast<Out>(context.parameters().number("beta")))),
        is_exact_(context.parameters().text("inputs") == "exact"),
        rounding_(rounding()),
        execution_(make_execution(context, {.input = sizeof(In), .value = sizeof(Out)})),
        shape_(execution_->shape()),
        a_(context.host_array<In>(shape_.a_elements())),
        b_(context.host_array<In>(shape_.b_elements())),
        c_(context.host_array<Out>(shape_.c_elements())),
        result_(context.host_array<Out>(shape_.c_elements())) {}

  void generate() override {
    // The padding stays as it is.
    parallel_fill(a_.span(), static_cast<In>(0.0), threads_);
    parallel_fill(b_.span(), static_cast<In>(0.0), threads_);
    // What must not be looked at is NaN.
    parallel_fill(c_.span(), static_cast<Out>(beta_ == 0 ? kNan : 0.0), threads_);
  }

  void prepare(int repetition) override {
    repetition_ = repetition;
    const Inputs inputs(input_kind(repetition));
    parallel_for(size_, threads_, kWorthAThread / size_, [&](std::size_t start, std::size_t end) {
      for (std::size_t i = start; i < end; ++i) {
        inputs.fill_row(Inputs::kA, i, a_.data() + i * shape_.depth);
        inputs.fill_row(Inputs::kB, i, b_.data() + i * shape_.columns);
        if (beta_ != 0) inputs.fill_row(Inputs::kC, i, c_.data() + i * shape_.columns);
      }
    });
    parallel_fill(result_.span(), static_cast<Out>(kNan), threads_);
    execution_->poison();
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.time("host_to_device", [&] { execution_->write_inputs(a_.data(), b_.data(), c_.data()); });
    regions.time("gemm", [&] { execution_->run(); });
    regions.time("device_to_host", [&] { execution_->read_result(result_.data()); });
  }

  void inject(const runtime::Fault& fault) override {
    if (!fault.target.empty() && fault.target != "c") {
      throw bad_use(fmt::format("--inject-fault names the matrix '{}'", fault.target), "use c");
    }
    std::vector<Out> values = without_padding(result_);
    if (fault.kind == runtime::Fault::Kind::kElement) {
      // One that counts: a small one is no larger than the others' rounding errors, and what alpha A B and
      // beta C leave of each other may be nothing.
      const auto size_of = [](Out value) { return std::abs(static_cast<double>(value)); };
      const auto place =
          static_cast<std::size_t>(std::ranges::max_element(values, {}, size_of) - values.begin());
      constexpr double kOfElement = 10;  // the element becomes 1 + 1000 eps times itself
      runtime::corrupt<Out>(std::span(values).subspan(place, 1), {}, fault.kind,
                            kOfElement * device::kEpsilon<Out>);
    } else {
      runtime::corrupt<Out>(values, without_padding(c_), fault.kind, device::kEpsilon<Out>);
    }
    for (std::size_t i = 0; i < size_; ++i) {
      std::copy_n(values.data() + i * size_, size_, result_.data() + i * shape_.columns);
    }
    execution_->write_result(result_.data());
    execution_->read_result(result_.data());
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    return {ColumnCheck<In, Out>(product(), check_seed(), threads_).verdict()};
  }

  std::vector<runtime::Verdict> validate() override { return check(product(), check_seed(), threads_); }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const auto n = static_cast<double>(size_);
    return {{"performance",
             {{"operation", "gemm"}},
             "gemm",
             "GFLOP/s",
             1e-9,
             runtime::Better::kHigher,
             2 * n * n * n,
             "FLOP"},
            runtime::bandwidth("host_to_device", n * n * (2 * sizeof(In) + sizeof(Out))),
            runtime::bandwidth("device_to_host", n * n * sizeof(Out))};
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] InputKind input_kind(int repetition) const {
    return {.is_exact = is_exact_,
            .size = size_,
            .value_bits = kBits<Out>,
            .input_bits = kBits<In>,
            .c_scale = scale_of_c(alpha_, beta_, kBits<Out>),
            .rank = rank_,
            .repetition = repetition};
  }

  /// Of what the checks choose at random: another one in every repetition.
  [[nodiscard]] std::uint64_t check_seed() const {
    return mixed_bits(static_cast<std::uint32_t>(repetition_));
  }

  [[nodiscard]] Product<In, Out> product() const {
    return {.size = size_,
            .alpha = alpha_,
            .beta = beta_,
            .rounding = rounding_,
            .a = {a_.data(), shape_.depth},
            .b = {b_.data(), shape_.columns},
            .c = {c_.data(), shape_.columns},
            .result = {result_.data(), shape_.columns}};
  }

  [[nodiscard]] Rounding rounding() const {
    return is_exact_ ? rounding_of_exact(alpha_, beta_, kBits<Out>) : Rounding::kOfSums;
  }

  [[nodiscard]] std::vector<Out> without_padding(const device::HostArray<Out>& matrix) const {
    std::vector<Out> values(size_ * size_);
    for (std::size_t i = 0; i < size_; ++i) {
      std::copy_n(matrix.data() + i * shape_.columns, size_, values.data() + i * size_);
    }
    return values;
  }

  std::size_t size_;
  int rank_;
  int threads_;
  double alpha_;
  double beta_;
  bool is_exact_;
  Rounding rounding_;
  std::unique_ptr<Execution> execution_;
  Shape shape_;
  device::HostArray<In> a_;
  device::HostArray<In> b_;
  device::HostArray<Out> c_;
  device::HostArray<Out> result_;
  int repetition_ = 0;
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context, MakeExecution execution) {
  const std::string& type = context.parameters().text("data_type");
  if (type == "half") return std::make_unique<TypedGemm<device::Half, device::Half>>(context, execution);
  if (type == "double") return std::make_unique<TypedGemm<double, double>>(context, execution);
  if (type == "mixed") return std::make_unique<TypedGemm<device::Half, float>>(context, execution);
  return std::make_unique<TypedGemm<float, float>>(context, execution);
}

/// An entry of the table: these executions for all types.
auto with(MakeExecution execution) {
  return [=](const runtime::Context& context) { return make(context, execution); };
}

}  // namespace

}  // namespace fabricmark::gemm

int main(int argc, char** argv) {
  using namespace fabricmark::gemm;
  return fabricmark::runtime::run_program(
      argc, argv, {"gemm", {{"base", {}, with(make_base)}, {"throughput", {}, with(make_throughput)}}});
}
