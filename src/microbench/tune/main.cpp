// fm_tune: measures which protocol is the fastest for messages of each size over a transport of this machine,
// and keeps that for the runs to come (transport/cached_protocols.hpp); or checks what they would take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "microbench/common/measured_transport.hpp"
#include "microbench/common/program.hpp"
#include "runtime/agreement.hpp"
#include "runtime/option_help.hpp"
#include "transport/cached_protocols.hpp"
#include "transport/protocol_check.hpp"

namespace {

using namespace fabricmark;
using microbench::MeasuredTransport;
using transport::CheckedSize;
using transport::TunedSize;

constexpr const char* kProgram = "fm_tune";

struct Options {
  MeasuredTransport::Wanted measured{};
  std::vector<std::string> transports{};  ///< empty: all of which ranks here can be
  int ranks = 2;
  int rounds = 20;
  double seconds = 10;
  std::string largest = "16MiB";
  bool keeps = true;
  std::vector<transport::Pattern> patterns{};
  bool checks = false;
  std::optional<std::string> json{};
};

std::variant<Options, std::string> parsed(const std::vector<std::string>& arguments) {
  Options options;
  std::vector<std::string> patterns;
  CLI::App app("Measures which protocol of a transport is the fastest for each message size, and saves it",
               kProgram);
  app.set_version_flag("--version", std::string(kProgram) + " " + version());
  app.add_option("--transport", options.transports, "between the ranks; may be given several times [all]");
  app.add_option("--ranks", options.ranks,
                 "ranks in one process [2]; with mpirun its processes are the ranks")
      ->check(CLI::Range(2, 1024));
  app.add_option("--rounds", options.rounds, "times that each protocol is measured for a size, at least [20]")
      ->check(CLI::Range(1, 1000000));
  app.add_option(
         "--seconds", options.seconds,
         "in all, for further rounds of sizes whose protocols do not differ clearly, or of a check [10]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--largest", options.largest,
                 "longest message measured; longer ones use its protocol [16MiB]");
  app.add_option("--timeout", options.measured.timeout_seconds, "seconds to wait for a message [60]")
      ->check(CLI::Range(0.1, 1e6));
  app.add_flag("!--no-keep", options.keeps, "measure and print, but save nothing");
  app.add_option("--pattern", patterns,
                 "message pattern: exchange, in-a-row or one-way; may be given several times "
                 "[all]");
  app.add_flag(
      "--check", options.checks,
      "save nothing; compare the protocol that a program would choose with each other one, interleaved");
  app.add_option("--json", options.json, "write what was measured, as a list; - for standard output");
  microbench::add_selection(app, options.measured.selection);
  runtime::simplify_values(app);
  if (std::string text = microbench::text_or_parsed(app, arguments); !text.empty()) return text;
  options.measured.selection.mapping = device::mapping_of_environment();
  microbench::sizes_of(options.largest);
  for (const std::string& pattern : patterns) options.patterns.push_back(transport::pattern_named(pattern));
  if (patterns.empty()) options.patterns.assign(transport::kPatterns.begin(), transport::kPatterns.end());
  return options;
}

/// "   65536  mapped memory   11.9 us  (whole 20.1 us, ...)": the fastest protocol and then the others.
std::string row(const TunedSize& size) {
  const auto timed = [&](std::size_t protocol) {
    return fmt::format("{} {:.4g} us", size.protocols[protocol], size.seconds[protocol] * 1e6);
  };
  std::vector<std::string> others;
  for (std::size_t protocol = 0; protocol < size.protocols.size(); ++protocol) {
    if (protocol != size.best) others.push_back(timed(protocol));
  }
  return fmt::format("{:>10}  {}  ({})\n", size.bytes, timed(size.best), fmt::join(others, ", "));
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// "   65536  whole 20.1 us, chosen 11.9 us, fastest 11.8 us: mapped memory": medians.
std::string row(const CheckedSize& size) {
  std::vector<double> medians;
  for (const std::vector<double>& seconds : size.seconds) medians.push_back(1e6 * median_of(seconds));
  const double chosen = medians.back();
  medians.pop_back();
  const auto fastest = static_cast<std::size_t>(std::ranges::min_element(medians) - medians.begin());
  return fmt::format("{:>10}  {} {:.4g} us, chosen {:.4g} us ({}), fastest {:.4g} us ({})\n", size.bytes,
                     size.protocols[0], medians[0], chosen, size.chosen, medians[fastest],
                     size.protocols[fastest]);
}

/// All samples, for whoever judges them (bench/cases/protocols.py).
std::string check_document(const transport::TuningPlace& place, const std::string& said,
                           const std::vector<CheckedSize>& sizes) {
  nlohmann::json document{{"transport", place.transport},   {"device", place.device},
                          {"ranks", place.ranks},           {"count", place.count},
                          {"pattern", name(place.pattern)}, {"said", said}};
  for (const CheckedSize& size : sizes) {
    nlohmann::json seconds = nlohmann::json::object();
    for (std::size_t protocol = 0; protocol < size.protocols.size(); ++protocol)
      seconds[size.protocols[protocol]] = size.seconds[protocol];
    document["sizes"].push_back({{"bytes", size.bytes},
                                 {"naive", size.protocols[0]},
                                 {"chosen", size.chosen},
                                 {"seconds", seconds},
                                 {"chosen_seconds", size.seconds.back()}});
  }
  return document.dump(2) + "\n";
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
  void find(const MeasuredTransport& measured, transport::Tuning tuning);
  void check(const MeasuredTransport& measured, const transport::Checking& checking);

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
  const transport::Transport& transport = measured.transport();
  if (transport.protocols(1).empty()) {
    print(fmt::format("messages over {} have one protocol only: nothing to tune\n", transport.name()));
    return;
  }
  for (const transport::Pattern pattern : options_.patterns) {
    const transport::TuningPlace place = transport::tuning_place(measured.device(), transport, pattern);
    print(fmt::format("{} between {} ranks ({}), {}, device {}, {}\n", place.transport, place.count,
                      place.ranks, transport::name(pattern), place.device, place.processor));
    const std::size_t largest_bytes = microbench::sizes_of(options_.largest).second;
    if (options_.checks) {
      check(measured, {.largest_bytes = largest_bytes,
                       .rounds = options_.rounds,
                       .seconds = options_.seconds / 20,
                       .pattern = pattern});
    } else {
      find(measured, {.largest_bytes = largest_bytes,
                      .rounds = options_.rounds,
                      .patience_seconds = options_.seconds,
                      .pattern = pattern});
    }
  }
}

void Run::find(const MeasuredTransport& measured, transport::Tuning tuning) {
  const transport::TuningPlace place =
      transport::tuning_place(measured.device(), measured.transport(), tuning.pattern);
  std::size_t pass = 0, before = 0;
  tuning.told = [&](std::size_t undecided) {
    ++pass;
    if (undecided == std::exchange(before, undecided) || undecided == 0) return;
    print(fmt::format("round {}: the protocols of {} groups of sizes do not differ clearly yet\n", pass,
                      undecided));
  };
  const std::vector<TunedSize> sizes = transport::tune(measured.transport(), tuning);
  print(fmt::format("{:>10}  fastest protocol (others)\n", "bytes"));
  for (const TunedSize& size : sizes) print(row(size));
  documents_.push_back(transport::tuning_document(place, sizes));
  runtime::collective_step(ranks_, [&] {
    if (!ranks_.is_root() || !options_.keeps) return;
    transport::cache_protocols(place, sizes);
    print(fmt::format("kept: {}\n", transport::kept_file(place).string()));
  });
}

void Run::check(const MeasuredTransport& measured, const transport::Checking& checking) {
  const transport::TuningPlace place =
      transport::tuning_place(measured.device(), measured.transport(), checking.pattern);
  const transport::SettledProtocols settled = transport::settle_protocols(
      measured.transport(), measured.device(), checking.largest_bytes, checking.pattern);
  print(settled.said + "\n");
  const std::vector<CheckedSize> sizes =
      transport::check_protocols(measured.transport(), settled.protocols, checking);
  for (const CheckedSize& size : sizes) print(row(size));
  documents_.push_back(check_document(place, settled.said, sizes));
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
    ranks.barrier();
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
  return microbench::run_command<Options>(
      argc, argv,
      [&] {
        return parsed({argv + 1, argv + argc});
      },
      run);
}
