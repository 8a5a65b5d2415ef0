#include "runtime/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/version.hpp"
#include "device/dry_run.hpp"
#include "device/memory.hpp"
#include "runtime/option_help.hpp"

namespace fabricmark::runtime {

namespace {

/// What CLI11 stores texts in before they are read further.
struct Texts {
  std::string fault, delay;
};

void add_common(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--variant", options.variant, "kind of kernel: base or throughput (default: by device)");
  app.add_option("--language", options.language,
                 "of the kernels: opencl (C), or sycl (C++), built at run time on a device of SYCL [opencl]")
      ->check(CLI::IsMember({"opencl", "sycl"}));
  app.add_option("--kernel-file", options.kernel_file,
                 "your own kernel (.cl) or bitstream with the same signature");
  app.add_option("--bitstream", options.bitstream,
                 "load this bitstream; FILE.toml says what it was built with");
  app.add_option("--save-bitstream", options.save_bitstream, "write the built program and its sidecar");
  app.add_option("--system", options.system,
                 "banks and a bitstream's parameters from a system: `fabricmark systems export`");
  app.add_option("--bitstream-id", options.bitstream_id,
                 "which bitstream of the system, where it has several");
  app.add_flag("--simulate", options.simulates,
               "also model the system's time, from its launches, kernels, copies and messages");
  app.add_flag("--timing-only", options.timing_only,
               "model only, one repetition: nothing is computed, so any size fits");
  app.add_option("--platform", options.selection.platform, "OpenCL platform: index or part of its name");
  app.add_option("--device", options.selection.device, "device: index or part of its name");
  app.add_option(
         "--backend", options.selection.backend,
         "what speaks to boards of AMD's: opencl, or xrt natively [xrt for an .xclbin, where it is there]")
      ->check(CLI::IsMember({"opencl", "xrt"}));
  app.add_flag("--list-devices", options.list_devices, "show the devices and stop");
  app.add_option("--ranks", options.ranks, "ranks inside this process")->check(CLI::Range(1, 1024));
  app.add_option("--repetitions", options.repetitions, "counted repetitions (default: as the benchmark asks)")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--warmup", options.warmup, "repetitions before counting")->check(CLI::Range(0, 1000000));
  app.add_option("--min-time", options.min_time_seconds, "repeat until this many seconds were timed")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option(
         "--max-time", options.max_time_seconds,
         "fewer repetitions, but two, once these have taken so many seconds with their checks (default: "
         "20, unless --repetitions or --min-time is given)")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--json", options.json, "write the result file, - for standard output");
  app.add_flag("-q,--quiet", options.quiet, "print one line: the verdict and the first figure");
  app.add_flag("--timeline", options.timeline,
               "record start and end of every kernel, and of all that modelled times are made of");
  app.add_flag("--inner-samples", options.inner_samples,
               "record the time of each message, not only the mean of a batch");
  app.add_flag("--skip-validation", options.skip_validation, "do not check the results");
  app.add_option("--inject-fault", texts.fault,
                 "make a result wrong: KIND[:TARGET][@RANK][#REPETITION], or a rank fail: KIND:STEP@RANK; "
                 "see the documentation");
  app.add_option("--inject-delay", texts.delay,
                 "lengthen each timed region by seconds or by a share like 10%");
  app.add_option("--timeout", options.timeout_seconds, "seconds to wait for another rank")
      ->check(CLI::Range(0.001, 1e6));
  app.add_option("--kernel-timeout", options.kernel_timeout_seconds,
                 "seconds to wait for a kernel or a copy [10 times --timeout]")
      ->check(CLI::Range(0.001, 1e7));
  app.add_option(
      "--memory", options.memory,
      "kind of device memory: buffer, host-pointer, svm or peer [buffer, or what the transport moves]");
}

void add_power(CLI::App& app, power::Settings& settings) {
  app.add_option("--power", settings.source, "sample power while measuring: " + power::source_names());
  app.add_option("--power-interval", settings.interval_ms, "milliseconds between two samples of power")
      ->check(CLI::Range(1, 3600000));
  app.add_option("--power-command", settings.command, "a command that prints watts; see docs/power.md");
}

std::string parameter_help(const ParameterSpec& spec) {
  std::vector<std::string> defaults;
  for (const auto& [name, value] : spec.defaults) {
    defaults.push_back(name.empty() ? to_text(value) : name + ": " + to_text(value));
  }
  return fmt::format("{} [{}]", spec.meaning, fmt::join(defaults, ", "));
}

/// Letters to insert, remove or change to make one word the other (Levenshtein's distance).
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j + 1] + 1, row[j] + 1}));
    }
  }
  return row.back();
}

