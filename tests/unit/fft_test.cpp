#include <numeric>
#include <set>
#include <tuple>

#include "benchmarks/fft/check.hpp"
#include "benchmarks/fft/random_sum.hpp"
#include "benchmarks/fft/tables.hpp"
#include "runtime/fault.hpp"
#include "support.hpp"

namespace fabricmark::fft {

namespace {

using runtime::Fault;
using test::mentions;
using test::message_of;

// The check ------------------------------------------------------------------------------------------------

template <typename T>
class FftCheck : public testing::Test {
 protected:
  using Points = std::vector<std::complex<T>>;

  /// Inputs and right results of a batch: FFTW's, rounded to T.
  void make(std::size_t log_size, std::size_t batch, Direction direction) {
    log_size_ = log_size;
    direction_ = direction;
    const std::size_t points = std::size_t{1} << log_size;
    inputs_.resize(batch * points);
    results_.resize(batch * points);
    fill_input<T>(inputs_, input_seed(0, direction), 0);
    Reference reference(points);
    for (std::size_t start = 0; start < inputs_.size(); start += points) {
      for (std::size_t i = 0; i < points; ++i) reference.points()[i] = inputs_[start + i];
      reference.transform(direction);
      for (std::size_t i = 0; i < points; ++i) {
        results_[start + i] = static_cast<std::complex<T>>(reference.points()[i]);
      }
    }
  }

  [[nodiscard]] std::vector<runtime::Verdict> check(const Points& results) const {
    References references(std::size_t{1} << log_size_, {});
    return check_batch<T>(
        references, [&](std::size_t i) { return inputs_[i]; }, std::span(results), log_size_, direction_);
  }

  /// The results with a fault in the transform of this index.
  [[nodiscard]] Points corrupted(Fault::Kind kind, std::size_t transform) const {
    Points results = results_;
    const std::size_t points = std::size_t{1} << log_size_;
    const std::span<T> values(reinterpret_cast<T*>(results.data() + transform * points), 2 * points);
    const std::vector<T> stale(values.size(), std::numeric_limits<T>::quiet_NaN());
    if (kind == Fault::Kind::kElement) {
      const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
      runtime::corrupt<T>(values.subspan(largest, 1), {}, kind, 10 * device::kEpsilon<T>);
    } else {
      runtime::corrupt<T>(values, stale, kind, device::kEpsilon<T>);
    }
    return results;
  }

