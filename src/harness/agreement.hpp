#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/error.hpp"
#include "harness/laps.hpp"
#include "harness/ranks.hpp"

namespace fabricmark::harness {

/// What went wrong on this rank.
struct Failure {
  ExitCode code = ExitCode::kEnvironment;
  std::string message;
};

/// All ranks know that at least one failed, and how the program ends. Thrown on every rank.
struct AgreedFailure {
  ExitCode code = ExitCode::kEnvironment;
  std::string message;  ///< of the first rank that failed
};

/// Runs `action`; what it throws comes back as a value. A PeerFailure passes through.
std::optional<Failure> attempt(const std::function<void()>& action);

/// After a failure somewhere that every rank knows of: exchanges the reasons and throws AgreedFailure on all.
[[noreturn]] void give_up_together(Ranks& ranks, const std::optional<Failure>& own);

/// Runs `action` on all ranks and meets them again; where one has failed, all throw AgreedFailure.
void together(Ranks& ranks, const std::function<void()>& action);

}  // namespace fabricmark::harness