/// "--size" for "--sise"; empty where no option is near.
std::string nearest_option(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(2, given.size() / 4) + 1;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t found = distance("--" + name, given);
      if (found < smallest) {
        smallest = found;
        nearest = "--" + name;
      }
    }
  }
  return nearest;
}

/// What CLI11 could not place: the first unknown option, else the first word that belongs to none.
Error not_expected(const CLI::App& app, const std::string& program) {
  const std::string help = "see " + program + " --help";
  const std::vector<std::string> words = app.remaining();
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  if (option == words.end()) {
    return bad_use("the word '" + (words.empty() ? "" : words.front()) + "' belongs to no option", help);
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string nearest = nearest_option(app, name);
  return bad_use("unknown option '" + name + "'",
                 nearest.empty() ? help : "did you mean " + nearest + "? Else " + help);
}

/// CLI11's messages, in one line and with a remedy.
Error explain(const CLI::ParseError& error, const std::string& program) {
  std::string cause = error.what();
  std::ranges::replace(cause, '\n', ' ');
  return bad_use(cause, "see " + program + " --help");
}

void check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path folder = fs::absolute(path).parent_path();
  while (!folder.empty() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  if (fs::is_directory(path, ignored) || !fs::is_directory(folder, ignored) ||
      access(folder.c_str(), W_OK) != 0) {
    throw bad_use("cannot write '" + path + "'", "name a file in a folder that you may write to");
  }
}

void check_finite(const char* option, double seconds, const char* example) {
  if (std::isfinite(seconds)) return;
  throw bad_use(fmt::format("{} is not a number", option), fmt::format("give seconds like {}", example));
}

/// What only goes together, of the options for modelled times.
void check_simulated(const CLI::App& app, Options& options) {
  if (options.timing_only) {
    for (const char* name :
         {"--backend", "--platform", "--device", "--inject-fault", "--inject-delay", "--kernel-file",
          "--bitstream", "--save-bitstream", "--min-time", "--max-time", "--inner-samples", "--power"}) {
      if (app.count(name) == 0) continue;
      throw bad_use(std::string("--timing-only and ") + name + " exclude each other",
                    "leave out one of them: nothing runs on a device");
    }
    options.simulates = true;
    options.selection.platform = device::kDryRunPlatform;
    options.max_time_seconds.reset();
    if (app.count("--repetitions") == 0) options.repetitions = 1;
    if (app.count("--warmup") == 0) options.warmup = 0;
  }
  if (options.simulates && !options.system) {
    throw bad_use(fmt::format("{} without --system", options.timing_only ? "--timing-only" : "--simulate"),
                  "give the system whose times count: `fabricmark systems export`");
  }
}

void read_texts(const Texts& texts, const CLI::App& app, Options& options) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_items_expected_max() == 0) continue;
    check_given(option->get_name(), option->as<std::string>());
  }
  options.selection.mapping = device::mapping_of_environment();
  check_finite("--min-time", options.min_time_seconds.value_or(0), "0.5");
  check_finite("--max-time", options.max_time_seconds.value_or(0), "10");
  if (app.count("--repetitions") == 0 && !options.min_time_seconds && !options.max_time_seconds) {
    constexpr double kLongEnough = 20;  // a large size is to end in a minute
    options.max_time_seconds = kLongEnough;
  }
  if (options.min_time_seconds && options.max_time_seconds) {
    throw bad_use("--min-time and --max-time exclude each other", "give one of them");
  }
  check_finite("--timeout", options.timeout_seconds, "60");
  check_finite("--kernel-timeout", options.kernel_timeout(), "600");
  if (app.count("--inject-fault") > 0) options.fault = parse_fault(texts.fault);
  if (app.count("--inject-delay") > 0) options.delay = parse_delay(texts.delay);
  if (!options.memory.empty()) device::memory_kind(options.memory);
  power::check(options.power);
  if (options.kernel_file && options.bitstream) {
    throw bad_use("--kernel-file and --bitstream exclude each other", "give one of them");
  }
  if (!options.bitstream_id.empty() && !options.system) {
    throw bad_use("--bitstream-id without --system", "give the system that has the bitstream");
  }
  if (options.fault && !is_failing_rank(*options.fault) && options.skip_validation) {
    throw bad_use("--inject-fault without validation shows nothing", "leave out --skip-validation");
  }
  check_simulated(app, options);
  if (options.json && *options.json != "-") check_writable(*options.json);
  if (options.save_bitstream) check_writable(options.save_bitstream->string());
}

