#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/hpl/inputs.hpp"
#include "benchmarks/hpl/local.hpp"
#include "device/element.hpp"
#include "runtime/context.hpp"

namespace fabricmark::hpl {

/// How wrong one element is made, in epsilons.
inline constexpr double kThousand = 1000;

/// Whether the run refines its solution: asked for, or usual in mixed precision.
bool is_refined(const runtime::Parameters& parameters);

/// True for faults of x or of the refined x.
bool is_of_solution(const runtime::Fault& fault);

/// Throws Error (bad use) where the run's fault is one that HPL does not have, or not on this grid.
void check_fault(const runtime::Context& context, const common::Grid& grid);

/// Makes the factors of one rank wrong. Targets: u (the first), l, diagonal: one element there; factors: all
/// of the rank's; block: one block, or two blocks exchanged.
template <typename T>
class FactorFault {
 public:
  FactorFault(const Layout& layout, std::span<T> factors, std::span<const T> matrix, int repetition = 0,
              double epsilon = device::kEpsilon<T>)
      : layout_(layout),
        inputs_(layout.size, repetition),
        factors_(factors),
        matrix_(matrix),
        epsilon_(epsilon) {}

  void make(const runtime::Fault& fault) {
    if (fault.kind == runtime::Fault::Kind::kElement) {
      make_in_element(fault);
    } else if (fault.target == "block") {
      make_in_block(fault.kind);
    } else {
      runtime::corrupt<T>(factors_, matrix_, fault.kind, epsilon_);
    }
  }

 private:
  void make_in_element(const runtime::Fault& fault) {
    const std::string target = fault.target.empty() ? "u" : fault.target;
    T* const element = find(target);
    if (element != nullptr) {
      *element = static_cast<T>(static_cast<double>(*element) * (1 + kThousand * epsilon_));
    } else if (fault.rank || layout_.grid.rows * layout_.grid.columns == 1) {
      throw bad_use("the rank has no element of " + target,
                    "choose another target or rank, or a larger --size");
    }
  }

  /// An element that is not small among its like, as near the middle as can be; null where there is none.
  [[nodiscard]] T* find(const std::string& target) {
    constexpr double kOrdinary = 0.29;  // the root of the mean square
    T* found = nullptr;
    double largest = 0;
    const std::size_t rows = layout_.local_rows();
    for (std::size_t k = 0; k < rows && largest < kOrdinary; ++k) {
      const std::size_t r = (rows / 2 + k) % rows;
      const std::size_t row = layout_.global_row(r);
      for (std::size_t c = 0; c < real_columns(layout_) && row < layout_.size && largest < kOrdinary; ++c) {
        const std::size_t column = layout_.global_column(c);
        const std::string part = row == column ? "diagonal" : row < column ? "u" : "l";
        if (part != target || std::abs(inputs_(row, column)) <= largest) continue;
        largest = std::abs(inputs_(row, column));
        found = &factors_[r * layout_.local_columns() + c];
      }
    }
    return found;
  }

  void make_in_block(runtime::Fault::Kind kind) {
    const std::size_t block_rows = layout_.local_rows() / layout_.block;
    const std::size_t block_columns = layout_.local_columns() / layout_.block;
    const std::size_t blocks = block_rows * block_columns;
    if (blocks < 2) throw bad_use("the rank has less than two blocks", "reduce --block-size");
    // Numbered row by row; these two are neighbours.
    const std::size_t last = blocks / 2;
    std::vector<T> values = block(factors_, last);
    std::vector<T> other = block(factors_, last - 1);
    if (kind == runtime::Fault::Kind::kSwapped) {
      std::swap(values, other);
      put(last - 1, other);
    } else {
      runtime::corrupt<T>(values, block(matrix_, last), kind, epsilon_);
    }
    put(last, values);
  }

  [[nodiscard]] std::size_t place(std::size_t number) const {
    const std::size_t block_columns = layout_.local_columns() / layout_.block;
    return (number / block_columns * layout_.local_columns() + number % block_columns) * layout_.block;
  }
  [[nodiscard]] std::vector<T> block(std::span<const T> matrix, std::size_t number) const {
    std::vector<T> values;
    for (std::size_t i = 0; i < layout_.block; ++i) {
      const std::span<const T> line =
          matrix.subspan(place(number) + i * layout_.local_columns(), layout_.block);
      values.insert(values.end(), line.begin(), line.end());
    }
    return values;
  }
  void put(std::size_t number, const std::vector<T>& values) {
    for (std::size_t i = 0; i < layout_.block; ++i) {
      std::copy_n(values.begin() + i * layout_.block, layout_.block,
                  factors_.begin() + place(number) + i * layout_.local_columns());
    }
  }

  Layout layout_;
  Inputs inputs_;
  std::span<T> factors_;
  std::span<const T> matrix_;
  double epsilon_;  ///< of the products, in which errors count
};

}  // namespace fabricmark::hpl
