#include "harness/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>

#include "device/atomic_file.hpp"
#include "device/error.hpp"
#include "harness/agreement.hpp"
#include "harness/options.hpp"
#include "harness/rank_run.hpp"

namespace fabricmark::harness {

namespace {

void complain(const std::string& program, std::string message) {
  // Arguments and file names in it may hold line breaks; the message stays one line.
  std::ranges::replace_if(
      message, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
  std::cerr << program << ": error: " << message << '\n';
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

/// Reads the options into `setup`; where there is nothing to run, returns the text to print instead.
std::optional<std::string> read_command(RunSetup& setup, const Program& program) {
  setup.spec = load_kernel_spec(kernels_folder() / program.benchmark / "kernel.toml");
  const std::vector<std::string> arguments(setup.command.begin() + 1, setup.command.end());
  auto parsed = parse_options(arguments, setup.program_name, setup.spec);
  if (const auto* text = std::get_if<std::string>(&parsed)) return *text;
  setup.options = std::get<Options>(std::move(parsed));
  if (setup.options.repetitions == 0) setup.options.repetitions = program.repetitions;
  if (started_by_launcher() && setup.options.ranks > 1) {
    throw bad_use("--ranks and a launcher exclude each other", "leave out one of them");
  }
  return std::nullopt;
}

/// Prepares the run on all ranks, whose command lines or files may differ; where there is nothing to run, the
/// exit code.
std::optional<int> prepare(Ranks& ranks, RunSetup& setup, const Program& program) {
  std::optional<std::string> text;
  bool is_answered = false;
  try {
    together(ranks, [&] { text = read_command(setup, program); });
    is_answered = ranks.largest(text ? 1 : 0) != 0;
    if (is_answered) {
      together(ranks, [&] {
        if (text && ranks.is_root()) write_standard_output(*text);
      });
    }
  } catch (const AgreedFailure& failure) {
    if (ranks.is_root()) complain(setup.program_name, failure.message);
    return static_cast<int>(failure.code);
  }
  if (!is_answered) return std::nullopt;
  return static_cast<int>(ExitCode::kValid);
}

int run_under_launcher(RunSetup& setup, const Program& program, int* argc, char*** argv) {
  std::unique_ptr<Ranks> ranks;
  if (const std::optional<Failure> failure = attempt([&] { ranks = mpi_ranks(argc, argv); })) {
    if (is_first_process()) complain(setup.program_name, failure->message);
    return static_cast<int>(failure->code);
  }
  if (const std::optional<int> ended = prepare(*ranks, setup, program)) return *ended;
  return run_rank(*ranks, setup);
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  occupy_closed_streams();
  RunSetup setup;
  setup.make = program.make;
  setup.command.assign(argv, argv + argc);
  setup.program_name = std::filesystem::path(setup.command.at(0)).filename().string();
  setup.command[0] = setup.program_name;
  if (started_by_launcher()) return run_under_launcher(setup, program, &argc, &argv);
  if (const std::optional<int> ended = prepare(*single_rank(), setup, program)) return *ended;
  if (setup.options.ranks > 1) {
    return run_in_process(setup.options.ranks, [&](Ranks& ranks) { return run_rank(ranks, setup); });
  }
  return run_rank(*single_rank(), setup);
}

}  // namespace fabricmark::harness
