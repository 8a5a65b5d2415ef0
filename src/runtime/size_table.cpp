#include "runtime/size_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fabricmark::runtime {

SizeTable::SizeTable(std::vector<double> bytes, std::vector<double> seconds,
                     std::vector<double> seconds_per_byte)
    : bytes_(std::move(bytes)), seconds_(std::move(seconds)), seconds_per_byte_(std::move(seconds_per_byte)) {
  const bool is_whole = !bytes_.empty() && bytes_.front() == 0 && seconds_.size() == bytes_.size() &&
                        seconds_per_byte_.size() == bytes_.size();
  if (!is_whole || !std::ranges::is_sorted(bytes_)) throw std::invalid_argument("no table of times by size");
}

double SizeTable::seconds(double bytes) const {
  const auto above = std::ranges::upper_bound(bytes_, std::max(bytes, 0.0));
  const auto place = static_cast<std::size_t>(above - bytes_.begin()) - 1;
  return seconds_[place] + (bytes - bytes_[place]) * seconds_per_byte_[place];
}

}  // namespace fabricmark::runtime
