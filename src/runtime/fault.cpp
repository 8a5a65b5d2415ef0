#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.hpp"
#include "base/number_from.hpp"

namespace fabricmark::runtime {

namespace {

/// By the number of the kind.
constexpr std::array kKinds{"element", "scale", "zeros",   "stale", "lost", "late", "blank", "half",
                            "flipped", "dead",  "swapped", "throw", "hang", "stop", "kill"};
constexpr std::array kSteps{"device", "kernels", "generate", "prepare", "timed", "validate", "result"};

Error not_a_fault(const std::string& text) {
  return bad_use(
      "--inject-fault '" + text + "' is unknown",
      "use KIND[:TARGET][@RANK][#REPETITION] with the kind element, scale, zeros, stale, lost, late, blank, "
      "half, swapped, flipped or dead, or KIND:STEP@RANK with throw, hang, stop or kill");
}

void check_step(const Fault& fault, const std::string& text) {
  if (fault.rank && !fault.repetition && std::ranges::find(kSteps, fault.target) != kSteps.end()) return;
  throw bad_use("--inject-fault '" + text + "' does not name a step and a rank",
                "use KIND:STEP@RANK with the step device, kernels, generate, prepare, timed, validate or "
                "result");
}

/// Cuts the number behind `mark` off the end of `rest`; absent where there is no mark.
std::optional<int> cut_number(std::string& rest, char mark, const std::string& text) {
  const std::size_t place = rest.find(mark);
  if (place == std::string::npos) return std::nullopt;
  const int number = number_from<int>(std::string_view(rest).substr(place + 1)).value_or(-1);
  if (number < 0) throw not_a_fault(text);
  rest.resize(place);
  return number;
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  std::string rest = text;
  fault.repetition = cut_number(rest, '#', text);
  fault.rank = cut_number(rest, '@', text);
  if (const std::size_t colon = rest.find(':'); colon != std::string::npos) {
    fault.target = rest.substr(colon + 1);
    rest.resize(colon);
  }
  const auto* const found = std::ranges::find(kKinds, rest);
  if (found == kKinds.end()) throw not_a_fault(text);
  fault.kind = static_cast<Fault::Kind>(found - kKinds.begin());
  if (is_failing_rank(fault)) check_step(fault, text);
  return fault;
}

bool is_failing_rank(const Fault& fault) {
  return fault.kind == Fault::Kind::kThrow || fault.kind == Fault::Kind::kHang ||
         fault.kind == Fault::Kind::kStop || fault.kind == Fault::Kind::kKill;
}

void check_rank_of(const std::optional<Fault>& fault, int ranks, bool are_processes) {
  if (!fault) return;
  if (fault->rank && *fault->rank >= ranks) {
    throw bad_use(fmt::format("--inject-fault names rank {} of {}", *fault->rank, ranks),
                  "count ranks from 0");
  }
  const bool needs_process = fault->kind == Fault::Kind::kStop || fault->kind == Fault::Kind::kKill;
  if (needs_process && !are_processes) {
    throw bad_use("--inject-fault can stop or kill only a rank that is a process",
                  "start the ranks with mpirun, or use throw or hang");
  }
}

void fail_in_step(const std::optional<Fault>& fault, const std::string& step, int rank) {
  if (!fault || !is_failing_rank(*fault) || fault->target != step || fault->rank != rank) return;
  switch (fault->kind) {
    case Fault::Kind::kStop:
      raise(SIGSTOP);
      return;
    case Fault::Kind::kKill:
      raise(SIGKILL);
      return;
    case Fault::Kind::kHang:
      while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
    default:
      throw environment_failure("this rank fails in the step '" + step + "', as --inject-fault says",
                                "leave it out");
  }
}

}  // namespace fabricmark::runtime
