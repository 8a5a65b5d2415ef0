// fm_tune: measures in which way messages of each size travel the fastest over a transport of this machine,
// and keeps that for the runs to come (fabric/kept_ways.hpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "fabric/kept_ways.hpp"
#include "microbench/common/measured_transport.hpp"
#include "microbench/common/program.hpp"
#include "runtime/agreement.hpp"
#include "runtime/run.hpp"

namespace {

using namespace fabricmark;
using fabric::TunedSize;
using microbench::MeasuredTransport;

constexpr const char* kProgram = "fm_tune";

struct Options {
  MeasuredTransport::Wanted measured{};
  std::vector<std::string> transports{};  ///< empty: all of which ranks here can be
  int ranks = 2;
  int rounds = 20;
  std::string largest = "16MiB";
  bool keeps = true;
  bool is_one_way = false;
  std::optional<std::string> json{};
  std::string text{};  ///< to print instead, for --help and --version
};

Options parsed(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Measures how messages of each size travel the fastest over a transport, and keeps it",
               kProgram);
  app.set_version_flag("--version", std::string(kProgram) + " " + version());
  app.add_option("--transport", options.transports, "between the ranks; may be given several times [all]");
  app.add_option("--ranks", options.ranks,
                 "ranks in one process [2]; with mpirun its processes are the ranks")
      ->check(CLI::Range(2, 1024));
  app.add_option("--rounds", options.rounds, "times that each way is measured for a size [20]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--largest", options.largest, "longest message: what is longer travels as it does [16MiB]");
  app.add_option("--timeout", options.measured.timeout_seconds, "seconds to wait for a message [60]")
      ->check(CLI::Range(0.1, 1e6));
  app.add_flag("!--no-keep", options.keeps, "measure and print, but keep nothing");
  app.add_flag("--one-way", options.is_one_way,
               "time messages that go to and fro between two ranks, and keep nothing: half of that time");
  app.add_option("--json", options.json, "write what was measured, as a list; - for standard output");
  microbench::add_selection(app, options.measured.selection);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
  } catch (const CLI::CallForVersion& version) {
    options.text = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    throw microbench::explained(app, error);
  }
  microbench::read_mapping(options.measured.selection);
  microbench::sizes_of(options.largest);
  return options;
}

/// "   65536  from mapped memory   11.9 us  (whole 20.1 us, ...)": the fastest way and then the others.
std::string row(const TunedSize& size) {
  const auto timed = [&](std::size_t way) {
    return fmt::format("{} {:.4g} us", size.ways[way], size.seconds[way] * 1e6);
  };
  std::vector<std::string> others;
  for (std::size_t way = 0; way < size.ways.size(); ++way) {
    if (way != size.best) others.push_back(timed(way));
  }
  return fmt::format("{:>10}  {}  ({})\n", size.bytes, timed(size.best), fmt::join(others, ", "));
}

class Run {
 public:
  Run(runtime::Communicator& ranks, const Options& options) : ranks_(ranks), options_(options) {}
  /// Throws Error where the ranks or the library cannot be those of this transport; on all of them alike.
  void tune(const std::string& name) { tune(*opened(name)); }
  /// The same, or says why not.
  void try_to_tune(const std::string& name);
  /// The list of all documents.
  [[nodiscard]] std::string documents() const {
    return fmt::format("[\n{}]\n", fmt::join(documents_, ",\n"));
  }
  void print(const std::string& text) const {
    if (ranks_.is_root() && options_.json != "-") write_standard_output(text);
  }

 private:
  [[nodiscard]] std::unique_ptr<MeasuredTransport> opened(const std::string& name) const;
  void tune(const MeasuredTransport& measured);

  runtime::Communicator& ranks_;
  const Options& options_;
  std::vector<std::string> documents_;
};

std::unique_ptr<MeasuredTransport> Run::opened(const std::string& name) const {
  MeasuredTransport::Wanted wanted = options_.measured;
  wanted.transport = name;
  return std::make_unique<MeasuredTransport>(ranks_, wanted);
}

void Run::try_to_tune(const std::string& name) {
  std::unique_ptr<MeasuredTransport> measured;
  try {
    measured = opened(name);
  } catch (const runtime::DeadlineError&) {
    throw;
  } catch (const Error& error) {
    print(fmt::format("{} skipped: {}\n", name, error.cause()));
    return;
  }
  tune(*measured);
}

void Run::tune(const MeasuredTransport& measured) {
  fabric::Transport& transport = measured.transport();
  if (transport.ways(1).empty()) {
    print(fmt::format("messages over {} have one way only: nothing to tune\n", transport.name()));
    return;
  }
  const fabric::TuningPlace place = fabric::tuning_place(measured.device(), transport);
  print(fmt::format("{} between {} ranks ({}), device {}, {}\n{:>10}  fastest way (others)\n",
                    place.transport, place.count, place.ranks, place.device, place.processor, "bytes"));
  const std::vector<TunedSize> sizes =
      fabric::tune(transport, {.largest_bytes = microbench::sizes_of(options_.largest).second,
                               .rounds = options_.rounds,
                               .is_one_way = options_.is_one_way,
                               .told = [&](const TunedSize& size) { print(row(size)); }});
  documents_.push_back(fabric::tuning_document(place, sizes));
  runtime::collective_step(ranks_, [&] {
    if (!ranks_.is_root() || !options_.keeps || options_.is_one_way) return;
    fabric::keep_ways(place, sizes);
    print(fmt::format("kept: {}\n", fabric::kept_file(place).string()));
  });
}

int run(runtime::Communicator& ranks, const Options& options) {
  if (ranks.size() < 2) {
    throw bad_use("one rank has nobody to send to", "start fm_tune with mpirun -n 2, or with --ranks 2");
  }
  ranks.set_timeout(options.measured.timeout_seconds);
  Run run(ranks, options);
  const bool all = options.transports.empty();
  for (const std::string& name : all ? MeasuredTransport::names() : options.transports) {
    all ? run.try_to_tune(name) : run.tune(name);
    ranks.barrier();  // runtimes do not like a device that closes while another opens
  }
  runtime::collective_step(ranks, [&] {
    if (!ranks.is_root() || !options.json) return;
    options.json == "-" ? write_standard_output(run.documents())
                        : write_atomically(*options.json, run.documents());
  });
  return static_cast<int>(ExitCode::kValid);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  Options options;
  std::optional<Error> refused;
  try {
    options = parsed({argv + 1, argv + argc});
  } catch (const Error& error) {
    refused = error;
  }
  const bool runs = !refused && options.text.empty();
  return runtime::run_ranks(argc, argv, runs ? options.ranks : 1, [&](runtime::Communicator& ranks) {
    if (refused) throw Error(*refused);
    if (runs) return run(ranks, options);
    if (ranks.is_root()) write_standard_output(options.text);
    return static_cast<int>(ExitCode::kValid);
  });
}
