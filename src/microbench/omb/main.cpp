// Micro-benchmarks as the OSU Micro-Benchmarks have them, between the memories of hosts and of devices, with
// every result checked. It does what it is called: fm_latency and the others are links to it.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "microbench/common/program.hpp"
#include "microbench/omb/limit.hpp"
#include "microbench/omb/measure.hpp"
#include "microbench/omb/options.hpp"
#include "microbench/omb/options_check.hpp"
#include "microbench/omb/report.hpp"
#include "microbench/omb/text.hpp"
#include "runtime/agreement.hpp"
#include "runtime/publish.hpp"
#include "transport/mpi/passing.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::microbench::omb;
using runtime::Communicator;

constexpr const char* kOwnName = "fm_omb";

std::unique_ptr<Measurer> measurer_of(Communicator& ranks, const Options& options) {
  if (is_over_boards(options)) return measure_boards(ranks, options);
  return options.program->is_collective() ? measure_collective(ranks, options)
                                          : measure_pairs(ranks, options);
}

/// What the times are, unless they are measured.
std::string kind_of(const Options& options, const Measurer& measurer) {
  if (is_over_boards(options)) {
    return fmt::format(
        "modelled: times of a described system over {}; Emulation(us) is this machine's wall "
        "clock, which says nothing about hardware",
        options.transport);
  }
  return measurer.device().emulated() ? "emulated: the wall clock of an emulator says nothing about hardware"
                                      : "";
}

void print(const Communicator& ranks, const Options& options, const std::string& text) {
  if (ranks.is_root() && options.json != "-") write_standard_output(text);
}

/// Bytes of the first size that has an element, of a part for each rank where there are such.
std::size_t first_size(const Communicator& ranks, const Options& options, collectives::Type type) {
  std::size_t least = collectives::bytes_of(type);
  const bool has_parts = options.program->is_collective() &&
                         options.program->operation == collectives::Operation::kReduceScatter;
  if (has_parts) least *= static_cast<std::size_t>(ranks.size());
  std::size_t bytes = options.smallest;
  while (bytes < least) bytes *= 2;
  return bytes;
}

std::vector<Row> measured_rows(Communicator& ranks, const Options& options, Measurer& measurer) {
  std::vector<Row> rows;
  print(ranks, options, title(options, ranks.size(), kind_of(options, measurer)));
  for (const collectives::Type type : options.types) {
    print(ranks, options, headings(options, type, is_over_boards(options)));
    const bool has_sizes = options.program->has_sizes();
    const std::size_t last = has_sizes ? std::min(options.largest, measurer.largest()) : 1;
    for (std::size_t bytes = has_sizes ? first_size(ranks, options, type) : 1; bytes <= last; bytes *= 2) {
      rows.push_back(measurer.measure(bytes, type));
      runtime::collective_step(ranks, [&] { print(ranks, options, row_text(options, rows.back())); });
    }
    if (last < options.largest && has_sizes) {
      print(ranks, options,
            fmt::format("# messages of more than {} B are skipped: the memory has no room for them\n", last));
    }
  }
  if (rows.empty()) {
    throw bad_use(fmt::format("no size from {} to {} B has an element for each rank", options.smallest,
                              options.largest),
                  "choose a larger -m");
  }
  return rows;
}

int run(Communicator& ranks, const Options& options, const std::vector<std::string>& command) {
  runtime::require_same(ranks, {{"the command line", fmt::format("{}", fmt::join(command, " "))}});
  ranks.set_timeout(options.timeout_seconds);
  check_ranks(options, ranks.size());
  const std::string started = time_now();
  const auto begin = std::chrono::steady_clock::now();
  const auto measurer = measurer_of(ranks, options);
  const std::vector<Row> rows = measured_rows(ranks, options, *measurer);
  const std::optional<Limit> limit = limit_of(options, measurer->device());
  runtime::Result result = result_of(ranks, options, rows, *measurer, limit);
  result.command = command;
  result.started = started;
  result.duration_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  runtime::collective_step(ranks, [&] {
    if (ranks.is_root()) runtime::hold_result(result, options.json, closing_text(result));
  });
  return static_cast<int>(ranks.all_reduce_max(ranks.is_root() ? result.exit_code : 0));
}

int describe_programs(const std::string& file) {
  std::vector<microbench::Description> described;
  for (const Program& program : programs()) {
    described.push_back({program.name, program.summary});
    if (program.is_in_short_set) described.back().short_words = {"--short"};
  }
  return microbench::describe(kOwnName, file, described, Options().ranks, option_texts());
}

/// Whether a run works on a device. Throws Error (bad use).
bool plan(const std::vector<std::string>& command) {
  const auto parsed = parse_options(command[0], {command.begin() + 1, command.end()});
  const auto* const options = std::get_if<Options>(&parsed);
  if (options == nullptr) return false;
  check_ranks(*options, options->ranks);
  return options->takes_device;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  std::vector<std::string> command(argv, argv + argc);
  command.at(0) = std::filesystem::path(command[0]).filename().string();
  if (command.size() == 3 && command[0] == kOwnName && command[1] == "--describe") {
    return describe_programs(command[2]);
  }
  if (microbench::take_plan(command)) return microbench::answer_plan([&] { return plan(command); });
  if (command[0] == kOwnName && command.size() > 1 && !command[1].starts_with('-')) {
    command.erase(command.begin());  // fm_omb latency ...
    command[0] = "fm_" + command[0];
  }
  const auto parse = [&] { return parse_options(command[0], {command.begin() + 1, command.end()}); };
  const auto body = [&](Communicator& ranks, const Options& options) { return run(ranks, options, command); };
  // Plain MPI, as OMB's programs are: a library that knows of several threads takes locks.
  const auto is_plain = [](const Options& options) {
    return options.is_on_hosts() && options.transport == fabricmark::transport::kMpiTransport;
  };
  return microbench::run_command<Options>(argc, argv, parse, body, is_plain);
}
