#include "board/accl/exchange_memory.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace fabricmark::accl {

namespace {

using collectives::Type;

constexpr std::size_t kBytesOfDatapath = std::size_t{4} * (7 + 2);
constexpr std::array kDatapaths{
    ExchangeMemory::Datapath{Type::kFloat16, false}, ExchangeMemory::Datapath{Type::kFloat32, true},
    ExchangeMemory::Datapath{Type::kFloat32, false}, ExchangeMemory::Datapath{Type::kFloat64, false},
    ExchangeMemory::Datapath{Type::kInt32, false},   ExchangeMemory::Datapath{Type::kInt64, false},
    ExchangeMemory::Datapath{Type::kInt8, false}};

}  // namespace

void ExchangeMemory::add_communicator(std::size_t ranks) {
  constexpr std::size_t kOwnWords = 2;
  constexpr std::size_t kWordsOfRank = 6;
  communicators_.push_back(static_cast<std::uint32_t>(next_));
  next_ += kWord * (kOwnWords + kWordsOfRank * ranks);
  if (communicators_.size() > 1) return;
  datapaths_ = next_;
  next_ += kBytesOfDatapath * kDatapaths.size();
}

std::optional<int> ExchangeMemory::communicator_at(std::uint32_t address) const {
  const auto found = std::ranges::find(communicators_, address);
  if (found == communicators_.end()) return std::nullopt;
  return static_cast<int>(found - communicators_.begin());
}

std::uint32_t ExchangeMemory::datapath(Type type, bool has_compression) const {
  const bool is_wanted = has_compression && type == Type::kFloat32;
  const auto* const found = std::ranges::find_if(
      kDatapaths, [&](const Datapath& one) { return one.type == type && one.has_compression == is_wanted; });
  return static_cast<std::uint32_t>(
      datapaths_ + kBytesOfDatapath * static_cast<std::size_t>(std::distance(kDatapaths.begin(), found)));
}

std::optional<ExchangeMemory::Datapath> ExchangeMemory::datapath_at(std::uint32_t address) const {
  if (address < datapaths_ || (address - datapaths_) % kBytesOfDatapath != 0) return std::nullopt;
  const std::size_t number = (address - datapaths_) / kBytesOfDatapath;
  return number < kDatapaths.size() ? std::optional(kDatapaths.at(number)) : std::nullopt;
}

}  // namespace fabricmark::accl
