#include "runtime/run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/stack_room.hpp"
#include "base/version.hpp"
#include "base/watchdog.hpp"
#include "device/program.hpp"
#include "runtime/agreement.hpp"
#include "runtime/asked_for.hpp"
#include "runtime/complain.hpp"
#include "runtime/options.hpp"
#include "runtime/publish.hpp"
#include "runtime/rank_run.hpp"
#include "runtime/start_watch.hpp"

namespace fabricmark::runtime {

namespace {

/// Runs `body` on this rank and ends it with all others. Every rank returns the same code; one speaks.
int run_to_the_end(Communicator& ranks, const std::string& program, const std::function<int()>& body) {
  int code = 0;
  std::optional<Failure> failure;
  try {
    failure = attempt([&] { code = body(); });
  } catch (const PeerFailure&) {
    // All that there is to say, the others say when they end.
  }
  const Ending ending = ranks.end(failure);
  if (ending.is_speaker && !ending.message.empty()) complain(program, ending.message);
  if (!ending.message.empty()) drop_result();
  if (!ending.is_orderly) {
    if (!ending.is_speaker) std::this_thread::sleep_for(Communicator::kGrace);
    abort_all_ranks(static_cast<int>(ending.code));
  }
  return ending.message.empty() ? code : static_cast<int>(ending.code);
}

/// Reads the options into `setup`; where there is nothing to run, returns the text to print instead.
std::optional<std::string> read_command(RunSetup& setup, const Program& program) {
  setup.spec = load_kernel_spec(kernels_folder() / program.benchmark / "kernel.toml");
  const std::vector<std::string> arguments(setup.command.begin() + 1, setup.command.end());
  auto parsed = parse_options(arguments, setup.program_name, setup.spec);
  if (const auto* text = std::get_if<std::string>(&parsed)) return *text;
  setup.options = std::get<Options>(std::move(parsed));
  if (setup.options.language == "sycl") device::expect_kernels_in_sycl();
  if (setup.options.repetitions == 0) setup.options.repetitions = program.repetitions;
  if (started_by_launcher() && setup.options.ranks > 1) {
    throw bad_use("--ranks and a launcher exclude each other", "leave out one of them");
  }
  return std::nullopt;
}

/// Compares the ranks of a run with those that were asked for. Processes of which each is a run of its own do
/// not know of each other: one speaks for all, and the others have the exit code only.
std::optional<int> refused(const Communicator& ranks) {
  try {
    check_ranks(ranks.size(), started_by_launcher());
    return std::nullopt;
  } catch (const Error& error) {
    if (ranks.size() > 1 || launched_rank() == 0) throw;
    return static_cast<int>(error.code());
  }
}

/// Prepares the run on all ranks, whose command lines or files may differ; where there is nothing to run, the
/// exit code.
std::optional<int> prepare(Communicator& ranks, RunSetup& setup, const Program& program) {
  std::optional<std::string> text;
  collective_step(ranks, [&] { text = read_command(setup, program); });
  Asked asked{{"the program", setup.program_name}, {"the version", version()}};
  asked.emplace_back("--help or --version", text ? "given" : "not given");
  asked.insert(asked.end(), setup.options.given.begin(), setup.options.given.end());
  require_same(ranks, asked);
  ranks.set_timeout(setup.options.timeout_seconds);
  limit_waits(setup.options.kernel_timeout());
  if (!text) return std::nullopt;
  collective_step(ranks, [&] {
    if (ranks.is_root()) write_standard_output(*text);
  });
  return static_cast<int>(ExitCode::kValid);
}

/// The processes of a launcher are the ranks.
int run_processes(const std::string& program, int* argc, char*** argv,
                  const std::function<int(Communicator&)>& body, Threads threads = Threads::kSeveral) {
  std::unique_ptr<Communicator> ranks;
  const auto start = [&] {
    const StartWatch watch(program, timeout_of({*argv, *argv + *argc}), launched_rank());
    ranks = mpi_ranks(argc, argv, threads);
  };
  if (const std::optional<Failure> failure = attempt(start)) {
    // Where all fail alike the first one speaks, and the launcher ends the others meanwhile.
    if (launched_rank() > 0) std::this_thread::sleep_for(Communicator::kGrace);
    complain(program, failure->message);
    return static_cast<int>(failure->code);
  }
  return run_to_the_end(*ranks, program, [&] {
    ranks->start();
    const int code = body(*ranks);
    ranks->barrier();  // all have closed what they had
    publish_now();
    return code;
  });
}

int run_here(int argc, char** argv, const Program& program) {
  occupy_closed_streams();
  RunSetup setup;
  setup.executions = program.executions;
  setup.command.assign(argv, argv + argc);
  setup.program_name = std::filesystem::path(setup.command.at(0)).filename().string();
  setup.command[0] = setup.program_name;
  speak_when_crashing(setup.program_name);
  publish_at_exit(setup.program_name);
  if (started_by_launcher()) {
    return run_processes(setup.program_name, &argc, &argv, [&](Communicator& ranks) {
      std::optional<int> ended = prepare(ranks, setup, program);
      if (!ended) ended = refused(ranks);
      return ended ? *ended : RankRun(ranks, setup).execute();
    });
  }
  const std::unique_ptr<Communicator> alone = single_rank();
  std::optional<int> ended;
  const int code = run_to_the_end(*alone, setup.program_name, [&] {
    ended = prepare(*alone, setup, program);
    if (ended || setup.options.ranks > 1) return ended.value_or(0);
    ended = refused(*alone);
    if (!ended) ended = RankRun(*alone, setup).execute();
    return *ended;
  });
  if (ended || code != 0) return code;
  return run_in_process(setup.options.ranks, [&](Communicator& ranks) {
    ranks.set_timeout(setup.options.timeout_seconds);
    return run_to_the_end(ranks, setup.program_name, [&] {
      const std::optional<int> refusal = refused(ranks);
      return refusal ? *refusal : RankRun(ranks, setup).execute();
    });
  });
}

int run_ranks_here(int argc, char** argv, int count, const std::function<int(Communicator&)>& body,
                   Threads threads) {
  const std::string program = std::filesystem::path(*argv).filename().string();
  speak_when_crashing(program);
  publish_at_exit(program);
  limit_waits(Options().kernel_timeout());
  const auto checked = [&body](Communicator& ranks) {
    const std::optional<int> ended = refused(ranks);
    return ended ? *ended : body(ranks);
  };
  if (started_by_launcher()) return run_processes(program, &argc, &argv, checked, threads);
  return run_in_process(count, [&](Communicator& ranks) {
    return run_to_the_end(ranks, program, [&] { return checked(ranks); });
  });
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  return note_return(with_room_on_stack([&] { return run_here(argc, argv, program); }));
}

int run_ranks(int argc, char** argv, int count, const std::function<int(Communicator&)>& body,
              Threads threads) {
  return note_return(with_room_on_stack([&] { return run_ranks_here(argc, argv, count, body, threads); }));
}

}  // namespace fabricmark::runtime