/// Options by their old names, which are taken for one more version.
constexpr std::array kOldNames{std::pair{"--charge", "--simulate"}};

/// The arguments by the names of today. CLI11 takes them from the back.
std::vector<std::string> reversed_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> found(arguments.rbegin(), arguments.rend());
  for (const auto& [old, name] : kOldNames) std::ranges::replace(found, old, name);
  return found;
}

}  // namespace

Wanted wanted_by(const Options& options) {
  Wanted wanted{.variant = options.variant,
                .bitstream = options.bitstream.value_or(""),
                .system = options.system.value_or(""),
                .bitstream_id = options.bitstream_id,
                .parameters = options.parameters};
  if (options.kernel_file && options.kernel_file->extension() != ".cl")
    wanted.bitstream = *options.kernel_file;
  return wanted;
}

std::variant<Options, std::string> parse_options(const std::vector<std::string>& arguments,
                                                 const std::string& program, const KernelSpec& spec) {
  CLI::App app(spec.summary, program);
  app.set_version_flag("--version", program + " " + version());
  app.get_formatter()->column_width(34);
  Options options;
  Texts texts;
  std::map<std::string, std::string> given;
  for (const ParameterSpec& parameter : spec.parameters) {
    const std::string name = option_name(parameter.name);
    if (is_common_option(name))  // of a transport of the user's own
      throw bad_use(fmt::format("the parameter {} is another option of {}", parameter.name, program),
                    "give it another name");
    app.add_option(name, given[parameter.name], parameter_help(parameter));
  }
  add_common(app, options, texts);
  add_power(app, options.power);
  arrange_help(app, spec);
  try {
    app.parse(reversed_arguments(arguments));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion&) {
    return program + " " + version() + "\n";
  } catch (const CLI::ExtrasError&) {
    throw not_expected(app, program);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string words = error.what();  // "--size: 1 required TEXT missing", as of --size= at the end
    if (words.ends_with(" missing")) check_given(words.substr(0, words.find(':')), "");
    throw explain(error, program);
  } catch (const CLI::ParseError& error) {
    throw explain(error, program);
  }
  read_texts(texts, app, options);
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) {
      options.given.emplace_back(option->get_name(), fmt::format("{}", fmt::join(option->results(), " ")));
    }
  }
  for (const ParameterSpec& parameter : spec.parameters) {
    if (app.count(option_name(parameter.name)) > 0)
      options.parameters[parameter.name] = given[parameter.name];
  }
  return options;
}

}  // namespace fabricmark::runtime
