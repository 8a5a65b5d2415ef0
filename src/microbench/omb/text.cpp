// The text of OMB 7.4, column by column: sizes in 10 columns, numbers in 18 with two decimals.
#include "microbench/omb/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/version.hpp"

namespace fabricmark::microbench::omb {

namespace {

constexpr const char* kFormatOf = "7.4";

std::string column(std::string_view text) { return fmt::format("{:>18}", text); }
std::string column(double number) { return fmt::format("{:18.2f}", number); }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string_view side_words(Placement place) {
  switch (place) {
    case Placement::kHost:
      return "HOST (H)";
    case Placement::kDevice:
      return "DEVICE (D)";
    case Placement::kHighBandwidth:
      return "HBM (B)";
    case Placement::kOnChip:
      break;
  }
  return "PLRAM (P)";
}

bool is_bandwidth(const Program& program) {
  return program.family == Family::kBandwidth || program.family == Family::kRate;
}

/// The headings of the values of the family, of which the first one begins the line where there is no size.
std::vector<std::string_view> value_headings(const Options& options) {
  switch (options.program->family) {
    case Family::kBandwidth:
      return {"Bandwidth (MB/s)"};
    case Family::kRate:
      return {"MB/s", "Messages/s"};
    case Family::kOverlap:
      if (!options.is_full) return {"Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)"};
      return {"Overall(us)",    "Compute(us)",   "Coll. Init(us)", "MPI_Test(us)", "MPI_Wait(us)",
              "Pure Comm.(us)", "Min Comm.(us)", "Max Comm.(us)",  "Overlap(%)"};
    case Family::kLatency:
    case Family::kCollective:
      break;
  }
  return {"Avg Latency(us)"};
}

std::vector<double> values(const Options& options, const Row& row) {
  const double us = 1e6;
  switch (options.program->family) {
    case Family::kBandwidth:
      return {megabytes_per_second(row, row.mean())};
    case Family::kRate: {
      const double rate = megabytes_per_second(row, row.together());
      return {rate, rate * 1e6 / static_cast<double>(row.bytes)};
    }
    case Family::kOverlap: {
      const Overlap& one = row.overlap.value_or(Overlap{});
      const double share = one.share(row.mean());
      if (!options.is_full) return {one.overall * us, one.compute * us, row.mean() * us, share};
      return {one.overall * us, one.compute * us, one.init * us,       one.test * us, one.wait * us,
              row.mean() * us,  row.least() * us, row.greatest() * us, share};
    }
    case Family::kLatency:
    case Family::kCollective:
      break;
  }
  return {row.mean() * us};
}

/// Whether -f adds columns behind the value.
bool has_extremes(const Options& options) {
  return options.is_full &&
         (options.program->family == Family::kLatency || options.program->family == Family::kCollective);
}

}  // namespace

double megabytes_per_second(const Row& row, double seconds) {
  const auto bytes = static_cast<double>(row.bytes * row.window * row.measuring());
  return bytes / seconds * 1e-6;
}

std::string title(const Options& options, int ranks, const std::string& kind) {
  const Program& program = *options.program;
  const std::string space = options.api == "none" ? "" : "-" + upper(options.api);
  std::string text = fmt::format("\n# OSU MPI{} {} v{}\n", space, program.title, kFormatOf);
  text += fmt::format("# by {} {} of Fabricmark, in the format of the OSU Micro-Benchmarks\n",
                      options.program_name, version());
  if (!kind.empty()) text += fmt::format("# {}\n", kind);
  if (program.family == Family::kOverlap)
    text += "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n";
  if (!options.is_on_hosts() && !program.is_collective()) {
    text += fmt::format("# Send Buffer on {} and Receive Buffer on {}\n", side_words(options.places[0]),
                        side_words(options.places[1]));
  }
  if (program.family == Family::kRate) {
    text += fmt::format("# [ pairs: {} ] [ window size: {} ]\n", ranks / 2, options.window);
  }
  return text;
}

std::string headings(const Options& options, collectives::Type type, bool is_modelled) {
  const Program& program = *options.program;
  std::string text;
  if (program.has_sizes()) text = fmt::format("# Datatype: {}.\n", upper(std::string(mpi_name(type))));
  bool begins = !program.has_sizes();
  text += begins ? "# " : fmt::format("{:<10}", "# Size");
  for (const std::string_view heading : value_headings(options)) {
    text += begins ? std::string(heading) : column(heading);
    begins = false;
  }
  if (has_extremes(options)) text += column("Min Latency(us)") + column("Max Latency(us)") + "  Iterations";
  if (options.checks_all) text += column("Validation");
  for (const int percent : options.percentiles) {
    text += column(fmt::format("P{} Tail {}", percent, is_bandwidth(program) ? "BW(MB/s)" : "Lat(us)"));
  }
  if (is_modelled) text += column("Emulation(us)");
  return text + "\n";
}

std::string row_text(const Options& options, const Row& row) {
  const Program& program = *options.program;
  std::string text = program.has_sizes() ? fmt::format("{:<10}", row.bytes) : "";
  bool begins = !program.has_sizes();
  for (const double value : values(options, row)) {
    // Without a size numbers end where their heading does.
    const int width = program.family == Family::kOverlap ? 13 : 17;
    text += begins ? fmt::format("{:{}.2f}", value, width) : column(value);
    begins = false;
  }
  if (has_extremes(options)) {
    text += column(row.least() * 1e6) + column(row.greatest() * 1e6);
    text += fmt::format("{:12}", row.seconds.empty() ? 0 : row.seconds[0].size());
  }
  if (options.checks_all) text += column(row.found.wrong == 0 ? "Pass" : "Fail");
  for (const int percent : options.percentiles) {
    const bool is_rate = is_bandwidth(program);
    // A slow iteration has a low bandwidth: that of so many percent is reached by all but these.
    const double seconds = row.percentile(is_rate ? 100 - percent : percent);
    text += column(is_rate ? megabytes_per_second(row, seconds) : seconds * 1e6);
  }
  if (row.is_modelled()) text += column(std::ranges::max(row.emulation_seconds) * 1e6);
  return text + "\n";
}

}  // namespace fabricmark::microbench::omb
