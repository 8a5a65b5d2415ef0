#include "benchmarks/host_transfer/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/error.hpp"
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
    std::size_t count = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), count);
    const bool is_power = std::has_single_bit(count) && word.front() != '0';  // 04 would be 4 again
    if (failure != std::errc{} || end != word.data() + word.size() || !is_power || count > kMost) {
      throw bad_use(fmt::format("buffers = '{}' has '{}'", parameters.text("buffers"), word),
                    "give powers of two up to 256, separated by commas");
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

std::vector<Case> make_cases(const runtime::Parameters& parameters, bool shares_host_memory) {
  const auto directions = choose(parameters, "directions", {"to_device", "from_device", "both"});
  const auto methods = choose(parameters, "methods", {"queued", "blocking", "migrate", "sub-buffer"});
  const auto memories = choose(parameters, "memories", {"pageable", "page-aligned", "pinned"});
  const std::vector<std::size_t> counts = buffer_counts(parameters);
  std::vector<Case> cases;
  const auto add = [&](const Case& one) {
    if (one.buffer_bytes() >= device::kPageBytes) cases.push_back(one);
  };
  for (std::size_t power = parameters.count("smallest"); power <= parameters.count("largest");
       power += parameters.count("step")) {
    const std::size_t bytes = std::size_t{1} << power;
    for (const std::string& direction : directions) {
      for (const std::string& method : methods) {
        if (method == "migrate" || method == "sub-buffer") {
          if (!shares_host_memory) add({direction, method, "page-aligned", bytes, 1});
          continue;
        }
        for (const std::string& memory : memories) {
          // The number of buffers is varied for one kind of memory; all combinations would take hours.
          const bool is_varied = method == "queued" && memory == "page-aligned";
          for (const std::size_t count : is_varied ? counts : std::vector<std::size_t>{1}) {
            add({direction, method, memory, bytes, count});
          }
        }
      }
    }
  }
  if (cases.empty()) {
    throw bad_use("no transfer is left to measure",
                  shares_host_memory
                      ? "allow larger transfers, or queued or blocking ones: this device shares "
                        "the host's memory, so that migrations move nothing"
                      : "allow larger transfers: a buffer holds at least a page of 4096 bytes");
  }
  return cases;
}

}  // namespace fabricmark::host_transfer
