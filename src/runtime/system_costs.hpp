#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "runtime/size_table.hpp"

namespace fabricmark::runtime {

/// Which part of a system a run is on.
struct SystemPlace {
  std::filesystem::path file;
  std::string device;     ///< its id
  std::string bitstream;  ///< its id; empty: none
  int devices = 1;        ///< as many as ranks
};

/// What operations cost in a system that `fabricmark systems export` wrote, in SI units. Where the system has
/// no value that the models take for granted, it is none of the time; where it has none that nothing can do
/// without, Error (bad use) names file and value.
class SystemCosts {
 public:
  /// Throws Error (bad use) for a file that is none of a system.
  explicit SystemCosts(const SystemPlace& place);

  /// Of the bitstream or else of the device, by its exported name.
  [[nodiscard]] std::optional<double> find(const std::string& name) const;
  /// A value where the system has none.
  void assume(const std::string& name, double value) { values_.emplace(name, value); }
  /// The same; throws Error (bad use) where there is none.
  [[nodiscard]] double need(const std::string& name) const;
  /// The same, or `usual`.
  [[nodiscard]] double value_or(const std::string& name, double usual) const {
    return find(name).value_or(usual);
  }

  /// Of a copy of a whole array between host and device, of memory that the driver knows from an earlier one.
  [[nodiscard]] double array_copy_seconds(bool is_to_device, double bytes) const;
  /// Of the copy of a message, by the driver's faster way for short ones; slower where other devices of its
  /// node copy, too.
  [[nodiscard]] double message_copy_seconds(bool is_to_device, double bytes) const;
  /// Of a message between the hosts over the network of this transport. Throws Error (bad use) where the
  /// system has none.
  [[nodiscard]] double message_seconds(const std::string& transport, double bytes) const;

 private:
  struct Reader;
  struct Copies {
    SizeTable array, message;
  };
  [[nodiscard]] const Copies& copies(bool is_to_device) const;

  std::string file_;
  std::string device_;
  std::map<std::string, double> values_;
  std::optional<Copies> to_device_, from_device_;
  std::map<std::string, SizeTable> messages_;  ///< by transport, of a run on so many devices
};

}  // namespace fabricmark::runtime
