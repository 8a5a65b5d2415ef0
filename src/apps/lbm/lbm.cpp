// Lattice Boltzmann on the plane: cells that stream and relax (kernels/lbm/cell.h), by the engine for
// stencils.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "apps/lbm/cases.hpp"
#include "apps/lbm/run_files.hpp"
#include "apps/lbm/wake.hpp"
#include "base/error.hpp"
#include "device/element.hpp"
#include "stencil/run.hpp"

namespace fabricmark::lbm {

namespace {

/// Of a step of a cell of fluid without a force, counted by hand.
constexpr double kOperations = 92;

/// Speed across by the lid's at heights by the box's, of a Reynolds number of 100 (Ghia, Ghia and Shin 1982,
/// Table I).
constexpr std::array<std::pair<double, double>, 15> kGhia{{{0.0547, -0.03717},
                                                           {0.0625, -0.04192},
                                                           {0.0703, -0.04775},
                                                           {0.1016, -0.06434},
                                                           {0.1719, -0.10150},
                                                           {0.2813, -0.15662},
                                                           {0.4531, -0.21090},
                                                           {0.5000, -0.20581},
                                                           {0.6172, -0.13641},
                                                           {0.7344, 0.00332},
                                                           {0.8516, 0.23151},
                                                           {0.9531, 0.68717},
                                                           {0.9609, 0.73722},
                                                           {0.9688, 0.78871},
                                                           {0.9766, 0.84123}}};

/// The largest one of a line of cells from the bottom of the box to its lid, between whose middles it is
/// straight.
double difference_from_ghia(const std::vector<double>& line) {
  double largest = 0;
  for (const auto& [height, speed] : kGhia) {
    const double place =
        height * static_cast<double>(line.size()) - 0.5;  // in cells, from the lowest one's middle
    const auto below = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(line.size()) - 1));
    const std::size_t above = std::min(below + 1, line.size() - 1);
    const double share = std::clamp(place - static_cast<double>(below), 0.0, 1.0);
    largest = std::max(largest, std::abs(line[below] + share * (line[above] - line[below]) - speed));
  }
  return largest;
}

class Lbm final : public stencil::Application {
 public:
  explicit Lbm(const runtime::Context& context)
      : parameters_(context.parameters()), case_(make_case(parameters_)) {}

  [[nodiscard]] const stencil::Problem& problem() const override { return case_.problem; }
  [[nodiscard]] double operations() const override { return kOperations; }
  [[nodiscard]] std::pair<std::string, std::string> trouble() const override {
    return {fmt::format("the fluid is faster than --most-speed {}, or its density is no number above 0,",
                        parameters_.number("most_speed")),
            "use less --speed, a smaller Reynolds number or a finer grid"};
  }

  std::vector<runtime::Verdict> check(runtime::Communicator& ranks, const stencil::Part& part,
                                      const std::vector<double>& start,
                                      const std::vector<double>& end) const override {
    if (!case_.is_closed) return {};
    runtime::Verdict verdict{
        .name = "mass", .measure = "relative change", .checked = case_.problem.columns * case_.problem.rows};
    const Mass before = mass(ranks, part, start);
    const Mass after = mass(ranks, part, end);
    verdict.error = std::abs(after.more - before.more) / (before.cells + before.more);
    const double epsilon = device::epsilon_of(parameters_.text("data_type"));
    constexpr double kFew = 16;
    verdict.threshold = epsilon * (kFew + static_cast<double>(case_.problem.steps));
    if (verdict.error > 0) {
      verdict.worst = {"mass of all cells", before.cells + before.more, after.cells + after.more};
    }
    return {verdict};
  }

  std::vector<std::string> notes(runtime::Communicator& ranks, const stencil::Part& part,
                                 const std::vector<double>& end) const override {
    std::vector<std::string> notes{fmt::format("{} x {} cells, omega {:.6g}, viscosity {:.6g}, speed {:.6g}",
                                               case_.problem.columns, case_.problem.rows, case_.omega,
                                               case_.viscosity(), case_.speed)};
    if (case_.solution) notes.push_back(errors(ranks, part, end));
    if (parameters_.text("case") == "cavity") notes.push_back(centre_line(ranks, part, end));
    return notes;
  }

  [[nodiscard]] std::unique_ptr<stencil::Recorder> recorder(const runtime::Context& context,
                                                            const stencil::Part& part) const override {
    std::unique_ptr<stencil::Recorder> wake = wake_recorder(context, part);
    if (parameters_.text("fields") == "none") return wake;
    return std::make_unique<RunFiles>(context, case_, part, std::move(wake));
  }

