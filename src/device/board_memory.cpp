#include "device/board_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::device {

namespace {

constexpr double kMebibyte = 1048576;

/// In MiB: to five digits, or to whole ones.
std::string mebibytes(std::uint64_t bytes) {
  constexpr double kMany = 1e5;
  const double amount = static_cast<double>(bytes) / kMebibyte;
  return amount < kMany ? fmt::format("{:.5g}", amount) : fmt::format("{:.0f}", amount);
}

std::string name_of(BoardMemory::Kind kind) {
  constexpr std::array kNames{"the memory", "DDR memory", "HBM", "the host's memory"};
  return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace

const std::map<std::string, BoardMemory::Kind>& memory_kinds() {
  static const std::map<std::string, BoardMemory::Kind> kinds{
      {"ddr", BoardMemory::Kind::kDdr}, {"hbm", BoardMemory::Kind::kHbm}, {"host", BoardMemory::Kind::kHost}};
  return kinds;
}

const std::map<std::string, BoardMemory::Choice>& memory_choices() {
  static const std::map<std::string, BoardMemory::Choice> choices{
      {"interleaved", BoardMemory::Choice::kInterleaved},
      {"kernel", BoardMemory::Choice::kKernel},
      {"host", BoardMemory::Choice::kHost}};
  return choices;
}

BankUse::BankUse(const BoardMemory& memory)
    : memory_(memory),
      used_(memory.kind == BoardMemory::Kind::kHost ? 0 : static_cast<std::size_t>(memory.banks)) {}

void BankUse::add(int bank, std::uint64_t bytes) {
  if (used_.empty()) return;
  (bank < 0 ? anywhere_ : used_[static_cast<std::size_t>(memory_.within(bank))]) += bytes;
}

int BankUse::emptiest() const {
  if (used_.empty()) return -1;
  return static_cast<int>(std::ranges::min_element(used_) - used_.begin());
}

void BankUse::require_room() const {
  if (used_.empty() || memory_.bank_bytes == 0) return;
  const auto full =
      std::ranges::find_if(used_, [&](std::uint64_t used) { return used > memory_.bank_bytes; });
  if (full != used_.end()) {
    throw bad_use(fmt::format("{} MiB are to lie in bank {} of {}, which holds {} MiB", mebibytes(*full),
                              full - used_.begin(), name_of(memory_.kind), mebibytes(memory_.bank_bytes)),
                  "choose a smaller size, or spread it over more banks or replications");
  }
  const std::uint64_t all = std::accumulate(used_.begin(), used_.end(), anywhere_);
  const std::uint64_t room = memory_.bank_bytes * used_.size();
  if (all <= room) return;
  throw bad_use(fmt::format("{} MiB are to lie in the {} banks of {}, which hold {} MiB", mebibytes(all),
                            used_.size(), name_of(memory_.kind), mebibytes(room)),
                "choose a smaller size");
}

void BankUse::take(int bank, std::uint64_t bytes) {
  BankUse with = *this;
  with.add(bank, bytes);
  with.require_room();
  *this = std::move(with);
}

std::string BankUse::note() const {
  if (used_.empty()) return {};
  const auto fullest = std::ranges::max_element(used_);
  const std::string of =
      memory_.bank_bytes > 0 ? fmt::format(" of {}", mebibytes(memory_.bank_bytes)) : std::string();
  const std::string rest =
      anywhere_ > 0 ? fmt::format("; {} MiB where the runtime chooses", mebibytes(anywhere_)) : "";
  const auto in_use = std::ranges::count_if(used_, [](std::uint64_t bytes) { return bytes > 0; });
  return fmt::format("{}: {} of {} banks chosen, most in bank {}: {}{} MiB{}", name_of(memory_.kind), in_use,
                     used_.size(), fullest - used_.begin(), mebibytes(*fullest), of, rest);
}

}  // namespace fabricmark::device
