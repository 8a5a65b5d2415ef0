#include "microbench/common/calls/options_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "collectives/elements.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::microbench {

namespace {

/// An option that not all ways take.
struct Taken {
  std::string_view option;
  bool by_engine = false;
  bool by_links = false;
  bool by_transports = false;

  [[nodiscard]] bool is_by(Medium medium) const {
    if (medium == Medium::kEngine) return by_engine;
    return medium == Medium::kLinks ? by_links : by_transports;
  }
};
constexpr std::array kTaken{Taken{"--system", true, true},
                            Taken{"--topology", true, true},
                            Taken{"--workers", true, true},
                            Taken{"--schedule-seed", true, true},
                            Taken{"--mtu", true},
                            Taken{"--window", true},
                            Taken{"--rx-buffers", true},
                            Taken{"--rx-bytes", true},
                            Taken{"--eager-limit", true},
                            Taken{"--drop", true},
                            Taken{"--codec", true},
                            Taken{"--timeout", true, false, true},
                            Taken{"--repetitions", false, false, true},
                            Taken{"--platform", false, false, true},
                            Taken{"--device", false, false, true}};

/// What is the engine's alone.
void check_without_engine(const Options& options) {
  const auto refuse = [&](bool is_asked, std::string_view what) {
    if (!is_asked) return;
    throw bad_use(
        fmt::format("{} over {}: {}", options.name, options.transport, what),
        fmt::format("use {}", fmt::join(runtime::transports_between({runtime::Between::kEngines}), ", ")));
  };
  refuse(options.act == Act::kPut || options.act == Act::kStreamPut,
         "it has no engine that writes memory or streams of another rank");
  refuse(options.is_from_logic, "it has no engine that kernels call");
  refuse(options.uses_streams, "operands lie in memory, and nothing takes them from streams of kernels");
}

void check_messages(const Options& options) {
  if (options.window == 1) return;
  if (options.act != Act::kOneWay && options.act != Act::kBothWays) {
    throw bad_use(fmt::format("{} has no --messages", options.name), "use one_way or both_ways");
  }
  if (options.uses_streams) {
    throw bad_use("several messages from streams of kernels, which hold one", "use --mode buffered");
  }
}

void check_system(const Options& options) {
  if (options.medium == Medium::kTransport || !options.system.empty()) return;
  const char* const file = options.medium == Medium::kLinks ? "noctua1" : "noctua2";
  throw bad_use("no --system, which says what calls, copies and packets take",
                fmt::format("write one with `fabricmark systems export {0} --output {0}.json`, and give "
                            "--system {0}.json",
                            file));
}

void check_ranks(const Options& options) {
  if (options.act != Act::kCollective && options.ranks < 2) {
    throw bad_use(fmt::format("{} is between ranks 0 and 1", options.name), "use --ranks 2 or more");
  }
  if (options.root >= options.ranks) {
    throw bad_use(fmt::format("root {} is not one of ranks 0 to {}", options.root, options.ranks - 1),
                  "choose another --root");
  }
}

}  // namespace

Medium medium_of(const std::string& transport) {
  switch (runtime::transport_spec(transport).between) {
    case runtime::Between::kEngines:
      return Medium::kEngine;
    case runtime::Between::kStreams:
      return Medium::kLinks;
    case runtime::Between::kDevices:
    case runtime::Between::kHosts:
      break;
  }
  return Medium::kTransport;
}

void check(const Options& options, const std::vector<std::string>& given) {
  for (const Taken& taken : kTaken) {
    if (taken.is_by(options.medium) || std::ranges::find(given, taken.option) == given.end()) continue;
    throw bad_use(fmt::format("--transport {} takes no {}", options.transport, taken.option),
                  "leave it out, or choose another --transport");
  }
  if (options.medium != Medium::kEngine) check_without_engine(options);
  check_messages(options);
  check_system(options);
  check_ranks(options);
  if (!options.algorithm.empty() && options.act != Act::kCollective) {
    throw bad_use(fmt::format("{} has no algorithm", options.name), "leave --algorithm out");
  }
  if (options.is_compressed && options.type != collectives::Type::kFloat32) {
    throw bad_use(fmt::format("{} does not travel as float16", name_of(options.type)),
                  "use --codec none or --type float32");
  }
  if (options.smallest < collectives::bytes_of(options.type)) {
    throw bad_use(fmt::format("{} B hold no {}", options.smallest, name_of(options.type)),
                  "choose larger --sizes");
  }
  if (options.has_fault && options.operation == collectives::Operation::kBarrier &&
      options.act == Act::kCollective) {
    throw bad_use("a barrier has no result to make wrong", "choose another operation");
  }
}

}  // namespace fabricmark::microbench
