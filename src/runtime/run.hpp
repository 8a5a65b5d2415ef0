#pragma once

#include <functional>
#include <memory>

#include "runtime/benchmark.hpp"

namespace fabricmark::runtime {

/// A program: the name of its benchmark, which is that of its folder in kernels/, and how to make it.
struct Program {
  std::string benchmark;
  std::function<std::unique_ptr<Benchmark>(const Context&)> make;
  int repetitions = 10;  ///< unless the command line says otherwise
};

/// Runs the program on all ranks. Returns its exit code (see ExitCode), the same on every rank.
int run_program(int argc, char** argv, const Program& program);

/// The whole main function of a benchmark B, which has a static `name` and a constructor from a Context.
template <typename B>
int run(int argc, char** argv) {
  return run_program(argc, argv,
                     {B::name, [](const Context& context) { return std::make_unique<B>(context); }});
}

}  // namespace fabricmark::runtime
