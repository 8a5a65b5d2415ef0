#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/interface.hpp"

namespace fabricmark::stencil {

/// What an application writes of a run beside its result. All calls are collective and not timed; states are
/// of this rank's part.
class Recorder : public Interface {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// Before the first step of a run that counts: the state that it begins with.
  virtual void begin(const std::vector<double>& state) = 0;
  /// The first state after `step` that `take` wants; kNever: none.
  [[nodiscard]] virtual std::int64_t next(std::int64_t step) const = 0;
  virtual void take(std::int64_t step, const std::vector<double>& state) = 0;
  /// The state after the last step, which `take` may have seen.
  virtual void end(const std::vector<double>& state) = 0;
  /// Of every so many steps, the first one after `step`; kNever where `every` is 0.
  static std::int64_t next_multiple(std::int64_t step, std::int64_t every) {
    return every == 0 ? kNever : (step / every + 1) * every;
  }
  /// What it has found.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace fabricmark::stencil