  std::size_t log_size_ = 0;
  Direction direction_ = Direction::kForward;
  Points inputs_, results_;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftCheck, Types);

constexpr std::array<std::size_t, 4> kLogSizes{3, 8, 14, 20};
constexpr std::array<Direction, 2> kDirections{Direction::kForward, Direction::kInverse};
constexpr std::array<Fault::Kind, 5> kFaults{Fault::Kind::kElement, Fault::Kind::kScale, Fault::Kind::kZeros,
                                             Fault::Kind::kStale, Fault::Kind::kSwapped};

TYPED_TEST(FftCheck, PassesRightResults) {
  for (const std::size_t log_size : kLogSizes) {
    for (const Direction direction : kDirections) {
      this->make(log_size, 2, direction);
      for (const runtime::Verdict& verdict : this->check(this->results_)) {
        EXPECT_TRUE(verdict.passed()) << verdict.name << " of 2^" << log_size << ": " << verdict.error;
        EXPECT_EQ(verdict.checked, std::size_t{2} << log_size);
        EXPECT_LT(verdict.error, verdict.threshold / 8) << "rounding alone";
      }
    }
  }
}

TYPED_TEST(FftCheck, FindsEveryFaultInOneTransformAndSaysWhere) {
  for (const std::size_t log_size : kLogSizes) {
    this->make(log_size, 2, log_size % 2 == 0 ? Direction::kForward : Direction::kInverse);
    for (const Fault::Kind kind : kFaults) {
      const std::vector<runtime::Verdict> verdicts = this->check(this->corrupted(kind, 1));
      EXPECT_FALSE(verdicts[0].passed()) << "fault " << static_cast<int>(kind) << " of 2^" << log_size;
      EXPECT_TRUE(mentions(verdicts[0].worst->place, "of transform 1")) << verdicts[0].worst->place;
      EXPECT_FALSE(verdicts[1].passed()) << "fault " << static_cast<int>(kind) << " of 2^" << log_size;
    }
  }
}

TYPED_TEST(FftCheck, FindsAWrongDirectionAScaleAndAnotherTransform) {
  for (const std::size_t log_size : {std::size_t{3}, std::size_t{12}}) {
    this->make(log_size, 2, Direction::kForward);
    const auto right = this->results_;
    auto wrong = right;
    for (auto& point : wrong) point /= static_cast<TypeParam>(std::size_t{1} << log_size);
    EXPECT_FALSE(this->check(wrong)[0].passed()) << "scaled by 1 / n";
    wrong = right;
    std::swap_ranges(wrong.begin(), wrong.begin() + wrong.size() / 2, wrong.begin() + wrong.size() / 2);
    EXPECT_FALSE(this->check(wrong)[0].passed()) << "transforms exchanged";
    this->direction_ = Direction::kInverse;
    EXPECT_FALSE(this->check(right)[0].passed()) << "forward for inverse";
  }
}

TYPED_TEST(FftCheck, FindsASingleNaN) {
  this->make(6, 3, Direction::kForward);
  this->results_.back() = {0, std::numeric_limits<TypeParam>::quiet_NaN()};
  const std::vector<runtime::Verdict> verdicts = this->check(this->results_);
  for (const runtime::Verdict& verdict : verdicts) EXPECT_FALSE(verdict.passed()) << verdict.name;
  EXPECT_EQ(verdicts[0].worst->place, "point 63 of transform 2");
}

// The check of each repetition -----------------------------------------------------------------------------

template <typename T>
class FftSums : public FftCheck<T> {
 protected:
  /// The verdict on the batch, or on one part of its only transform.
  [[nodiscard]] runtime::Verdict sums(const typename FftCheck<T>::Points& results, std::size_t first,
                                      std::size_t count) const {
    const std::size_t points = std::size_t{1} << this->log_size_;
    const RandomSum<T> random(this->log_size_, first, count);
    SumVerdict<T> verdict(random, this->direction_);
    for (std::size_t start = 0; start < results.size(); start += points) {
      verdict.add([&](std::size_t i) { return this->inputs_[start + i]; },
                  std::span(results).subspan(start + first, count), start / points);
    }
    return verdict.verdict();
  }
  [[nodiscard]] runtime::Verdict sums(const typename FftCheck<T>::Points& results) const {
    return sums(results, 0, std::size_t{1} << this->log_size_);
  }
};
TYPED_TEST_SUITE(FftSums, Types);

TYPED_TEST(FftSums, PassRightResults) {
  for (const std::size_t log_size : kLogSizes) {
    for (const Direction direction : kDirections) {
      this->make(log_size, 2, direction);
      const runtime::Verdict verdict = this->sums(this->results_);
      EXPECT_LT(verdict.error, verdict.threshold / 2) << verdict.name << " of 2^" << log_size;
      EXPECT_EQ(verdict.checked, std::size_t{2} << log_size);
      const std::size_t part = std::size_t{1} << (log_size - 1);
      EXPECT_TRUE(this->sums(this->results_, part, part).passed());
    }
  }
}

TYPED_TEST(FftSums, FindOneWrongTransformOfABatchAndSayWhich) {
  for (const std::size_t log_size : kLogSizes) {
    this->make(log_size, 3, log_size % 2 == 0 ? Direction::kForward : Direction::kInverse);
    for (const Fault::Kind kind : kFaults) {
      if (kind == Fault::Kind::kElement) continue;  // 1000 eps of one point are for the full check
      const runtime::Verdict verdict = this->sums(this->corrupted(kind, 1));
      EXPECT_FALSE(verdict.passed()) << "fault " << static_cast<int>(kind) << " of 2^" << log_size;
      EXPECT_TRUE(mentions(verdict.worst->place, "transform 1")) << verdict.worst->place;
    }
  }
}

TYPED_TEST(FftSums, FindASingleWrongPointWrongOrdersAndOtherTransforms) {
  for (const std::size_t log_size : kLogSizes) {
    this->make(log_size, 2, Direction::kForward);
    const std::size_t points = std::size_t{1} << log_size;
    for (const std::size_t point : {std::size_t{0}, points / 2 + 1, 2 * points - 1}) {
      auto wrong = this->results_;
      wrong[point] = 0;
      EXPECT_FALSE(this->sums(wrong).passed()) << "point " << point << " of 2^" << log_size;
    }
    auto wrong = this->results_;
    std::swap(wrong[1], wrong[2]);
    EXPECT_FALSE(this->sums(wrong).passed()) << "two points exchanged";
    wrong = this->results_;
    std::reverse(wrong.begin() + 1, wrong.begin() + static_cast<std::ptrdiff_t>(points));
    EXPECT_FALSE(this->sums(wrong).passed()) << "inverse for forward";
    wrong = this->results_;
    std::swap_ranges(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(points),
                     wrong.begin() + static_cast<std::ptrdiff_t>(points));
    EXPECT_FALSE(this->sums(wrong).passed()) << "transforms exchanged";
    wrong = this->results_;
    wrong.back() = {0, std::numeric_limits<TypeParam>::quiet_NaN()};
    EXPECT_FALSE(this->sums(wrong).passed()) << "NaN";
  }
}

// Inputs and tables ----------------------------------------------------------------------------------------

TEST(Inputs, DifferFromPointToPointDirectionToDirectionAndRepetitionToRepetition) {
  constexpr std::uint64_t kCount = 50000;
  std::set<float> seen;
  double sum = 0;
  double squares = 0;
  for (const int repetition : {-1, 0, 1}) {
    for (const Direction direction : kDirections) {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        const std::complex<float> point = input_point<float>(input_seed(repetition, direction), i);
        ASSERT_LE(std::max(std::abs(point.real()), std::abs(point.imag())), 0.5);
        sum += point.real() + point.imag();
        squares += std::norm(point);
        seen.insert(point.real());
      }
    }
  }
  EXPECT_GT(seen.size(), 6 * kCount * 98 / 100);
  EXPECT_LT(std::abs(sum / (12 * kCount)), 0.003);
  EXPECT_NEAR(squares / (6 * kCount), kInputVariance, 0.001);
}

TEST(Steps, AreRowsTimesColumns) {
  for (std::size_t log_size = 3; log_size <= 30; ++log_size) {
    const Steps size = steps(log_size);
    EXPECT_EQ(size.rows * size.columns, std::size_t{1} << log_size);
    EXPECT_TRUE(size.rows == size.columns || size.rows == 2 * size.columns);
  }
}

/// Half a unit in the last place of a number up to 1, and what the wider computation may be wrong by.
template <typename T>
constexpr double kRounding = 0.5001 * device::kEpsilon<T> / 2;

template <typename T>
void expect_exact(std::pair<T, T> found, long double index, long double points) {
  // A large angle would be rounded more than its sine may be wrong: quarters of a turn are exact.
  const long double quarter = std::floor(4 * index / points);
  const long double angle = -2 * std::numbers::pi_v<long double> * (index - quarter * points / 4) / points;
  std::complex<long double> expected(std::cos(angle), std::sin(angle));
  for (int turn = 0; turn < static_cast<int>(quarter); ++turn) expected = {expected.imag(), -expected.real()};
  EXPECT_LE(std::abs(found.first - expected.real()), kRounding<T>) << index << " of " << points;
  EXPECT_LE(std::abs(found.second - expected.imag()), kRounding<T>) << index << " of " << points;
}

template <typename T>
class FftTables : public testing::Test {};
TYPED_TEST_SUITE(FftTables, Types);

TYPED_TEST(FftTables, AreExactToTheLastDigit) {
  for (const std::size_t points : {8U, 1024U, 1U << 17}) {
    const auto table = twiddles<TypeParam>(points, 2);
    ASSERT_EQ(table.size(), 2 * points);
    for (std::size_t i = 0; i < points; ++i) {
      expect_exact<TypeParam>({table[2 * i], table[2 * i + 1]}, i, points);
    }
  }
  expect_exact(twiddle<TypeParam>((std::size_t{1} << 30) + 3, std::size_t{1} << 30), 3, 1U << 30);
}

TYPED_TEST(FftTables, BetweenTheStepsArePartsOfOne) {
  const Steps size = steps(9);
  const auto whole = between_steps<TypeParam>(size, 0, size.columns, 2);
  const std::size_t planes = size.rows * size.columns;
  ASSERT_EQ(whole.size(), 2 * planes);
  constexpr std::size_t kCount = 4;
  for (std::size_t first = 0; first < size.columns; first += kCount) {
    const auto part = between_steps<TypeParam>(size, first, kCount);
    ASSERT_EQ(part.size(), 2 * size.rows * kCount);
    for (std::size_t row = 0; row < size.rows; ++row) {
      for (std::size_t column = 0; column < kCount; ++column) {
        const std::size_t here = row * size.columns + first + column;
        expect_exact<TypeParam>({whole[here], whole[planes + here]},
                                static_cast<long double>(row * (first + column)), planes);
        EXPECT_EQ(part[row * kCount + column], whole[here]);
        EXPECT_EQ(part[size.rows * kCount + row * kCount + column], whole[planes + here]);
      }
    }
  }
}

}  // namespace

}  // namespace fabricmark::fft
