#pragma once

#include <memory>
#include <string>

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

/// The whole main function of a benchmark B whose code is the same for all variants, with a static `name` and
/// a constructor from a Context.
template <typename B>
int run(int argc, char** argv) {
  const auto make = [](const Context& context) { return std::make_unique<B>(context); };
  return run_program(argc, argv, {B::name, {{.variant = {}, .transport = {}, .make = make}}});
}

}  // namespace fabricmark::runtime
