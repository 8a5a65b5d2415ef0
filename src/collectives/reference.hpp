#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/moves.hpp"
#include "collectives/operation.hpp"

/// What ranks hold after an operation, by its definition: inputs follow from rank and index alone, so that
/// each rank checks all its elements without hearing of others'.
namespace fabricmark::collectives {

struct Inputs {
  enum class Numbers : std::uint8_t {
    /// Whole ones, of which all sums are exact: from -8 to 7 in floating point, so that up to 256 ranks reach
    /// no more than 2048, which float16 has; all bits of int8, int32 and int64, whose sums wrap around.
    kWhole,
    /// From -1 to 1, rounded to the type; multiples of 2^-24, as the smallest of float16 are, and of 2^-53
    /// for
    /// float64. Whole types as above.
    kFractions,
    /// Whole ones of which every one differs from what another rank has at this place, and from what the same
    /// rank has there with the seeds around: of int8 128 ranks and seeds, float16 2049, others 2^24. No sum
    /// of
    /// `summands` of them is rounded or leaves the type, where a library may saturate or wrap around; so many
    /// times fewer ranks and seeds differ then.
    kDistinct,
  };
  Numbers numbers = Numbers::kWhole;
  std::uint64_t seed = 1;
  int summands = 1;  ///< kDistinct: ranks whose inputs are added up
};

/// Writes the elements from number `first` on of what a rank brings to an operation.
void fill_input(const Inputs& inputs, int rank, const View& elements, std::size_t first = 0);

/// The result of this rank from its element `first` on, as many as `elements` has, by the definition of the
/// operation: reductions in the order of ranks, those of float16 and float32 in double precision and rounded
/// once. `call` needs operation, root, count and reduction. Nothing for a barrier.
void fill_expected(const Inputs& inputs, const Call& call, int rank, int ranks, const View& elements,
                   std::size_t first = 0);

/// What a result is worth.
struct Comparison {
  std::size_t checked = 0;  ///< elements
  std::size_t wrong = 0;    ///< those beyond their bound, and NaN
  /// Largest error of an element by its bound; where the bound is 0, 0 or infinity.
  double worst = 0;
  std::size_t worst_index = 0;  ///< the first of those
  double expected = 0;          ///< there
  double actual = 0;
};

/// Compares all of a rank's `call.result` with what it must be.
///
/// What is only moved, least, greatest and whole numbers have to be the same, bit by bit but for the sign of
/// zero. Sums of fractions may differ by ranks * epsilon * sum of |x|, twice what their n - 1 roundings add
/// up to at most (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2). Elements that
/// travel as another type (`wire`, float16) have its epsilon, and fractions that are only moved may differ by
/// epsilon * |x|, too.
Comparison compare(const Inputs& inputs, const Call& call, int rank, int ranks);
Comparison compare(const Inputs& inputs, const Call& call, int rank, int ranks, Type wire);

}  // namespace fabricmark::collectives
