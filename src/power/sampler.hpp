#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/steady_seconds.hpp"
#include "power/energy.hpp"
#include "power/source.hpp"

namespace fabricmark::power {

/// What was found between start and stop. A domain is there or absent, never zero.
struct Reading {
  std::vector<Energy> energies;
  std::vector<std::string> notes;
};

/// Reads the sources while something else runs: one thread per source, so that a slow one holds up no other.
/// The threads sleep between samples; nothing of this happens in the thread that measures. For one use.
class Sampler {
 public:
  /// Seconds of a clock that does not go back.
  using Now = std::function<double()>;

  Sampler(std::vector<Source> sources, std::chrono::milliseconds interval, Now now = steady_seconds);
  ~Sampler() { end_threads(); }

  /// Returns when every domain was read once.
  void start();
  /// What happens from `pause` to `resume` does not count; both are ignored where they change nothing.
  void pause();
  void resume();
  /// Takes a last sample of every domain and returns what lies between the end of start and now, without
  /// pauses.
  Reading stop();

 private:
  struct Track {
    Source source;
    std::vector<std::vector<Sample>> samples{};  ///< [domain]; written by the thread only while it runs
    std::thread thread{};
  };

  void run(Track& track);
  void read_all(Track& track) const;
  [[nodiscard]] std::chrono::duration<double> period(const Source& source) const;
  void end_threads();
  void evaluate(const Track& track, Reading& reading) const;
  void remark_coarse(const Source& source, double seconds, Reading& reading) const;

  std::chrono::milliseconds interval_;
  Now now_;
  std::vector<Track> tracks_;
  std::vector<Span> spans_;  ///< that count
  bool is_counting_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_for_ = 0;  ///< threads that have not taken their first sample
  bool is_ended_ = false;
};

}  // namespace fabricmark::power
