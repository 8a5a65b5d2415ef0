#include "microbench/common/calls/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/version.hpp"
#include "collectives/elements.hpp"
#include "microbench/common/calls/options_check.hpp"
#include "microbench/common/program.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/option_help.hpp"

namespace fabricmark::microbench {

namespace {

constexpr const char* kProgram = "fm_collective";
constexpr std::size_t kLargestBytes = std::size_t{1} << 32U;
constexpr std::array kActs{std::pair{"send", Act::kSend},      std::pair{"ping_pong", Act::kPingPong},
                           std::pair{"one_way", Act::kOneWay}, std::pair{"both_ways", Act::kBothWays},
                           std::pair{"put", Act::kPut},        std::pair{"stream_put", Act::kStreamPut}};

/// What CLI11 stores before it is read further.
struct Texts {
  std::string issuer = "host";
  std::string mode = "buffered";
  std::string codec = "none";
  std::string sizes = "64:1MiB";
  std::string type = "float32";
  std::string reduction = "sum";
  std::string system;
  std::optional<double> timeout{};
  std::optional<int> repetitions{};
};

std::vector<std::string> operations() {
  std::vector<std::string> names;
  for (const collectives::Operation one : collectives::kOperations) names.emplace_back(name_of(one));
  for (const auto& [name, act] : kActs) names.emplace_back(name);
  return names;
}

void add_calling(CLI::App& app, Options& options, Texts& texts) {
  app.option_defaults()->group("Calls");
  app.add_option("--issuer", texts.issuer, "who calls: host, or logic (a kernel calls its engine) [host]");
  app.add_option("--mode", texts.mode,
                 "operands: buffered (in memory), or streaming (streams of kernels) [buffered]");
  app.add_option("--algorithm", options.algorithm, "of a collective (default: the fastest by its costs)");
}

void add_calls(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("operation", options.name, fmt::format("one of {}", fmt::join(operations(), ", ")))
      ->required()
      ->type_name("NAME");
  app.add_option("--transport", options.transport,
                 fmt::format("{}", fmt::join(runtime::transport_names(), ", ")))
      ->required();
  add_calling(app, options, texts);
  app.add_option("--ranks", options.ranks,
                 "threads of this process, or as many processes as a launcher has started [2]")
      ->check(CLI::Range(1, 1024));
  app.add_option("--sizes", texts.sizes,
                 "bytes of one rank's elements, MIN:MAX, doubled each time [64:1MiB]");
  app.add_option("--type", texts.type, "int8, int32, int64, float16, float32 or float64 [float32]");
  app.add_option("--reduction", texts.reduction, "sum, min or max [sum]");
  app.add_option("--root", options.root, "root rank [0]")->check(CLI::Range(0, 1023));
  app.add_option("--messages", options.window, "that leave at once: one_way and both_ways [1]")
      ->check(CLI::Range(1, 1024));
  app.add_option("--codec", texts.codec, "compression of float32 on the wire: none or float16 [none]");
}

void add_network(CLI::App& app, Options& options, Texts& texts) {
  app.option_defaults()->group("Transport and network");
  app.add_option("--system", texts.system, "a system of `fabricmark systems export`");
  app.add_option("--topology", options.topology, "pair, ring, torus:2x4, ... (default: the system's)");
  app.add_option("--mtu", options.choices.mtu_bytes,
                 "bytes of an IP packet: 1500, or 9000 for jumbo frames (default: the system's)");
  app.add_option("--window", options.choices.window_bytes,
                 "TCP: window size: bytes in flight; 65535: without scaling (default: no limit)");
  app.add_option("--rx-buffers", options.rx_buffers, "receive buffers of a device [16, or one for each rank]")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20U));
  app.add_option("--rx-bytes", options.rx_bytes, "bytes of each [1048576]")
      ->check(CLI::Range(std::size_t{1}, kLargestBytes));
  app.add_option("--eager-limit", options.eager_bytes,
                 "RDMA: longer messages wait for their receiver [bytes of a receive buffer]");
  app.add_option("--drop", options.drop, "fraction of packets dropped [0]")->check(CLI::Range(0.0, 1.0));
  app.add_option(
         "--timeout", texts.timeout,
         "seconds that a call waits for others: of modelled time with an engine, 0 for no limit [1]; by "
         "the wall clock over a transport [60]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--workers", options.workers, "threads that execute the emulated kernels [1]")
      ->check(CLI::Range(1, 256));
  app.add_option("--schedule-seed", options.schedule_seed, "seed of the order in which kernels run");
}

