#pragma once

#include <memory>
#include <string>

#include "stencil/application.hpp"
#include "stencil/program_kernels.hpp"

namespace fabricmark::stencil {

/// What is compiled from the kernels of a program.
struct Kernels {
  NextRow next_row = nullptr;
  MakeExecution* dataflow = nullptr;
};

int run_grid(int argc, char** argv, const std::string& name, const MakeApplication& make,
             const Kernels& kernels);

/// The whole main function of an application A, which is made from a Context, and whose kernels are in
/// kernels/<name>. `dataflow`: where a program has several cells, what makes the cascade of those that its
/// parameters choose.
template <typename A>
int run(int argc, char** argv, const std::string& name, MakeExecution dataflow = make_dataflow) {
  const auto make = [](const runtime::Context& context) { return std::make_unique<A>(context); };
  return run_grid(argc, argv, name, make, {next_row, dataflow});
}

}  // namespace fabricmark::stencil
