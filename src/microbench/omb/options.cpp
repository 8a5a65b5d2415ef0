#include "microbench/omb/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/number_from.hpp"
#include "base/version.hpp"
#include "microbench/common/measured_transport.hpp"
#include "microbench/common/program.hpp"
#include "microbench/omb/options_check.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/option_help.hpp"

namespace fabricmark::microbench::omb {

namespace {

constexpr std::size_t kLongMessage = 8192;  // above it OMB takes fewer iterations
constexpr std::size_t kLargestShort = 65536;
constexpr std::array kTypeNames{std::pair{"mpi_char", collectives::Type::kInt8},
                                std::pair{"mpi_int", collectives::Type::kInt32},
                                std::pair{"mpi_float", collectives::Type::kFloat32}};

struct Words {
  std::string sizes;
  std::string type;
  std::string buffers = "single";
  std::string api;
  std::string percentiles;
  std::vector<std::string> places;
  std::vector<std::string> banks;
  bool is_short = false;
};

/// A whole number without a unit, as OMB takes it.
std::size_t number_of(std::string_view text, const char* option) {
  if (const auto number = number_from<std::size_t>(text)) return *number;
  throw bad_use(fmt::format("{} '{}' is no number", option, text), "give a whole number, as OMB takes it");
}

/// "4096", "1:4096", "1:" or ":4096".
void read_sizes(const std::string& text, Options& options) {
  if (text.empty()) return;
  const std::size_t colon = text.find(':');
  const std::string_view all = text;
  const std::string_view first = colon == std::string::npos ? std::string_view() : all.substr(0, colon);
  const std::string_view last = colon == std::string::npos ? all : all.substr(colon + 1);
  if (!first.empty()) options.smallest = number_of(first, "-m");
  if (!last.empty()) options.largest = number_of(last, "-m");
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  if (text == ":" || options.smallest == 0 || options.smallest > options.largest || options.largest > kMost) {
    throw bad_use(fmt::format("-m '{}' has no sizes", text),
                  "write for example 4096 or 1:4194304, up to 1 GiB");
  }
}

void read_types(const std::string& text, Options& options) {
  if (text.empty()) {
    options.types = {options.program->reduces() ? collectives::Type::kInt32 : collectives::Type::kInt8};
  } else if (text == "all") {
    for (const auto& [name, type] : kTypeNames) options.types.push_back(type);
  } else {
    const auto* const found =
        std::ranges::find(kTypeNames, text, [](const auto& known) { return std::string_view(known.first); });
    if (found == kTypeNames.end()) {
      throw bad_use(fmt::format("-T '{}' is no type", text), "use mpi_char, mpi_int, mpi_float or all");
    }
    options.types = {found->second};
  }
  if (!options.program->has_sizes()) options.types.resize(1);
}

/// "50,90,99".
void read_percentiles(const std::string& text, Options& options) {
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::size_t one = number_of(std::string_view(text).substr(start, end - start), "-z");
    if (one == 0 || one > 99) {
      throw bad_use(fmt::format("-z {}: there is no such percentile", one),
                    "give some of 1 to 99: -z50,90,99");
    }
    options.percentiles.push_back(static_cast<int>(one));
    start = end + 1;
  }
}

void read_banks(const std::vector<std::string>& words, Options& options) {
  for (const std::string& word : words) {
    const std::size_t letter =
        word.size() > 2 && word[1] == '=' ? std::string_view("DBP").find(word[0]) : std::string::npos;
    if (letter == std::string::npos) {
      throw bad_use(fmt::format("--bank '{}' names no memory", word), "write for example --bank B=0");
    }
    options.banks.at(letter) = static_cast<int>(number_of(std::string_view(word).substr(2), "--bank"));
  }
}

void read_places(const std::vector<std::string>& words, Options& options) {
  if (words.size() == 1 || words.size() > 2) {
    throw bad_use(
        fmt::format("{} letters for two sides", words.size()),
        "give one for each side, such as D D; H host, D device, B high-bandwidth, P on-chip memory");
  }
  for (std::size_t side = 0; side < words.size(); ++side) {
    if (words[side].size() != 1 || std::string_view("HDBP").find(words[side]) == std::string::npos) {
      throw bad_use(fmt::format("'{}' is no memory", words[side]),
                    "use H (host), D (device), B (high-bandwidth) or P (on-chip)");
    }
    options.places.at(side) = static_cast<Placement>(words[side][0]);
  }
  options.has_places = !words.empty();
}

/// Sizes and iterations of the short set, where the command line says no others.
void shorten(Options& options) {
  options.largest = kLargestShort;
  // A barrier before each operation, and a window of messages, take long where ranks wait for cores.
  Iterations made{100, 10};
  if (options.program->is_collective()) made = {20, 2};
  if (options.program->windows > 0) made = {5, 1};
  options.iterations = options.iterations.value_or(made.counted);
  options.warmup = options.warmup.value_or(made.warmup);
}

void read_words(const Words& words, Options& options) {
  if (words.is_short) shorten(options);
  read_sizes(words.sizes, options);
  read_types(words.type, options);
  read_percentiles(words.percentiles, options);
  read_places(words.places, options);
  read_banks(words.banks, options);
  if (words.buffers != "single" && words.buffers != "multiple") {
    throw bad_use(fmt::format("invalid value of -b: '{}'", words.buffers), "use single or multiple");
  }
  options.has_many_buffers = words.buffers == "multiple";
  options.api = words.api;
  options.selection.mapping = device::mapping_of_environment();
}

/// The options of OMB.
void add_omb(CLI::App& app, Options& options, Words& words) {
  app.option_defaults()->group("As the OSU Micro-Benchmarks");
  app.add_option("-m,--message-size", words.sizes, "[MIN:]MAX, bytes of messages, doubled each time");
  app.add_option("-i,--iterations", options.iterations, "that are counted, for each size")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100000000}));
  app.add_option("-x,--warmup", options.warmup, "warm-up iterations, which are not counted")
      ->check(CLI::Range(std::size_t{0}, std::size_t{100000000}));
  app.add_option("-W,--window-size", options.window, "messages in flight [64]")->check(CLI::Range(1, 65536));
  app.add_option("-t,--num-test-calls", options.probes,
                 "MPI_Test calls during the computation of a non-blocking operation [0]")
      ->check(CLI::Range(0, 1000000));
  app.add_flag("-c,--validation", options.checks_all,
               "check every iteration, and say so for each size (without it: the first and last ones)");
  app.add_flag("-f,--full", options.is_full, "also minimum and maximum times");
  app.add_option("-z,--tail-lat", words.percentiles, "percentiles, such as -z50,90,99 [none; -z: these]");
  app.add_option("-T,--type", words.type,
                 "mpi_char, mpi_int, mpi_float or all [sums: mpi_int; else mpi_char]");
  app.add_option("-b,--buffer-num", words.buffers, "single or multiple: reuse of buffers [single]");
  app.add_option("-d,--accelerator", words.api,
                 "whose device memory: opencl, sycl or none [as the placement codes and the runtime say]");
  app.add_option("places", words.places,
                 "memory of each side: H host, D device, B high-bandwidth, P on-chip [H H; D D of a device "
                 "that is named]")
      ->type_name("H|D|B|P");
}

