#include "microbench/common/found.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace fabricmark::microbench {

void Found::add(const collectives::Comparison& one) {
  if (wrong == 0 && one.wrong > 0) {
    place = fmt::format("element {}", one.worst_index);
    expected = one.expected;
    actual = one.actual;
  }
  checked += one.checked;
  wrong += one.wrong;
}

Found gathered(runtime::Communicator& ranks, const Found& own) {
  const auto numbers = ranks.all_gather_numbers(
      {static_cast<double>(own.checked), static_cast<double>(own.wrong), own.expected, own.actual});
  const auto places = ranks.all_gather_texts(own.place);
  Found all;
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
    const auto& one = numbers[rank];
    if (one[1] > 0 && all.wrong == 0) {
      all.place = places[rank];
      all.expected = one[2];
      all.actual = one[3];
      all.rank = static_cast<int>(rank);
    }
    all.checked += static_cast<std::size_t>(one[0]);
    all.wrong += static_cast<std::size_t>(one[1]);
  }
  return all;
}

runtime::Result::RankVerdict element_verdict(std::string name) {
  return {.verdict = {.name = std::move(name), .measure = "wrong elements"}};
}

void add(runtime::Result::RankVerdict& verdict, const Found& found, const std::string& place) {
  runtime::Verdict& all = verdict.verdict;
  if (found.wrong > 0 && !all.worst) {
    all.worst = {place, found.expected, found.actual};
    verdict.rank = found.rank;
  }
  all.error += static_cast<double>(found.wrong);
  all.checked += found.checked;
}

}  // namespace fabricmark::microbench
