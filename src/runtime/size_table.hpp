#pragma once

#include <vector>

namespace fabricmark::runtime {

/// Times of copies or messages by their size, as a system is exported with them.
class SizeTable {
 public:
  /// From each of `bytes` on, which ascend from zero, `seconds` and so much more for each byte above. Throws
  /// std::invalid_argument for what is no such table.
  SizeTable(std::vector<double> bytes, std::vector<double> seconds, std::vector<double> seconds_per_byte);

  [[nodiscard]] double seconds(double bytes) const;

 private:
  std::vector<double> bytes_, seconds_, seconds_per_byte_;
};

}  // namespace fabricmark::runtime