/// Those that OMB does not have.
void add_own(CLI::App& app, Options& options, Words& words) {
  app.option_defaults()->group("Transport, device and output");
  app.add_option(
      "--transport", options.transport,
      fmt::format(
          "what carries messages: {} (mpi between hosts is the library itself); {}: an "
          "emulated fabric, in modelled time",
          fmt::join(MeasuredTransport::names(), ", "),
          fmt::join(runtime::transports_between({runtime::Between::kEngines, runtime::Between::kStreams}),
                    ", ")));
  app.add_option("--ranks", options.ranks, "threads of this process, without a launcher [2]")
      ->check(CLI::Range(1, 1024));
  app.add_option("--root", options.root, "of operations that have one [0]")->check(CLI::Range(0, 1023));
  app.add_option("--timeout", options.timeout_seconds, "seconds to wait for another rank [60]")
      ->check(CLI::Range(0.1, 1e6));
  add_selection(app, options.selection);
  app.add_option("--memory", options.memory,
                 "of a device: buffer, svm, which any MPI library reads, or peer, which other GPUs reach "
                 "[buffer, or what "
                 "the transport moves]");
  app.add_option("--bitstream", options.bitstream,
                 "of an FPGA: kernels/common/touch.cl, built for its board");
  app.add_option(
         "--backend", options.selection.backend,
         "what speaks to boards of AMD's: opencl, or xrt natively [xrt for an .xclbin, where it is there]")
      ->check(CLI::IsMember({"opencl", "xrt"}));
  app.add_option("--bank", words.banks,
                 "number of a memory of the bitstream, as B=0; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--limit", options.limit, "peak bandwidth of the link in GB/s: a higher result is invalid");
  app.add_flag("--short", words.is_short, "sizes to 64 KiB and few iterations, unless -m, -i, -x say others");
  app.add_flag("--inject-fault", options.has_fault, "make one element of a result wrong");
  app.add_option("--json", options.json, "write the result file, - for standard output");
}

