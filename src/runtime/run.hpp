#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/communicator.hpp"
#include "runtime/execution.hpp"

namespace fabricmark::runtime {

/// A program: the name of its benchmark, which is that of its folder in kernels/, and the table of its code.
struct Program {
  std::string benchmark;
  ExecutionTable executions;
  int repetitions = 10;  ///< unless the command line says otherwise
};

/// Runs the program on all ranks. Returns its exit code (see ExitCode), the same on every rank.
int run_program(int argc, char** argv, const Program& program);

/// For programs that are no benchmark: runs `body` on all ranks, which are the processes of a launcher, or
/// else `count` threads of this process. Returns the exit code, the same on every rank; failures are printed.
/// `threads`: that a process of a launcher has.
int run_ranks(int argc, char** argv, int count, const std::function<int(Communicator&)>& body,
              Threads threads = Threads::kSeveral);

/// The whole main function of a benchmark B whose code is the same for all variants, with a static `name` and
/// a constructor from a Context.
template <typename B>
int run(int argc, char** argv) {
  const auto make = [](const Context& context) { return std::make_unique<B>(context); };
  return run_program(argc, argv, {B::name, {{.variant = {}, .between = {}, .make = make}}});
}

}  // namespace fabricmark::runtime