 private:
  /// null where --wake-every asks for none.
  [[nodiscard]] std::unique_ptr<stencil::Recorder> wake_recorder(const runtime::Context& context,
                                                                 const stencil::Part& part) const {
    const std::int64_t interval = parameters_.integer("wake_every");
    if (interval == 0) return nullptr;
    if (!case_.cylinder) {
      throw bad_use(fmt::format("--wake-every {} of --case {}", interval, parameters_.text("case")),
                    "choose --case cylinder, which has a wake");
    }
    return record_wake(context.ranks(), part, case_, interval);
  }
  /// How far the speed across is from that of others on the vertical centre line, in parts of the lid's.
  [[nodiscard]] std::string centre_line(runtime::Communicator& ranks, const stencil::Part& part,
                                        const std::vector<double>& end) const {
    std::vector<double> own;
    const std::size_t middle = part.columns / 2;
    for (std::size_t row = 0; row < part.rows; ++row) {
      const auto speed = [&](std::size_t column) {
        return flow_of(&end[part.at(0, row, column)], part.cells()).u / case_.speed;
      };
      own.push_back(part.columns % 2 == 0 ? (speed(middle - 1) + speed(middle)) / 2 : speed(middle));
    }
    std::vector<double> line;  // of the fluid, from below
    for (const std::vector<double>& of_rank : ranks.all_gather_numbers(own))
      line.insert(line.end(), of_rank.begin(), of_rank.end());
    line.pop_back();
    const double least = *std::ranges::min_element(line);
    std::string note =
        fmt::format("speed across on the vertical centre line: least {:.6g} of the lid's", least);
    constexpr double kReynolds = 100;
    if (parameters_.number("reynolds") != kReynolds || parameters_.number("omega") != 0) return note;
    return note + fmt::format("; largest difference from Ghia, Ghia and Shin (1982, Table I): {:.6g}",
                              difference_from_ghia(line));
  }
  [[nodiscard]] bool is_fluid(const stencil::Part& part, std::size_t row, std::size_t column) const {
    return case_.problem.kind({column, part.first_row + row}) == kFluid;
  }
  /// Of all ranks: cells of fluid, and what these have more than a density of 1, which would be lost in its
  /// sum.
  struct Mass {
    double cells = 0;
    double more = 0;
  };
  [[nodiscard]] Mass mass(runtime::Communicator& ranks, const stencil::Part& part,
                          const std::vector<double>& state) const {
    Mass sum;
    for (std::size_t row = 0; row < part.rows; ++row) {
      for (std::size_t column = 0; column < part.columns; ++column) {
        if (!is_fluid(part, row, column)) continue;
        sum.cells += 1;
        for (std::size_t i = 0; i < kPopulations; ++i) sum.more += state[part.at(i, row, column)];
      }
    }
    return {ranks.all_reduce_sum(sum.cells), ranks.all_reduce_sum(sum.more)};
  }
  /// How far the speeds are from those of the solution.
  [[nodiscard]] std::string errors(runtime::Communicator& ranks, const stencil::Part& part,
                                   const std::vector<double>& end) const {
    double square = 0;
    double all = 0;
    double largest = 0;
    double fastest = 0;
    for (std::size_t row = 0; row < part.rows; ++row) {
      for (std::size_t column = 0; column < part.columns; ++column) {
        if (!is_fluid(part, row, column)) continue;
        Flow flow = flow_of(&end[part.at(0, row, column)], part.cells());
        // Populations are those after the relaxation, to which a force has added half of itself too much.
        flow.u -= case_.force_x / 2 / flow.density;
        const Flow should =
            case_.solution({column, part.first_row + row}, static_cast<double>(case_.problem.steps));
        const double off = std::hypot(flow.u - should.u, flow.v - should.v);
        const double size = std::hypot(should.u, should.v);
        square += off * off;
        all += size * size;
        largest = std::max(largest, off);
        fastest = std::max(fastest, size);
      }
    }
    square = ranks.all_reduce_sum(square);
    all = ranks.all_reduce_sum(all);
    largest = ranks.all_reduce_max_number(largest);
    fastest = ranks.all_reduce_max_number(fastest);
    return fmt::format("relative errors of the velocity: L2 {:.6g}, largest {:.6g}", std::sqrt(square / all),
                       largest / fastest);
  }

  const runtime::Parameters& parameters_;
  Case case_;
};

}  // namespace

}  // namespace fabricmark::lbm

int main(int argc, char** argv) {
  using namespace fabricmark;
  return stencil::run<lbm::Lbm>(argc, argv, "lbm");
}
