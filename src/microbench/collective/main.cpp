// Collective operations and messages, in modelled time or by the wall clock, with every element checked.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "microbench/collective/report.hpp"
#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/options.hpp"
#include "microbench/common/program.hpp"
#include "network/protocol.hpp"
#include "runtime/agreement.hpp"
#include "runtime/system_file.hpp"

namespace {

using fabricmark::microbench::Act;
using fabricmark::microbench::Medium;
using fabricmark::microbench::Options;
using fabricmark::microbench::Row;
using fabricmark::runtime::Communicator;

constexpr const char* kName = "collective";
constexpr const char* kSummary =
    "collective operations and messages: modelled over an emulated fabric or direct links, measured over "
    "this machine's transports";

/// Why a transport does not do an operation; empty where it does.
std::string skipped(const Options& options) {
  if (options.medium != Medium::kEngine) return {};
  using fabricmark::network::Protocol;
  if (options.act != Act::kPut || fabricmark::network::protocol_of(options.transport) == Protocol::kRdma)
    return {};
  return fmt::format("skipped: put over {}: only RDMA writes memory of another rank\n", options.transport);
}

/// Refuses what would fill this machine's memory.
void check_memory(const Options& options) {
  if (options.act != Act::kCollective) return;
  double bytes = 0;
  const auto largest = static_cast<double>(options.largest);
  for (int rank = 0; rank < options.ranks; ++rank) {
    using namespace fabricmark::collectives;
    bytes += static_cast<double>(own_count(options.operation, rank, options.root, options.ranks, 1) +
                                 result_count(options.operation, rank, options.root, options.ranks, 1)) *
             largest;
  }
  const auto available = static_cast<double>(fabricmark::available_memory_bytes());
  if (2 * bytes <= available) return;
  throw fabricmark::bad_use(fmt::format("{} of {} B on {} ranks needs {:.1f} GB for operands alone",
                                        options.name, options.largest, options.ranks, bytes * 1e-9),
                            "choose smaller --sizes or fewer --ranks");
}

/// The options of as many ranks as a launcher has started, where the command line does not say how many.
Options of_all(const Communicator& ranks, const Options& options, const std::vector<std::string>& command) {
  if (options.has_ranks || ranks.size() == options.ranks) return options;
  std::vector<std::string> words(command.begin() + 1, command.end());
  words.insert(words.end(), {"--ranks", std::to_string(ranks.size())});
  return std::get<Options>(fabricmark::microbench::parse_options(words));
}

int run(Communicator& ranks, const Options& options, const std::vector<std::string>& command) {
  if (ranks.size() != options.ranks) {  // started by a launcher
    throw fabricmark::bad_use(
        fmt::format("{} processes were started for {} ranks", ranks.size(), options.ranks),
        fmt::format("give --ranks {}", ranks.size()));
  }
  const std::string started = fabricmark::time_now();
  const auto begin = std::chrono::steady_clock::now();
  fabricmark::runtime::collective_step(ranks, [&] {
    check_memory(options);
    if (options.system.empty()) return;
    fabricmark::runtime::check_devices_with(options.system, options.transport, ranks.size());
  });
  const auto measurer = make_measurer(ranks, options);
  std::vector<Row> rows;
  const bool has_sizes =
      options.act != Act::kCollective || options.operation != fabricmark::collectives::Operation::kBarrier;
  if (!has_sizes) rows.push_back(measurer->measure(0));
  for (std::size_t bytes = options.smallest; has_sizes && bytes <= options.largest; bytes *= 2) {
    rows.push_back(measurer->measure(bytes));
  }
  auto result = result_of(ranks, options, rows, *measurer);
  result.command = command;
  result.started = started;
  result.duration_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fabricmark::runtime::collective_step(ranks, [&] {
    if (ranks.is_root()) publish(options, rows, result);
  });
  return result.exit_code;
}

/// Whether a run works on a device. Throws Error (bad use).
bool plan(const std::vector<std::string>& command) {
  const auto parsed = fabricmark::microbench::parse_options({command.begin() + 1, command.end()});
  const auto* const options = std::get_if<Options>(&parsed);
  return options != nullptr && takes_device(*options);
}

}  // namespace

int main(int argc, char** argv) {
  fabricmark::occupy_closed_streams();
  std::vector<std::string> command(argv, argv + argc);
  command.at(0) = std::filesystem::path(command[0]).filename().string();
  if (command.size() == 3 && command[1] == "--describe") {
    using fabricmark::microbench::option_texts;
    return fabricmark::microbench::describe(command[0], command[2], {{kName, kSummary}}, Options().ranks,
                                            option_texts());
  }
  if (fabricmark::microbench::take_plan(command)) {
    return fabricmark::microbench::answer_plan([&] { return plan(command); });
  }
  const auto parse = [&] {
    auto parsed = fabricmark::microbench::parse_options({command.begin() + 1, command.end()});
    const auto* const options = std::get_if<Options>(&parsed);
    std::string text = options == nullptr ? "" : skipped(*options);
    if (!text.empty()) parsed = std::move(text);
    return parsed;
  };
  return fabricmark::microbench::run_command<Options>(
      argc, argv, parse, [&](Communicator& ranks, const Options& options) {
        return run(ranks, of_all(ranks, options, command), command);
      });
}
