#include "benchmarks/hpl/row_parts.hpp"

#include <algorithm>

namespace fabricmark::hpl {

namespace {

bool fits(const BankNeeds& needs, std::size_t parts, std::size_t banks, std::uint64_t bank_bytes) {
  std::vector<std::uint64_t> used(banks);
  const RowParts rows(parts);
  for (std::size_t part = 0; part < parts; ++part)
    used[part] = rows.within({0, needs.rows}, part).count() * needs.row_bytes;
  for (const std::uint64_t bytes : needs.others) *std::ranges::min_element(used) += bytes;
  return *std::ranges::max_element(used) <= bank_bytes;
}

}  // namespace

std::size_t most_parts(const BankNeeds& needs, std::size_t banks, std::size_t all_banks,
                       std::uint64_t bank_bytes) {
  const std::size_t most = std::max<std::size_t>(std::min(banks, needs.rows), 1);
  if (bank_bytes == 0 || all_banks < most) return most;
  for (std::size_t parts = most; parts > 0; --parts) {
    if (fits(needs, parts, all_banks, bank_bytes)) return parts;
  }
  return most;
}

}  // namespace fabricmark::hpl
