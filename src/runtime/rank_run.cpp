#include "runtime/rank_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "device/signature.hpp"
#include "device/xclbin.hpp"
#include "runtime/agreement.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/exchange.hpp"
#include "runtime/kernel_costs.hpp"
#include "runtime/outside_transports.hpp"
#include "runtime/simulated_ranks.hpp"
#include "runtime/system_file.hpp"

namespace fabricmark::runtime {

namespace {

/// Of which --max-time leaves none out: one alone would show no spread.
constexpr int kFewestRepetitions = 2;

void check_data_type(const Parameters& parameters, const device::DeviceInfo& info) {
  if (!parameters.has("data_type")) return;
  const std::string& type = parameters.text("data_type");
  if ((type == "half" && !info.has_half) || (type == "double" && !info.has_double)) {
    throw bad_use(fmt::format("{} has no arithmetic of the type {}", info.name, type),
                  "use --data-type float or another device");
  }
}

/// What kernels would multiply with by instructions of its own.
void check_matrix_units(const Parameters& parameters, const device::DeviceInfo& info) {
  if (!parameters.has("matrix_units")) return;
  const std::size_t wanted = parameters.count("matrix_units");
  if (wanted <= info.matrix_units) return;
  throw bad_use(fmt::format("{} has no matrix units of compute capability {}", info.name, wanted),
                "choose --matrix-units 0");
}

/// Which files a user's own kernel consists of.
std::string note_on(const std::vector<device::SourceFile>& files) {
  std::vector<std::string> own;
  std::vector<std::string> shipped;
  for (const device::SourceFile& file : files) (file.is_own ? own : shipped).push_back(file.name);
  return fmt::format("kernel of your own: {}; of the suite: {}", fmt::join(own, ", "),
                     shipped.empty() ? "nothing" : fmt::format("{}", fmt::join(shipped, ", ")));
}

/// Kernels of several devices that wait for each other end when words come, which none of them can tell
/// alone.
void check_can_simulate(const KernelSpec& spec, const VariantSpec& variant, bool is_timing_only) {
  if (variant.is_dataflow() || variant.transports.empty()) return;
  const auto other = std::ranges::find_if(spec.variants, &VariantSpec::is_dataflow);
  throw bad_use(
      fmt::format("{} with the variant {}, whose kernels wait for each other over {}: the costs of "
                  "each do not say how long",
                  is_timing_only ? "--timing-only" : "--simulate", variant.name, variant.transports.front()),
      other == spec.variants.end()
          ? "choose another --variant"
          : fmt::format("use --variant {}, the same design on emulated boards", other->name));
}

}  // namespace

RankRun::RankRun(Communicator& ranks, const RunSetup& setup)
    : ranks_(ranks),
      setup_(setup),
      options_(setup.options),
      progress_(ranks.is_root()),
      shared_clock_(ranks),
      timeline_(setup.options.timeline && !setup.options.timing_only) {
  result_.program = setup.program_name;
  result_.benchmark = setup.spec.benchmark;
  result_.command = setup.command;
  result_.started = time_now();
  result_.ranks_kind = ranks.kind();
  result_.mpi_library = ranks.library();
  result_.warmup = options_.warmup;
  result_.min_time_seconds = options_.min_time_seconds;
  result_.max_time_seconds = options_.max_time_seconds;
  result_.validated = !options_.skip_validation;
  result_.with_timeline = timeline_.enabled();
}

int RankRun::execute() {
  try {
    return execute_steps();
  } catch (...) {
    // Commands may still be in progress on the device: what they read and write has to outlive them.
    static_cast<void>(benchmark_.release());  // NOLINT(bugprone-unused-return-value)
    throw;
  }
}

int RankRun::execute_steps() {
  const auto start = std::chrono::steady_clock::now();
  if (options_.list_devices) {
    collective_step(ranks_, [&] {
      const std::vector<device::FoundDevice> found = device::require_devices(selection());
      if (!ranks_.is_root()) return;
      const bool is_piped = options_.json && *options_.json == "-";
      if (options_.json && !is_piped) write_atomically(*options_.json, devices_json(found));
      write_standard_output(is_piped ? devices_json(found) : devices_table(found));
    });
    return static_cast<int>(ExitCode::kValid);
  }
  begin("device", "opening the device");
  collective_step(ranks_, [&] { check_rank_of(options_.fault, ranks_.size(), ranks_.kind() == "mpi"); });
  open_device();
  collective_step(ranks_, [&] { open_power(); });
  collective_step(ranks_, [&] { choose_parameters(); });
  begin("kernels", "building the kernels");
  collective_step(ranks_, [&] {
    fail_in_step("kernels");
    const RunConditions conditions{.memory = device::memory_kind(memory_name()),
                                   .fault = corrupts_results() ? options_.fault : std::nullopt,
                                   .timeout_seconds = options_.timeout_seconds,
                                   .repetitions = options_.repetitions,
                                   .repetition = &repetition_,
                                   .clock = clock_,
                                   .costs = costs_,
                                   .system = place_,
                                   .kernel_costs = kernel_costs_,
                                   .modelled_timeline = modelled_timeline_ ? &*modelled_timeline_ : nullptr,
                                   .board_memory = board_memory_};
    if (result_.validated) device_->guards().begin();
    context_.emplace(*device_, parameters_, timed_ranks(), timeline_, build(), *variant_, conditions);
    benchmark_ = is_on_card() ? execution_->make_on_card(*context_) : execution_->make(*context_);
  });
  require_same(ranks_, resolved());
  begin("inputs", "making the inputs");
  collective_step(ranks_, [&] {
    fail_in_step("generate");
    if (context_->computes()) benchmark_->generate();
  });
  begin("repetitions", "measuring");
  TimedRegions regions(timed_ranks(), options_.delay, clock_.get());
  if (options_.inner_samples) regions.keep_inner_samples();
  if (modelled_timeline_) regions.keep_timeline(*modelled_timeline_);
  if (options_.fault) regions.set_disturbance([this] { fail_in_step("timed"); });
  shared_clock_.compare();
  const HostCounters before = read_host_counters(host_files());
  repeat(regions);
  noise_ = between(before, read_host_counters(host_files()));
  shared_clock_.compare();
  begin("check", "checking the results");
  validate();
  begin("result", "collecting the results");
  collect(regions.samples());
  end_step();
  result_.duration_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  publish();
  return result_.exit_code;
}

void RankRun::begin(const std::string& step, const std::string& words) {
  end_step();
  result_.steps.push_back({.name = step});
  step_start_ = std::chrono::steady_clock::now();
  progress_.step(words);
}

void RankRun::end_step() {
  if (result_.steps.empty()) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - step_start_;
  result_.steps.back().seconds = elapsed.count();
}

device::Selection RankRun::selection() const {
  device::Selection selection = options_.selection;
  selection.bitstream = wanted_by(options_).bitstream;
  return selection;
}

void RankRun::open_device() {
  const int thread_cap = share_cores(ranks_);
  collective_step(ranks_, [&] {
    fail_in_step("device");
    const bool may_go_without =
        !asks_for_device(options_) && !std::ranges::all_of(setup_.executions, &ExecutionEntry::needs_device);
    const std::vector<device::FoundDevice> found =
        may_go_without ? device::find_devices(selection()) : device::require_devices(selection());
    if (found.empty()) {
      device_ = device::Device::none();
      result_.device = device_->info();
      return;
    }
    device::Share share;
    const device::FoundDevice chosen = choose_device(options_, ranks_, found, share);
    device_.emplace(chosen, share);
    result_.device = chosen.info;
    if (!chosen.info.interface_note.empty()) remarks_.push_back(chosen.info.interface_note);
  });
  if (device_->info().is_dry_run) {  // of all ranks, as they are asked for the same platform
    if (options_.fault && !is_failing_rank(*options_.fault)) {
      throw bad_use("--inject-fault shows nothing on a dry-run device, which computes nothing",
                    "choose another device");
    }
    result_.validated = false;
    remarks_.emplace_back("dry-run device: nothing was computed, and no result was checked");
  }
  // Defaults that depend on the cores have to be the same on all ranks.
  const auto own_cores = static_cast<std::int64_t>(device_->info().compute_units);
  fewest_cores_ =
      ranks_.all_reduce_min(thread_cap > 0 ? std::min<std::int64_t>(own_cores, thread_cap) : own_cores);
}

void RankRun::open_power() {
  if (ranks_.local_rank() != 0 || options_.power.source == "off") return;
  sampler_.emplace(power::open_sources(options_.power),
                   std::chrono::milliseconds(options_.power.interval_ms));
}

// Modelled times are of a system: they must not depend on where they are computed.
std::vector<TunedValues> RankRun::agreed_values() {
  const device::DeviceInfo& info = device_->info();
  std::vector<TunedValues> own;
  if (!options_.system && !options_.simulates && device_->exists() && !info.is_dry_run) {
    try {
      own = kept_values(setup_.spec,
                        {.processor = describe_host().cpu, .device = info.name, .driver = info.driver});
    } catch (const Error& error) {
      remarks_.push_back(fmt::format("kernels as kernel.toml has them: {}", error.what()));
    }
  }
  const std::string text = as_text(own);
  const std::vector<std::string> all = ranks_.all_gather_texts(text);
  if (std::ranges::count(all, text) == std::ssize(all)) return own;
  remarks_.emplace_back("kernels as kernel.toml has them: ranks have kept different values of them");
  return {};
}

void RankRun::choose_parameters() {
  const device::DeviceInfo& info = device_->info();
  replicas_ = device::replicas_of(info);
  const Wanted wanted = wanted_by(options_);
  bitstream_ = wanted.bitstream;
  DeviceFacts facts{.device_class = info.device_class, .cores = fewest_cores_, .replicas = replicas_};
  if (device_->exists()) {
    facts.most_work_items = info.max_work_group_size;
    facts.local_bytes = info.local_memory_bytes;
    facts.matrix_units = static_cast<std::int64_t>(info.matrix_units);
    facts.device = info.name;
  }
  facts.tuned = agreed_values();
  Resolved found = resolve(setup_.spec, facts, wanted);
  if (found.system) {
    remarks_.push_back(found.system->note());
    result_.system = found.system->system;
    result_.design = found.system->overrides.design;
    if (info.device_class == device::DeviceClass::kFpga) board_memory_ = found.system->overrides.memory;
  }
  result_.loaded = found.loaded.value_or(Design{});
  spec_ = std::move(found.spec);
  variant_ = &spec_.variant(found.variant);
  parameters_ = found.parameters;
  if (std::string note = tuned_note(facts.tuned, found.variant, parameters_, wanted.parameters);
      !note.empty())
    remarks_.push_back(std::move(note));
  choose_execution();
  note_library();
  check_data_type(parameters_, info);
  check_matrix_units(parameters_, info);
  if (found.system) {
    place_ = {.file = *options_.system,
              .device = found.system->device,
              .bitstream = found.system->bitstream,
              .devices = ranks_.size()};
  }
  // An emulated fabric has no time but that of a system.
  if (options_.simulates || (place_ && is_emulated())) simulate(*place_);
  kernel_source_ = spec_.folder / variant_->file;
  if (options_.kernel_file && bitstream_.empty()) kernel_source_ = *options_.kernel_file;
  result_.variant = found.variant;
  result_.optimized = options_.kernel_file.has_value();
}

std::string RankRun::memory_name() const {
  return memory_over(parameters_.has("transport") ? parameters_.text("transport") : "", options_.memory);
}

void RankRun::note_library() {
  if (!parameters_.has("transport")) return;
  const TransportSpec* const transport = find_transport(parameters_.text("transport"));
  if (transport == nullptr || transport->library.empty()) return;
  const std::string content =
      file_text(transport->library, "library of the transport " + transport->name, kCompileLibrary);
  result_.library = {transport->library.string(), content_digest(content)};
  remarks_.push_back(fmt::format("the transport {} is a library outside of the sources: '{}', digest {}",
                                 transport->name, result_.library->file, result_.library->digest));
}

bool RankRun::is_on_card() const { return variant_->is_dataflow() && !bitstream_.empty(); }

bool RankRun::is_emulated() const {
  return !is_on_card() &&
         variant_->is_emulated_over(parameters_.has("transport") ? parameters_.text("transport") : "");
}

void RankRun::simulate(const SystemPlace& place) {
  check_can_simulate(spec_, *variant_, options_.timing_only);
  check_devices(place.file, place.device, place.devices);
  const auto costs = std::make_shared<SystemCosts>(place);
  if (variant_->is_dataflow() && !costs->find("kernel_hz")) {
    constexpr double kUsualHz = 250e6;  // of engines of messages and the kernels beside them (Meyer 2024)
    costs->assume("kernel_hz", kUsualHz);
    remarks_.push_back(
        fmt::format("the system has no bitstream of this benchmark for the transport: kernels at {:g} MHz",
                    kUsualHz * 1e-6));
  }
  costs_ = costs;
  kernel_costs_ = command_costs(costs_, spec_, *variant_, parameters_, replicas_);
  if (!variant_->is_dataflow()) {
    device_->simulate(kernel_costs_, *clock_,
                      options_.timing_only ? device::Moving::kNothing : device::Moving::kData);
  }
  simulated_ranks_ = simulated_ranks(ranks_, *clock_);
  if (options_.timeline) modelled_timeline_.emplace(ranks_);
  remarks_.emplace_back("modelled times: starts, kernels, copies and messages as the system has them");
}

void RankRun::choose_execution() {
  const std::string transport = parameters_.has("transport") ? parameters_.text("transport") : "";
  execution_ = &choose(setup_.executions, variant_->name, transport);
  if (is_on_card() && !execution_->make_on_card) {
    throw bad_use(fmt::format("no host of {}'s dataflow kernels in a bitstream over {} is written",
                              spec_.benchmark, transport),
                  "leave out --bitstream, which runs them on emulated boards");
  }
  if (execution_->needs_device && !device_->exists()) device::require_devices(selection());
}

Asked RankRun::resolved() const {
  Asked asked{{"the variant", variant_->name}, {"the kernel's digest", result_.kernel.digest}};
  for (const auto& [name, value] : parameters_.all()) asked.emplace_back(name, to_text(value));
  if (result_.library) asked.emplace_back("the digest of the transport's library", result_.library->digest);
  return asked;
}

device::Program RankRun::build() {
  if (!bitstream_.empty()) {
    const std::string binary = device::bitstream_content(bitstream_);
    result_.kernel = {bitstream_.filename().string(), content_digest(binary), "bitstream"};
    device::Program loaded = device::load_bitstream(*device_, bitstream_, binary);
    const std::string advice = device_->info().is_of_xrt() ? device::scheduler_advice(binary) : std::string();
    if (!advice.empty()) remarks_.push_back(advice);
    return loaded;
  }
  if (variant_->is_dataflow()) {
    if (options_.kernel_file) {
      throw bad_use(fmt::format("--kernel-file with the variant {}, whose kernels are a part of the program",
                                variant_->name),
                    "change them and build the program again, or choose another --variant");
    }
    const std::string source = file_text(kernel_source_, "source of the kernels");
    result_.kernel = {kernel_source_.filename().string(), content_digest(source), "shipped"};
    return {};
  }
  check_language();
  device::Source one_replica =
      device::source_of(kernel_source_, spec_.folder.parent_path(), 1, folder_of_source(kernel_source_));
  one_replica.text.insert(0, language_prelude());
  one_replica.files.front().is_own = options_.kernel_file.has_value();
  if (options_.kernel_file) remarks_.push_back(note_on(one_replica.files));
  result_.kernel = {kernel_source_.filename().string(), content_digest(one_replica.text),
                    options_.kernel_file ? "file" : "shipped", std::move(one_replica.files)};
  if (!device_->exists()) return {};
  const device::BuiltProgram built = built_from(kernel_source_);
  if (options_.kernel_file) {
    check_signatures(built.program);
  } else {
    for (const device::EntryPoint& entry : built_entry_points(*variant_, parameters_, replicas_))
      device::check_declared(built.program, entry, result_.kernel.file);
  }
  if (options_.save_bitstream && ranks_.is_root()) {
    const std::string binary = built.program->binary();
    write_atomically(*options_.save_bitstream, binary);
    write_atomically(options_.save_bitstream->string() + ".toml",
                     sidecar_text(spec_, variant_->name, parameters_, binary));
  }
  return built.program;
}

std::filesystem::path RankRun::folder_of_source(const std::filesystem::path& file) const {
  return file == spec_.folder / variant_->file ? spec_.folder : file.parent_path();
}

device::BuiltProgram RankRun::built_from(const std::filesystem::path& file) const {
  const std::string source =
      device::expand_includes(file, spec_.folder.parent_path(),
                              replicas_in_source(*variant_, parameters_, replicas_), folder_of_source(file));
  device::Definitions definitions = build_definitions(spec_, parameters_, device_->info().device_class);
  if (is_sycl()) {
    definitions[device::kSyclOption] = "";
    if (variant_->style == "single-work-item") definitions["FM_SINGLE_TASK"] = "1";
  }
  return device::build_from_source(*device_, language_prelude() + source, file.filename().string(),
                                   definitions);
}

void RankRun::check_language() {
  if (!is_sycl()) return;
  if (!variant_->has_sycl) {
    throw bad_use(fmt::format("the variant {} of {} is no SYCL C++", variant_->name, spec_.benchmark),
                  "leave out --language, or choose another --variant");
  }
  if (device_->exists() && !device_->info().is_of_sycl()) {
    throw bad_use(fmt::format("--language sycl on {}, which is no device of SYCL", device_->info().platform),
                  "use `fabricmark run --runtime sycl` after `fabricmark runtimes install sycl`");
  }
  remarks_.emplace_back("kernels in SYCL C++, built by SYCL's compiler at run time");
}

std::string RankRun::language_prelude() const {
  if (!is_sycl()) return {};
  return device::expand_includes(spec_.folder.parent_path() / "common" / "sycl.hpp",
                                 spec_.folder.parent_path()) +
         "#line 1\n";
}

void RankRun::check_signatures(const device::Program& own) {
  const std::filesystem::path file = spec_.folder / variant_->file;
  const device::BuiltProgram shipped = built_from(file);
  for (const device::EntryPoint& entry : built_entry_points(*variant_, parameters_, replicas_)) {
    const std::vector<std::string> remarks =
        device::check_signature(own, shipped.program, entry.name, result_.kernel.file, file.string());
    remarks_.insert(remarks_.end(), remarks.begin(), remarks.end());
  }
}

void RankRun::repeat(TimedRegions& regions) {
  regions.set_watch([this](bool counts) {
    if (!sampler_ || repetition_ < 0) return;
    counts ? sampler_->resume() : sampler_->pause();
  });
  int counted = 0;
  std::chrono::steady_clock::time_point started;
  for (int repetition = -options_.warmup;; ++repetition) {
    if (repetition == 0) {
      started = std::chrono::steady_clock::now();
      if (sampler_) sampler_->start();
      regions.start_counting();
    }
    counted = std::max(repetition, 0);
    const bool is_enough =
        (repetition >= options_.repetitions &&
         (!options_.min_time_seconds || regions.total_seconds() >= *options_.min_time_seconds)) ||
        (repetition >= kFewestRepetitions && is_over(started));
    // The root decides for all.
    if (ranks_.all_reduce_max(ranks_.is_root() && is_enough ? 1 : 0) == 1) break;
    progress_.repetition(counted, options_.repetitions);
    one_repetition(regions, repetition);
  }
  if (sampler_) power_ = sampler_->stop();
  result_.repetitions = counted;
}

bool RankRun::is_over(std::chrono::steady_clock::time_point started) const {
  if (!options_.max_time_seconds) return false;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
  return elapsed.count() >= *options_.max_time_seconds;
}

// Only what the benchmark times counts as work: inputs and checks lie outside the timeline and the energy.
void RankRun::one_repetition(TimedRegions& regions, int repetition) {
  repetition_ = repetition;
  timeline_.start_repetition(repetition);
  fail_in_step("prepare");
  if (context_->computes()) benchmark_->prepare(repetition);
  const bool is_counted = repetition >= 0;
  if (timeline_.enabled()) timeline_.collect(false);
  if (sampler_ && is_counted) sampler_->resume();
  benchmark_->execute(regions);
  if (sampler_ && is_counted) sampler_->pause();
  if (timeline_.enabled()) timeline_.collect(is_counted);
  if (!is_counted || !result_.validated) return;
  if (injects_here() && options_.fault->repetition == repetition) benchmark_->inject(*options_.fault);
  keep_verdicts(benchmark_->validate_repetition(), repetition);
  check_guards(repetition);
  if (timeline_.enabled()) timeline_.collect(false);
}

bool RankRun::corrupts_results() const { return options_.fault && !is_failing_rank(*options_.fault); }

void RankRun::fail_in_step(const std::string& step) const {
  runtime::fail_in_step(options_.fault, step, ranks_.rank());
}

bool RankRun::injects_here() const {
  return corrupts_results() && (!options_.fault->rank || *options_.fault->rank == ranks_.rank());
}

void RankRun::keep_verdicts(std::vector<Verdict> found, int repetition) {
  for (Verdict& verdict : found) {
    verdict.repetition = repetition;
    keep_worst(verdicts_, {std::move(verdict), ranks_.rank()});
  }
}

void RankRun::check_guards(int repetition) {
  const device::Guards& guards = device_->guards();
  const std::size_t checked = guards.checked_bytes();
  const std::vector<device::BrokenGuard> broken = device_->guards().broken();
  if (checked == 0 && broken.empty()) return;
  Verdict verdict{.name = kGuardZones, .measure = "buffers that were written outside of"};
  verdict.error = static_cast<double>(broken.size());
  verdict.checked = checked;
  if (!broken.empty()) {
    const device::BrokenGuard& first = broken.front();
    verdict.worst = {first.place(), static_cast<double>(first.expected), static_cast<double>(first.found)};
  }
  keep_verdicts({std::move(verdict)}, repetition);
}

void RankRun::validate() {
  collective_step(ranks_, [&] {
    fail_in_step("validate");
    if (options_.fault && options_.fault->repetition.value_or(0) >= result_.repetitions) {
      throw bad_use(fmt::format("--inject-fault names repetition {} of {}", *options_.fault->repetition,
                                result_.repetitions),
                    "count repetitions from 0");
    }
    if (injects_here() && !options_.fault->repetition) benchmark_->inject(*options_.fault);
    if (!result_.validated) return;
    keep_verdicts(benchmark_->validate(), result_.repetitions - 1);
    check_guards(result_.repetitions - 1);
    device_->guards().end();
  });
  collect_verdicts();
}

}  // namespace fabricmark::runtime