void add_run(CLI::App& app, Options& options, Texts& texts) {
  app.option_defaults()->group("Measurement, device and output");
  app.add_option("--repetitions", texts.repetitions,
                 "counted calls by the wall clock, after one warm-up [10]")
      ->check(CLI::Range(1, 1000000));
  add_selection(app, options.selection);
  app.add_flag("--inject-fault", options.has_fault, "make one element of a result wrong");
  app.add_option("--json", options.json, "write the result file, - for standard output");
}

void add_all(CLI::App& app, Options& options, Texts& texts) {
  app.option_defaults()->group("Calls");
  add_calls(app, options, texts);
  add_network(app, options, texts);
  add_run(app, options, texts);
  runtime::simplify_values(app);
}

/// Whether a word is the second of two that an option knows.
bool is_second(const char* option, const std::string& given, const char* first, const char* second) {
  if (given != first && given != second) {
    throw bad_use(fmt::format("'{}' is no {}", given, option), fmt::format("use {} or {}", first, second));
  }
  return given == second;
}

void read_operation(Options& options) {
  const auto* const act = std::ranges::find(kActs, options.name, &decltype(kActs)::value_type::first);
  if (act != kActs.end()) {
    options.act = act->second;
    return;
  }
  const auto names = operations();
  if (std::ranges::find(names, options.name) == names.end()) {
    throw bad_use(fmt::format("'{}' is no operation", options.name),
                  fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  options.operation = collectives::operation_named(options.name);
}

void read_board_texts(const Texts& texts, Options& options) {
  options.is_from_logic = is_second("issuer", texts.issuer, "host", "logic");
  options.uses_streams = is_second("mode", texts.mode, "buffered", "streaming");
  options.is_compressed = is_second("codec", texts.codec, "none", "float16");
  options.system = texts.system;
}

void read_texts(const Texts& texts, Options& options) {
  read_operation(options);
  read_board_texts(texts, options);
  options.type = collectives::type_named(texts.type);
  options.reduction = collectives::reduction_named(texts.reduction);
  std::tie(options.smallest, options.largest) = sizes_of(texts.sizes);
  const bool is_by_wall_clock = options.medium == Medium::kTransport;
  options.timeout_seconds = texts.timeout.value_or(is_by_wall_clock ? 60 : 1);
  options.repetitions = texts.repetitions.value_or(is_by_wall_clock ? 10 : 1);
  options.selection.mapping = device::mapping_of_environment();
}

/// All but the transport's name, which decides what the others mean.
std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) given.push_back(option->get_name());
  }
  return given;
}

}  // namespace

bool takes_device(const Options& options) {
  const runtime::TransportSpec* const found = runtime::find_transport(options.transport);
  return found != nullptr && found->between == runtime::Between::kDevices;
}

std::vector<OptionText> option_texts() {
  Options options;
  Texts texts;
  CLI::App app;
  add_all(app, options, texts);
  return option_texts(app);
}

std::variant<Options, std::string> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Texts texts;
  CLI::App app(
      "Collective operations and messages: of an engine on the board or over direct links in modelled "
      "time, over the transports of this machine by the wall clock",
      kProgram);
  app.set_version_flag("--version", std::string(kProgram) + " " + version());
  add_all(app, options, texts);
  if (std::string text = text_or_parsed(app, arguments); !text.empty()) return text;
  options.medium = medium_of(options.transport);
  options.has_ranks = app.count("--ranks") > 0;
  read_texts(texts, options);
  check(options, given_options(app));
  return options;
}

Options with_board_options(Options options, const std::vector<std::string>& words) {
  Texts texts;
  CLI::App app;
  add_calling(app, options, texts);
  add_network(app, options, texts);
  text_or_parsed(app, words);
  read_board_texts(texts, options);
  check(options, given_options(app));
  return options;
}

}  // namespace fabricmark::microbench
