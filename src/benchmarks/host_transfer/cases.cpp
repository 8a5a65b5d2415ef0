#include "benchmarks/host_transfer/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "base/number_from.hpp"
#include "device/memory.hpp"

namespace fabricmark::host_transfer {

namespace {

/// The words of a list parameter; each once, because a case that is there twice would be counted twice.
std::vector<std::string> words(const runtime::Parameters& parameters, const std::string& parameter) {
  const std::string& list = parameters.text(parameter);
  std::vector<std::string> found;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    const std::string word = list.substr(start, end - start);
    if (std::ranges::find(found, word) != found.end()) {
      throw bad_use(fmt::format("{} = '{}' has '{}' twice", parameter, list, word), "give each word once");
    }
    found.push_back(word);
    start = end + 1;
  }
  return found;
}

/// The same where each word must be among `known`.
std::vector<std::string> choose(const runtime::Parameters& parameters, const std::string& parameter,
                                const std::vector<std::string>& known) {
  std::vector<std::string> chosen = words(parameters, parameter);
  for (const std::string& word : chosen) {
    if (std::ranges::find(known, word) == known.end()) {
      throw bad_use(
          fmt::format("{} = '{}' has the unknown word '{}'", parameter, parameters.text(parameter), word),
          fmt::format("use {}, separated by commas", fmt::join(known, ", ")));
    }
  }
  return chosen;
}

std::vector<std::size_t> buffer_counts(const runtime::Parameters& parameters) {
  constexpr std::size_t kMost = 256;
  std::vector<std::size_t> counts;
  for (const std::string& word : words(parameters, "buffers")) {
    const std::size_t count = number_from<std::size_t>(word).value_or(0);
    const bool is_power = std::has_single_bit(count) && word.front() != '0';  // 04 would be 4 again
    if (!is_power || count > kMost) {
      throw bad_use(fmt::format("buffers = '{}' has '{}'", parameters.text("buffers"), word),
                    "give powers of two up to 256, separated by commas");
    }
    counts.push_back(count);
  }
  return counts;
}

/// What the lists of the parameters name.
struct Chosen {
  std::vector<std::string> directions;
  std::vector<std::string> methods;
  std::vector<std::string> memories;
  std::vector<std::size_t> counts;  // of buffers
};

/// The ways of one method to move the bytes of `one`: kinds of memory and numbers of buffers. The latter is
/// varied for queued and migrated page-aligned memory alone; all combinations would take hours.
void add_ways(Case one, const Chosen& chosen, std::vector<Case>& cases) {
  const auto add = [&](std::size_t buffers) {
    one.buffers = buffers;
    if (one.buffer_bytes() >= (buffers > 1 ? device::kPageBytes : 1)) cases.push_back(one);
  };
  const bool is_queued = one.method == "queued";
  const bool has_several_queues = one.queues() > 1 || !one.is_ordered();
  for (const std::string& memory : chosen.memories) {
    one.memory = memory;
    const bool is_aligned = memory == "page-aligned";
    if ((has_several_queues || one.is_part()) && !is_aligned) continue;
    if (one.is_in_place() && memory == "pinned") continue;
    if (has_several_queues) {
      const std::size_t most = std::ranges::max(chosen.counts);
      if (most >= std::max<std::size_t>(one.queues(), 2)) add(most);
    } else if (is_aligned && (is_queued || one.method == "migrate")) {
      for (const std::size_t count : chosen.counts) add(count);
    } else {
      add(1);
    }
  }
}

}  // namespace

std::vector<Case> make_cases(const runtime::Parameters& parameters, bool shares_host_memory) {
  const std::vector<std::string> methods{"queued",   "2-queues", "4-queues", "out-of-order",
                                         "blocking", "map",      "migrate",  "sub-buffer"};
  const Chosen chosen{
      .directions = choose(parameters, "directions", {"to_device", "from_device", "both"}),
      .methods = choose(parameters, "methods", methods),
      .memories = choose(parameters, "memories", {"pageable", "page-aligned", "pinned"}),
      .counts = buffer_counts(parameters),
  };
  std::vector<Case> cases;
  for (std::size_t power = parameters.count("smallest"); power <= parameters.count("largest");
       power += parameters.count("step")) {
    for (const std::string& direction : chosen.directions) {
      for (const std::string& method : chosen.methods) {
        const Case one{
            .direction = direction, .method = method, .memory = {}, .bytes = std::size_t{1} << power};
        if (!one.is_in_place() || !shares_host_memory) add_ways(one, chosen, cases);
      }
    }
  }
  if (cases.empty()) {
    throw bad_use(
        "no transfer is left to measure",
        shares_host_memory
            ? "allow larger transfers, more kinds of memory, or copies: this device shares the host's "
              "memory, so that maps and migrations move nothing"
            : "allow larger transfers, or more kinds of memory and numbers of buffers");
  }
  return cases;
}

std::vector<std::size_t> sizes_of(const std::vector<Case>& cases) {
  std::vector<std::size_t> sizes;
  for (const Case& one : cases) {
    if (std::ranges::find(sizes, one.bytes) == sizes.end()) sizes.push_back(one.bytes);
  }
  return sizes;
}

}  // namespace fabricmark::host_transfer
