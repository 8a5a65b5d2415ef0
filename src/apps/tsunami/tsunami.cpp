// Tsunamis over an ocean, by the engine for stencils and either of two schemes (kernels/tsunami/cell.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tsunami/finite_volume_row.hpp"
#include "apps/tsunami/grid_file.hpp"
#include "apps/tsunami/ocean.hpp"
#include "apps/tsunami/run_files.hpp"
#include "apps/tsunami/shore_checks.hpp"
#include "apps/tsunami/sphere_kernels.hpp"
#include "base/error.hpp"
#include "device/element.hpp"
#include "stencil/run.hpp"

namespace fabricmark::tsunami {

namespace {

/// Of both sweeps of a cell of water, counted by hand. That the rows above and below are swept again for it
/// is none of the work.
constexpr double kOperations = 156;
/// Of the same on the sphere, with a row's own width, what turns the water and what brings meridians nearer.
constexpr double kOperationsOnSphere = 206;
/// Of both phases of finite volumes: slopes, half a step of the cell itself, and the fluxes of two faces.
/// That cells around it and its other two faces are computed again is none of the work.
constexpr double kOperationsOfShores = 216;

class Tsunami final : public stencil::Application {
 public:
  explicit Tsunami(const runtime::Context& context)
      : parameters_(context.parameters()), ocean_(make_ocean(parameters_)) {
    require_same_depths(context.ranks());
    if (ocean_.has_shores && context.variant() == "dataflow") {
      throw bad_use("the dataflow kernels have --scheme splitting alone",
                    "leave out --scheme, or use --variant base or throughput");
    }
  }

  [[nodiscard]] const stencil::Problem& problem() const override { return ocean_.problem; }
  [[nodiscard]] double operations() const override {
    if (ocean_.has_shores) return kOperationsOfShores;
    return ocean_.sphere ? kOperationsOnSphere : kOperations;
  }
  [[nodiscard]] stencil::NextRow next_row() const override {
    if (ocean_.has_shores) return stencil::next_row_of_finite_volumes;
    return ocean_.sphere ? stencil::next_row_on_sphere : nullptr;
  }
  [[nodiscard]] std::pair<std::string, std::string> trouble() const override {
    return {ocean_.has_shores ? "the water runs faster than a step allows,"
                              : "the water runs faster than a step allows, or there is none,",
            "use less --cfl or less --height"};
  }

  [[nodiscard]] std::vector<double> scales(const std::vector<double>& largest) const override {
    // What a wave of this height moves, and what moves so.
    const double speed = std::sqrt(kGravity * ocean_.deepest);
    const double wave =
        ocean_.has_shores ? ocean_.height : largest[kElevation];  // else that of dry ground, too
    const double height =
        std::max({wave, std::max(largest[kEast], largest[kNorth]) * speed / kGravity, 1e-3});
    const double flow = height * kGravity / speed;
    std::vector<double> scales{height, flow, flow, largest[kDepth], height, largest[kArrival]};
    scales.resize(largest.size(), 1);  // of slopes, which whole steps do not leave
    return scales;
  }
  [[nodiscard]] bool may_differ(std::size_t field, std::span<const double> expected,
                                double epsilon) const override {
    if (ocean_.has_shores && is_at_shore(expected, epsilon))
      return field == kEast || field == kNorth || field == kLargest || field == kArrival;
    if (field != kArrival) return false;
    // Whether the wave has come is a comparison, which roundings decide where it just does.
    const double near = 1000 * epsilon * ocean_.threshold + epsilon;
    return std::abs(std::abs(expected[kElevation]) - ocean_.threshold) <=
           (ocean_.has_shores ? std::max(near, rounded(expected, epsilon)) : near);
  }
  [[nodiscard]] double weight(std::size_t field, std::span<const double> expected) const override {
    if (!ocean_.has_shores) return 1;
    // Of thin water over high ground its motion is known as well as that of all water below.
    const double ground = std::abs(expected[kDepth]);
    if (field == kElevation || field == kLargest)
      return ocean_.height / std::max(ocean_.height, std::abs(expected[field]));
    if (field != kEast && field != kNorth) return 1;
    const double height = expected[kElevation] + expected[kDepth];
    return height > ocean_.wet ? std::min(1.0, height / std::max(ocean_.deepest, ground)) : 1;
  }

