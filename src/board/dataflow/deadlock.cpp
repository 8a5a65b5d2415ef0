#include "board/dataflow/deadlock.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>

namespace fabricmark::dataflow {

namespace {

constexpr std::size_t kMostStreams = 24;  // that one line shows
constexpr std::size_t kMostKernels = 8;
constexpr double kMicrosecondsPerSecond = 1e6;

/// Who waits for whom.
class Graph {
 public:
  explicit Graph(const StuckState& state) {
    for (const StreamState& stream : state.streams) {
      StreamState& known = streams_[stream.name];  // of a link each process tells its own end
      if (known.name.empty()) known = stream;
      if (known.writer.empty()) known.writer = stream.writer;
      if (known.reader.empty()) known.reader = stream.reader;
      known.fill = std::max(known.fill, stream.fill);
    }
    for (const StuckKernel& kernel : state.kernels) kernels_[kernel.name] = &kernel;
  }

  /// The kernel that would end the wait; empty where there is none.
  [[nodiscard]] std::string awaited(const StuckKernel& kernel) const {
    const auto found = streams_.find(kernel.stream);
    if (found == streams_.end()) return "";
    return kernel.waits == Kernel::Waits::kForWord ? found->second.writer : found->second.reader;
  }

  /// From the kernel on until one comes again, or nobody is waited for.
  [[nodiscard]] std::vector<const StuckKernel*> chain(const StuckKernel& first) const {
    std::vector<const StuckKernel*> path;
    const StuckKernel* next = &first;
    for (;;) {
      const auto again = std::ranges::find(path, next);
      if (again != path.end()) return {again, path.end()};  // the cycle alone
      path.push_back(next);
      const auto found = kernels_.find(awaited(*next));
      if (found == kernels_.end()) return path;
      next = found->second;
    }
  }

  [[nodiscard]] bool is_cycle(const std::vector<const StuckKernel*>& path) const {
    return awaited(*path.back()) == path.front()->name;
  }

  [[nodiscard]] std::string words(const StuckKernel& kernel) const {
    if (kernel.waits == Kernel::Waits::kForRanks) return kernel.name + " waits for another rank";
    if (kernel.waits == Kernel::Waits::kForMessage) return kernel.name + " waits for a message";
    const auto found = streams_.find(kernel.stream);
    if (found == streams_.end()) return kernel.name + " waits";
    const StreamState& stream = found->second;
    const bool for_word = kernel.waits == Kernel::Waits::kForWord;
    const std::string& other = for_word ? stream.writer : stream.reader;
    const char* const nobody = for_word ? ", which nobody writes" : ", which nobody reads";
    return fmt::format("{} waits for a {} {} ({} of {} words{})", kernel.name,
                       for_word ? "word of" : "place in", stream.name, stream.fill, stream.depth,
                       kernels_.contains(other) ? "" : nobody);
  }

  [[nodiscard]] std::string fills() const {
    std::vector<std::string> found;
    for (const auto& [name, stream] : streams_) {
      found.push_back(fmt::format("{} {} of {}", name, stream.fill, stream.depth));
    }
    const std::size_t left_out = found.size() > kMostStreams ? found.size() - kMostStreams : 0;
    found.resize(found.size() - left_out);
    std::string text = fmt::format("{}", fmt::join(found, ", "));
    if (left_out > 0) text += fmt::format(" and {} more", left_out);
    return text;
  }

 private:
  std::map<std::string, StreamState> streams_;
  std::map<std::string, const StuckKernel*> kernels_;
};

Time latest_clock(const StuckState& state) {
  Time latest = 0;
  for (const StuckKernel& kernel : state.kernels) latest = std::max(latest, kernel.clock);
  return latest;
}

}  // namespace

std::string kernel_name(const Kernel& kernel) {
  return fmt::format("{} (device {})", kernel.name(), kernel.device());
}

std::string StuckState::text() const {
  nlohmann::json document = {{"kernels", nlohmann::json::array()}, {"streams", nlohmann::json::array()}};
  for (const StuckKernel& kernel : kernels) {
    document["kernels"].push_back({kernel.name, static_cast<int>(kernel.waits), kernel.stream, kernel.clock});
  }
  for (const StreamState& stream : streams) {
    document["streams"].push_back({stream.name, stream.fill, stream.depth, stream.writer, stream.reader});
  }
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

StuckState StuckState::from_texts(const std::vector<std::string>& texts) {
  StuckState all;
  for (const std::string& text : texts) {
    const auto document = nlohmann::json::parse(text);
    for (const auto& one : document.at("kernels")) {
      all.kernels.push_back(
          {one.at(0), static_cast<Kernel::Waits>(one.at(1).get<int>()), one.at(2), one.at(3).get<Time>()});
    }
    for (const auto& one : document.at("streams")) {
      all.streams.push_back({one.at(0), one.at(1), one.at(2), one.at(3), one.at(4)});
    }
  }
  // As in one process: hosts first.
  std::ranges::stable_partition(
      all.kernels, [](const StuckKernel& kernel) { return kernel.waits == Kernel::Waits::kForRanks; });
  return all;
}

Error deadlock(const StuckState& state, const std::string& note) {
  const Graph graph(state);
  if (state.kernels.empty()) {
    return {ExitCode::kInvalidResult, "deadlock: a host waits for a kernel that nobody has started",
            "start it before"};
  }
  auto path = graph.chain(state.kernels.front());
  for (const StuckKernel& kernel : state.kernels) {  // the shortest cycle says most
    const auto other = graph.chain(kernel);
    const bool is_better = graph.is_cycle(other) && (!graph.is_cycle(path) || other.size() < path.size());
    if (is_better) path = other;
  }
  const bool is_cycle = graph.is_cycle(path);
  std::vector<std::string> steps;
  if (is_cycle) {
    for (const StuckKernel* const kernel : path) steps.push_back(graph.words(*kernel));
    steps.push_back(path.front()->name);
  } else {
    for (const StuckKernel& kernel : state.kernels) steps.push_back(graph.words(kernel));
    if (steps.size() > kMostKernels) {
      steps[kMostKernels] = fmt::format("{} more kernels wait", steps.size() - kMostKernels);
      steps.resize(kMostKernels + 1);
    }
  }
  return {ExitCode::kInvalidResult,
          fmt::format("deadlock at {:.6g} us: {}; all streams: {}{}",
                      network::seconds(latest_clock(state)) * kMicrosecondsPerSecond,
                      fmt::join(steps, is_cycle ? " -> " : ", "), graph.fills(), note),
          is_cycle ? "make a stream of the cycle deeper, or write and read in the same order at both ends"
                   : "start the kernel at the other end, or let both move as many words"};
}

Time end_of_waits(const StuckState& state) {
  constexpr int kShare = 20;
  const Time latest = latest_clock(state);
  return network::later(latest, latest / kShare);
}

std::string write_deadlock(const std::filesystem::path& path, const runtime::ActivityLog& log) {
  try {
    runtime::write_timeline(path, log, program_invocation_short_name, "ends in a deadlock");
  } catch (const Error& error) {
    return "; no timeline, as " + error.cause();
  }
  return fmt::format("; timeline in {}", path.string());
}

}  // namespace fabricmark::dataflow
