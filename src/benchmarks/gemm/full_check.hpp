#pragma once

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "benchmarks/common/products.hpp"
#include "benchmarks/gemm/check.hpp"
#include "benchmarks/gemm/column_check.hpp"
#include "benchmarks/gemm/product.hpp"

namespace fabricmark::gemm {

/// Up to so many rows every element of an exact product is compared; of a larger one as many as take the
/// same number of operations.
inline constexpr std::size_t kFullyCompared = 8192;

/// The rows whose elements are compared. All of them, but of exact products with more than `limit` rows:
/// there one at random of each of limit^3 / n^2 runs of rows of the same length, with the first and the last
/// row. Only ColumnCheck of an exact product finds whatever is wrong in the other rows.
template <typename In, typename Out>
std::vector<std::size_t> compared_rows(const Product<In, Out>& product, std::uint64_t seed,
                                       std::size_t limit) {
  const std::size_t size = product.size;
  std::vector<std::size_t> rows(size);
  if (product.rounding != Rounding::kNone || size <= limit) {
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  const double share = static_cast<double>(limit) / static_cast<double>(size);
  rows.resize(std::max<std::size_t>(2, static_cast<std::size_t>(share * share * static_cast<double>(limit))));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t start = size * i / rows.size();
    const std::size_t end = size * (i + 1) / rows.size();
    rows[i] = start + mixed_bits(seed + (i + 1) * kRandomStep) % (end - start);
  }
  rows.front() = 0;
  rows.back() = size - 1;
  return rows;
}

/// The elements of these rows against a product by OpenBLAS in double precision, made part by part to need
/// little memory.
template <typename In, typename Out>
Comparison<In, Out> compare(const Product<In, Out>& product, const std::vector<std::size_t>& rows,
                            int threads) {
  common::prepare_products(threads);
  Comparison<In, Out> comparison(product);
  const std::size_t size = product.size;
  std::mutex merging;
  std::vector<double> left(std::min(kCheckedRows, rows.size()) * size);
  for (std::size_t first = 0; first < rows.size(); first += kCheckedRows) {
    const std::size_t count = std::min(kCheckedRows, rows.size() - first);
    parallel_for(count, threads, kWorthAThread / size, [&](std::size_t start, std::size_t end) {
      for (std::size_t i = start; i < end; ++i) {
        for (std::size_t k = 0; k < size; ++k) left[i * size + k] = product.a(rows[first + i], k);
      }
    });
    const std::size_t parts = (size + kCheckedColumns - 1) / kCheckedColumns;
    parallel_for(parts, threads, 1, [&](std::size_t start, std::size_t end) {
      Comparison<In, Out> own(product);
      std::vector<double> right(size * kCheckedColumns);
      std::vector<double> sums(kCheckedRows * kCheckedColumns);
      for (std::size_t column = start * kCheckedColumns; column < std::min(end * kCheckedColumns, size);
           column += kCheckedColumns) {
        const std::size_t columns = std::min(kCheckedColumns, size - column);
        for (std::size_t k = 0; k < size; ++k) {
          for (std::size_t j = 0; j < columns; ++j) right[k * columns + j] = product.b(k, column + j);
        }
        multiply(left, right, sums, {count, columns, size});
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t j = 0; j < columns; ++j)
            own.add(rows[first + i], column + j, sums[i * columns + j]);
        }
      }
      const std::scoped_lock lock(merging);
      comparison.merge(own);
    });
  }
  return comparison;
}

/// A few rows, the first and the last among them, against sums in extended precision, without a library.
template <typename In, typename Out>
Comparison<In, Out> compare_spot_rows(const Product<In, Out>& product, int threads) {
  Comparison<In, Out> comparison(product);
  const std::size_t size = product.size;
  const std::size_t steps = std::min<std::size_t>(kSpotRows - 1, std::max<std::size_t>(size - 1, 1));
  std::mutex merging;
  parallel_for(size, threads, kWorthAThread / size + 1, [&](std::size_t start, std::size_t end) {
    Comparison<In, Out> own(product);
    std::vector<long double> sums(end - start);
    for (std::size_t step = 0; step <= steps && step < size; ++step) {
      const std::size_t row = step * (size - 1) / steps;
      std::ranges::fill(sums, 0);
      for (std::size_t k = 0; k < size; ++k) {
        const long double factor = product.a(row, k);
        for (std::size_t j = start; j < end; ++j) sums[j - start] += factor * product.b(k, j);
      }
      for (std::size_t j = start; j < end; ++j) own.add(row, j, sums[j - start]);
    }
    const std::scoped_lock lock(merging);
    comparison.merge(own);
  });
  return comparison;
}

/// The verdicts on the last repetition. Where the elements of some rows only are compared (see
/// compared_rows()), a ColumnCheck of all is among them. `seed`: of its factors and of the choice of rows;
/// `threads`: of the host, that share in it.
template <typename In, typename Out>
std::vector<runtime::Verdict> check(const Product<In, Out>& product, std::uint64_t seed = 0, int threads = 1,
                                    std::size_t limit = kFullyCompared) {
  const std::vector<std::size_t> rows = compared_rows(product, seed, limit);
  const bool is_sample = rows.size() < product.size;
  const Comparison<In, Out> compared = compare(product, rows, threads);
  std::vector<runtime::Verdict> verdicts{compared.verdict(is_sample ? "sampled elements" : "elements"),
                                         compare_spot_rows(product, threads).verdict("spot rows"),
                                         compared.residual()};
  if (is_sample) verdicts.push_back(ColumnCheck<In, Out>(product, seed, threads).verdict());
  return verdicts;
}

}  // namespace fabricmark::gemm
