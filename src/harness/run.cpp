#include "harness/run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "device/error.hpp"
#include "harness/agreement.hpp"
#include "harness/options.hpp"
#include "harness/rank_run.hpp"

namespace fabricmark::harness {

namespace {

void complain(const std::string& program, const std::string& message) {
  std::cerr << program << ": error: " << message << std::endl;
}

/// Runs one rank to its end. Every rank returns the same code; the root speaks.
int run_rank(Ranks& ranks, const RunSetup& setup) {
  try {
    RankRun run(ranks, setup);
    return run.execute();
  } catch (const AgreedFailure& failure) {
    if (ranks.is_root()) complain(setup.program_name, failure.message);
    return static_cast<int>(failure.code);
  }
}

/// Reads the options; where there is nothing to run, the exit code.
std::optional<int> prepare(RunSetup& setup, const Program& program, bool is_root) {
  const std::optional<Failure> failure =
      attempt([&] { setup.spec = load_kernel_spec(kernels_folder() / program.benchmark / "kernel.toml"); });
  std::optional<std::string> text;
  const std::optional<Failure> misuse = failure ? failure : attempt([&] {
    const std::vector<std::string> arguments(setup.command.begin() + 1, setup.command.end());
    auto parsed = parse_options(arguments, setup.program_name, setup.spec);
    if (auto* help = std::get_if<std::string>(&parsed)) {
      text = *help;
    } else {
      setup.options = std::get<Options>(std::move(parsed));
    }
  });
  if (misuse) {
    if (is_root) complain(setup.program_name, misuse->message);
    return static_cast<int>(misuse->code);
  }
  if (text) {
    if (is_root) std::cout << *text;
    return static_cast<int>(ExitCode::kValid);
  }
  return std::nullopt;
}

int run_under_launcher(RunSetup& setup, const Program& program, int* argc, char*** argv) {
  std::unique_ptr<Ranks> ranks;
  if (const std::optional<Failure> failure = attempt([&] { ranks = mpi_ranks(argc, argv); })) {
    if (is_first_process()) complain(setup.program_name, failure->message);
    return static_cast<int>(failure->code);
  }
  if (const std::optional<int> ended = prepare(setup, program, ranks->is_root())) return *ended;
  if (setup.options.ranks > 1) {
    if (ranks->is_root()) {
      complain(setup.program_name, "--ranks and a launcher exclude each other; leave out one of them");
    }
    return static_cast<int>(ExitCode::kBadUse);
  }
  return run_rank(*ranks, setup);
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  RunSetup setup;
  setup.make = program.make;
  setup.command.assign(argv, argv + argc);
  setup.program_name = std::filesystem::path(setup.command.at(0)).filename().string();
  setup.command[0] = setup.program_name;
  if (started_by_launcher()) return run_under_launcher(setup, program, &argc, &argv);
  if (const std::optional<int> ended = prepare(setup, program, true)) return *ended;
  if (setup.options.ranks > 1) {
    return run_in_process(setup.options.ranks, [&](Ranks& ranks) { return run_rank(ranks, setup); });
  }
  return run_rank(*single_rank(), setup);
}

}  // namespace fabricmark::harness
