#include "benchmarks/hpl/solution.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "benchmarks/hpl/rounding.hpp"

namespace fabricmark::hpl {

double forward_threshold(std::size_t size) { return 2 * probe_threshold(size); }

std::vector<runtime::Verdict> check_solution(const Vectors& vectors, const System& system,
                                             const Solution& solution) {
  const Layout& layout = vectors.layout();
  const std::size_t real = real_columns(layout);
  const std::span<const double> x = solution.x.first(real);
  std::vector<double> difference;
  const ResidualNorms norms = residual(vectors, system, solution.x, difference);

  runtime::Verdict forward{.name = solution.prefix + "forward error", .measure = "largest |x - 1| in eps"};
  forward.threshold = solution.most_forward > 0 ? solution.most_forward : forward_threshold(layout.size);
  forward.checked = real;
  double distance = 0;
  for (std::size_t i = 0; i < real; ++i) {
    const double own = std::isnan(x[i]) ? std::numeric_limits<double>::infinity() : std::abs(x[i] - 1);
    if (own <= distance) continue;
    distance = own;
    forward.worst = {fmt::format("x[{}]", layout.global_column(i)), 1, x[i]};
  }
  forward.error = distance / solution.epsilon;

  runtime::Verdict seed{.name = solution.prefix + "residual", .threshold = 1};
  seed.measure = "largest |x - 1| / (eps n ||b||)";
  seed.checked = real;
  seed.error = forward.error / (static_cast<double>(layout.size) * norms.right_side);

  runtime::Verdict scaled{.name = solution.prefix + "scaled residual", .threshold = kHplThreshold};
  scaled.measure = "||A x - b|| / (eps (||A|| ||x|| + ||b||) n)";
  scaled.checked = real;
  scaled.error = norms.scaled(solution.epsilon, layout.size);
  return {seed, scaled, forward};
}

}  // namespace fabricmark::hpl