  std::vector<runtime::Verdict> check(runtime::Communicator& ranks, const stencil::Part& part,
                                      const std::vector<double>& start,
                                      const std::vector<double>& end) const override {
    std::vector<runtime::Verdict> verdicts;
    if (ocean_.is_at_rest) verdicts.push_back(rest_verdict(part, start, end));
    if (ocean_.has_shores && ocean_.is_closed)
      verdicts.push_back(
          mass_verdict(ranks, ocean_, part, start, end, device::epsilon_of(parameters_.text("data_type"))));
    return verdicts;
  }

  std::vector<std::string> notes(runtime::Communicator& ranks, const stencil::Part& part,
                                 const std::vector<double>& end) const override {
    const double seconds = static_cast<double>(ocean_.problem.steps) * ocean_.dt;
    double largest = 0;
    double left = 0;  // at the end, up or down
    double reached = 0;
    double water = 0;
    for (std::size_t cell = 0; cell < part.cells(); ++cell) {
      if (end[kDepth * part.cells() + cell] <= 0) continue;
      ++water;
      largest = std::max(largest, end[kLargest * part.cells() + cell]);
      left = std::max(left, std::abs(end[kElevation * part.cells() + cell]));
      reached += end[kArrival * part.cells() + cell] > 0 ? 1 : 0;
    }
    largest = ranks.all_reduce_max_number(largest);
    left = ranks.all_reduce_max_number(left);
    const double share = ranks.all_reduce_sum(reached) / ranks.all_reduce_sum(water);
    std::vector<std::string> notes{
        fmt::format("{} x {} cells of {}, deepest {:.6g} m, {:.6g} s in steps of {:.6g} s",
                    ocean_.problem.columns, ocean_.problem.rows, cell_words(), ocean_.deepest, seconds,
                    ocean_.dt),
        fmt::format(
            "largest elevation {:.6g} m, {:.6g} m at the end; the wave has come to {:.3g} % of the water",
            largest, left, 100 * share)};
    if (ocean_.has_shores && ocean_.degrees)
      notes.emplace_back("on the plane of the middle latitude: finite volumes have no sphere");
    if (!ocean_.digest.empty()) notes.push_back("depths that were read: their digest is " + ocean_.digest);
    if (ocean_.has_shores) {
      for (std::string& note : shore_notes(ranks, ocean_, part, end)) notes.push_back(std::move(note));
    }
    if (ocean_.solution && ocean_.period == 0) notes.push_back(error_note(ranks, part, end, seconds));
    return notes;
  }
  [[nodiscard]] std::unique_ptr<stencil::Recorder> recorder(const runtime::Context& context,
                                                            const stencil::Part& part) const override {
    return run_files(context, ocean_, part);
  }

