#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "network/network_costs.hpp"
#include "network/time.hpp"

namespace fabricmark::card {

using network::Time;

/// What words take in modelled time: a cable as a system's network has it, a stream inside of the card a
/// cycle of the kernels' clock.
struct Modelling {
  network::NetworkCosts network;
  std::filesystem::path folder;  ///< each card writes its times to a file there
};

/// Of the system file in FABRICMARK_CARD_SYSTEM the network FABRICMARK_CARD_NETWORK, a transport's or an id,
/// with times to the folder FABRICMARK_CARD_TIMES. Null where no system is named: then nothing is modelled.
/// Throws Error (bad use) for a network that is none of direct links, and what network::load_network_costs
/// throws.
std::shared_ptr<const Modelling> modelling_of_environment();

/// The modelled time of a compute unit, which its own thread moves. Its loop reads and writes a word of each
/// stream in a cycle; its pipeline has no depth, and its memory is never waited for.
struct UnitClock {
  Time now = 0;
  Time cycle = 0;  ///< 0 where nothing is modelled
};

/// Of one direction of a cable; zeros where nothing is modelled.
class CableTimes {
 public:
  CableTimes() = default;
  explicit CableTimes(const network::NetworkCosts& network);
  /// Between two words of so many bytes that leave.
  [[nodiscard]] Time of_word(std::size_t bytes) const;
  /// From a word's having left to its arrival.
  [[nodiscard]] Time latency() const { return latency_; }

 private:
  double width_bytes_ = 1;
  double clock_hz_ = 0;
  Time latency_ = 0;
};

/// When the kernels of a card have ended, in a file of its own: card_N.json.
class TimesFile {
 public:
  TimesFile(std::shared_ptr<const Modelling> modelling, int card, double clock_hz);
  /// Written at once, before the host hears of the end. May be called by several threads.
  void add_end(const std::string& unit, Time now);

 private:
  std::shared_ptr<const Modelling> modelling_;
  int card_;
  double clock_hz_;
  std::mutex mutex_;
  std::map<std::string, Time> ends_;  // by compute unit
};

}  // namespace fabricmark::card