void add_all(CLI::App& app, Options& options, Words& words) {
  add_omb(app, options, words);
  add_own(app, options, words);
  runtime::simplify_values(app);
}

/// -z alone takes no word behind it, as OMB's: only what is attached to it.
void settle_percentiles(std::vector<std::string>& arguments) {
  for (std::string& word : arguments) {
    if (word == "-z") word = "-z50,90,99";
    if (word == "--tail-lat") word = "--tail-lat=50,90,99";
  }
}

}  // namespace

std::string_view mpi_name(collectives::Type type) {
  const auto* const found =
      std::ranges::find(kTypeNames, type, [](const auto& known) { return known.second; });
  return found->first;
}

Iterations Options::iterations_of(std::size_t bytes) const {
  const bool is_long = bytes > kLongMessage;
  Iterations made;
  switch (program->family) {
    case Family::kLatency:
      made = is_long ? Iterations{1000, 10} : Iterations{10000, 100};
      break;
    case Family::kBandwidth:
    case Family::kRate:
      made = is_long ? Iterations{20, 2} : Iterations{100, 10};
      break;
    case Family::kCollective:
    case Family::kOverlap:
      made = is_long ? Iterations{100, 10} : Iterations{1000, 100};
  }
  return {iterations.value_or(made.counted), warmup.value_or(made.warmup)};
}

std::vector<OptionText> option_texts() {
  Options options;
  Words words;
  CLI::App app;
  add_all(app, options, words);
  return microbench::option_texts(app);
}

std::string Options::placement() const {
  return {static_cast<char>(places[0]), ' ', static_cast<char>(places[1])};
}

std::variant<Options, std::string> parse_options(const std::string& program,
                                                 std::vector<std::string> arguments) {
  Options options;
  Words words;
  options.program_name = program;
  options.program = &program_named(program);
  options.largest = options.program->is_collective() ? std::size_t{1} << 20U : std::size_t{1} << 22U;
  CLI::App app(fmt::format("{}: as the program of the OSU Micro-Benchmarks, with every result checked",
                           options.program->title),
               program);
  app.set_version_flag("--version", program + " " + version());
  add_all(app, options, words);
  app.allow_extras(false);
  app.prefix_command(false);
  settle_percentiles(arguments);
  take_board_options(arguments, options);
  if (std::string text = text_or_parsed(app, arguments); !text.empty()) return text;
  read_words(words, options);
  settle(options);
  return options;
}

}  // namespace fabricmark::microbench::omb