 private:
  /// Rounding decides whether the water of a cell moves.
  [[nodiscard]] bool is_at_shore(std::span<const double> cell, double epsilon) const {
    return std::abs(cell[kElevation] + cell[kDepth] - ocean_.wet) <= rounded(cell, epsilon);
  }
  /// What roundings of a step make of the elevation of a cell.
  [[nodiscard]] double rounded(std::span<const double> cell, double epsilon) const {
    constexpr double kFew = 64;
    return kFew * epsilon * std::max({ocean_.wet, ocean_.height, std::abs(cell[kElevation])});
  }
  /// Nothing has moved.
  [[nodiscard]] runtime::Verdict rest_verdict(const stencil::Part& part, const std::vector<double>& start,
                                              const std::vector<double>& end) const {
    runtime::Verdict verdict{
        .name = "lake at rest", .measure = "largest elevation or speed", .checked = 3 * part.cells()};
    for (std::size_t i = 0; i < 3 * part.cells(); ++i) {
      const double moved = std::abs(end[i] - start[i]);  // dry ground keeps its elevation
      if (moved <= verdict.error) continue;
      verdict.error = std::isnan(moved) ? std::numeric_limits<double>::infinity() : moved;
      const std::size_t cell = i % part.cells();
      verdict.worst = {fmt::format("{} in column {}, row {}", ocean_.problem.fields[i / part.cells()],
                                   cell % part.columns, part.first_row + cell / part.columns),
                       start[i], end[i]};
    }
    return verdict;
  }
  /// Ranks on several hosts may find different files under a name.
  void require_same_depths(runtime::Communicator& ranks) const {
    const std::vector<std::string> digests = ranks.all_gather_texts(ocean_.digest);
    const auto other = std::ranges::find_if(digests, [&](const auto& one) { return one != digests.front(); });
    if (other == digests.end()) return;
    throw bad_use(fmt::format("rank {} has other depths in '{}' than rank 0", other - digests.begin(),
                              parameters_.text("depths")),
                  "give all hosts the same file");
  }
  [[nodiscard]] std::string cell_words() const {
    if (ocean_.sphere) {
      constexpr double kDegrees = 180 / std::numbers::pi;
      const auto& [west, east, south, north] = *ocean_.degrees;
      return fmt::format("{:.6g} x {:.6g} degrees on the sphere, from {:.6g} to {:.6g} degrees of latitude",
                         ocean_.sphere->step_x * kDegrees, ocean_.sphere->step_y * kDegrees, south, north);
    }
    if (ocean_.dx == ocean_.dy) return fmt::format("{:.6g} m", ocean_.dx);
    return fmt::format("{:.6g} x {:.6g} m", ocean_.dx, ocean_.dy);
  }
  [[nodiscard]] std::string error_note(runtime::Communicator& ranks, const stencil::Part& part,
                                       const std::vector<double>& end, double seconds) const {
    double square = 0;
    double all = 0;
    for (std::size_t cell = 0; cell < part.cells(); ++cell) {
      const double should =
          ocean_.solution({cell % part.columns, part.first_row + cell / part.columns}, seconds);
      const double off = end[kElevation * part.cells() + cell] - should;
      square += off * off;
      all += should * should;
    }
    return fmt::format("relative error of the elevation: L2 {:.6g}",
                       std::sqrt(ranks.all_reduce_sum(square) / ranks.all_reduce_sum(all)));
  }

  const runtime::Parameters& parameters_;
  Ocean ocean_;
};

/// What an option of the command line says; empty where it is not given.
std::string given(const std::vector<std::string>& words, std::string_view option) {
  const std::string with_value = std::string(option) + "=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(with_value)) return words[i].substr(with_value.size());
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
  }
  return {};
}

/// The command line with the columns, rows and coordinates of the depths that it names, where it says none
/// itself: what is compiled and allocated follows from these parameters. Depths that cannot be read are told
/// of later. Finite volumes stay on the plane.
std::vector<std::string> with_grid_of_depths(std::vector<std::string> words) {
  const std::string file = given(words, "--depths");
  if (file.empty() || file == "none") return words;
  const std::optional<GridOutline> size = outline_of_grid(file);
  if (!size) return words;
  if (given(words, "--columns").empty()) words.push_back("--columns=" + std::to_string(size->columns));
  if (given(words, "--rows").empty()) words.push_back("--rows=" + std::to_string(size->rows));
  if (size->has_degrees && given(words, "--coordinates").empty() &&
      given(words, "--scheme") != "finite_volume")
    words.emplace_back("--coordinates=sphere");
  return words;
}

/// The cascade of the cells that --coordinates chooses.
std::unique_ptr<stencil::Execution> make_cascade(const runtime::Context& context,
                                                 const stencil::Problem& problem, const stencil::Part& part) {
  return context.parameters().text("coordinates") == "sphere"
             ? stencil::make_dataflow_on_sphere(context, problem, part)
             : stencil::make_dataflow(context, problem, part);
}

}  // namespace

int run(int argc, char** argv) { return stencil::run<Tsunami>(argc, argv, "tsunami", make_cascade); }

}  // namespace fabricmark::tsunami

int main(int argc, char** argv) {
  using namespace fabricmark;
  std::vector<std::string> words = tsunami::with_grid_of_depths({argv, argv + argc});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return tsunami::run(static_cast<int>(words.size()), pointers.data());
}
