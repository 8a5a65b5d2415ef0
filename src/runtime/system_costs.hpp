#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fabricmark::runtime {

/// Messages between the hosts of a described system, from the kind "host" of its networks: times in seconds.
/// The same formulas as python/fabricmark/models/_network.py.
class HostNetwork {
 public:
  /// Times of exchanges that were measured, by ascending size in bytes.
  struct Curve {
    double devices = 1;
    double nodes = 1;
    std::vector<double> message_bytes;
    std::vector<double> seconds;
  };

  /// `values` by the names of an exported system; `devices` and `nodes` of the run. Of several curves that of
  /// the most similar run counts.
  HostNetwork(std::map<std::string, double> values, std::vector<Curve> curves, int devices, int nodes);

  /// The time of a message on the way from one rank to another: half of that in which each sends one to both
  /// neighbours. Empty where nothing says.
  [[nodiscard]] std::optional<double> message_seconds(double bytes) const;

 private:
  [[nodiscard]] std::optional<double> link_seconds(double bytes) const;

  std::map<std::string, double> values_;
  std::optional<Curve> curve_;
  bool is_alone_;
};

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
  [[nodiscard]] const HostNetwork& network(const std::string& transport) const;

  std::string file_;
  std::string device_;
  std::map<std::string, double> values_;
  std::map<std::string, HostNetwork> networks_;  ///< by transport
  bool has_neighbours_ = false;                  ///< other devices of the run in its node
};

}  // namespace fabricmark::runtime
