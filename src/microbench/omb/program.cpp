#include "microbench/omb/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "microbench/omb/program_makers.hpp"  // written by CMake: the files of programs/

namespace fabricmark::microbench::omb {

std::span<const Program> programs() {
  static const std::vector<Program> all = [] {
    std::vector<Program> made;
    for (Program (*const make)() : kProgramMakers) made.push_back(make());
    return made;
  }();
  return all;
}

const Program& program_named(const std::string& name) {
  const std::string_view bare = name.starts_with("fm_") ? std::string_view(name).substr(3) : name;
  const auto found = std::ranges::find(programs(), bare, &Program::name);
  if (found != programs().end()) return *found;
  std::vector<std::string_view> names;
  for (const Program& program : programs()) names.push_back(program.name);
  throw bad_use(fmt::format("there is no micro-benchmark '{}'", name),
                fmt::format("use one of {}", fmt::join(names, ", ")));
}

}  // namespace fabricmark::microbench::omb
