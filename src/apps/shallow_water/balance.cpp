#include "apps/shallow_water/balance.hpp"

#include <algorithm>
#include <cmath>

#include "apps/shallow_water/accuracy.hpp"
#include "apps/shallow_water/execution.hpp"
#include "device/element.hpp"

namespace fabricmark::shallow_water {

runtime::Verdict Balance::mass_verdict(const Field& before, const Field& after,
                                       double volume_at_start) const {
  runtime::Communicator& ranks = context.ranks();
  double out = 0;
  double through = 0;
  for (std::size_t place = 0; place < local.own(); ++place) {
    out += local.areas[place] * outflow[place];
    through += local.areas[place] * std::abs(outflow[place]);
  }
  const double change = ranks.all_reduce_sum(volume(local, after) + out) - volume_at_start;
  const double passed = ranks.all_reduce_sum(through);
  runtime::Verdict verdict{.name = "mass", .measure = "drift relative to all water", .checked = local.own()};
  verdict.error = std::abs(change) / (ranks.all_reduce_sum(water(local, before)) + passed);
  const bool is_open = ranks.all_reduce_max(std::ranges::any_of(
                           local.codes, [](std::int32_t code) { return code < kLandCode; })) != 0;
  if (is_double()) {
    verdict.threshold = is_open ? 1e-12 : 1e-14;
  } else {
    verdict.threshold = is_open ? 1e-4 : 1e-5;
  }
  return verdict;
}

double Balance::river_length(std::size_t place) const {
  constexpr int kRatio = 9;  // of LocalMesh::geometry
  double length = 0;
  for (int side = 0; side < LocalMesh::kSides; ++side) {
    const std::int32_t code = local.codes[static_cast<std::size_t>(side) * local.padded + place];
    if (code == kSeaCode) return 0;
    if (code != kInflowCode) continue;
    const std::size_t ratio = static_cast<std::size_t>(kRatio + side) * local.padded + place;
    length += local.geometry[ratio] * local.areas[place];
  }
  return length;
}

runtime::Verdict Balance::inflow_verdict() const {
  const std::vector<Stage>& stages = stages_of(basis.order());
  double given = 0;  // through a metre of edge [m^2]
  for (std::int64_t step = 0; step < last; ++step) {
    for (const Stage& stage : stages) {
      const double seconds = (static_cast<double>(step) + stage.shift) * dt;
      given += stage.weight * dt * problem.forcing(seconds).river_inflow;
    }
  }
  double came = 0;
  double length = 0;
  for (std::size_t place = 0; place < local.own(); ++place) {
    const double own = river_length(place);
    length += own;
    if (own > 0) came -= local.areas[place] * outflow[place];
  }
  runtime::Communicator& ranks = context.ranks();
  const double all = given * ranks.all_reduce_sum(length);
  const double error = std::abs(ranks.all_reduce_sum(came) - all);
  runtime::Verdict verdict{
      .name = "inflow", .measure = "error relative to what is given", .checked = local.own()};
  verdict.error = all > 0 ? error / all : error;
  constexpr double kRoundings = 64;
  const double epsilon = device::epsilon_of(context.parameters().text("data_type"));
  verdict.threshold = epsilon * (kRoundings + static_cast<double>(last) * static_cast<double>(stages.size()));
  return verdict;
}

void Balance::corrupt_inflow(std::vector<double>& corrupted) const {
  constexpr double kTooMuch = 1.01;
  for (std::size_t place = 0; place < local.own(); ++place) {
    if (river_length(place) > 0) corrupted[place] *= kTooMuch;
  }
}

}  // namespace fabricmark::shallow_water
