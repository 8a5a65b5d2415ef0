#include "benchmarks/common/halo_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace fabricmark::common {

runtime::Verdict halo_verdict(runtime::Communicator& ranks, const HaloSums& own) {
  std::vector<std::vector<unsigned long long>> sent;
  for (const std::vector<std::byte>& bytes : ranks.all_gather(std::as_bytes(std::span(own.sent)))) {
    std::vector<unsigned long long>& sums = sent.emplace_back(bytes.size() / sizeof(unsigned long long));
    if (!bytes.empty()) std::memcpy(sums.data(), bytes.data(), bytes.size());
  }
  const std::vector<std::vector<double>> all =
      ranks.all_gather_numbers({own.neighbours.begin(), own.neighbours.end()});
  runtime::Verdict verdict{.name = "halos", .measure = "ways with wrong words", .checked = own.words};
  for (std::size_t n = 0; n < own.neighbours.size(); ++n) {
    const auto other = static_cast<std::size_t>(own.neighbours[n]);
    const auto place = std::ranges::find(all[other], static_cast<double>(ranks.rank())) - all[other].begin();
    if (sent[other][static_cast<std::size_t>(place)] == own.received[n]) continue;
    if (verdict.error == 0) {
      verdict.worst = {fmt::format("from device {} to device {}", other, ranks.rank()), 0, 1};
    }
    ++verdict.error;
  }
  if (own.unchanged > 0) {
    verdict.error += static_cast<double>(own.unchanged);
    verdict.worst = {fmt::format("sums of device {} that its kernels do not keep", ranks.rank()), 0,
                     static_cast<double>(own.unchanged)};
  }
  return verdict;
}

}  // namespace fabricmark::common
