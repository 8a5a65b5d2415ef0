#pragma once

#include <vector>

#include "power/sampler.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"
#include "runtime/shared_clock.hpp"

namespace fabricmark::runtime {

/// Of this rank, on this device.
Result::Placement placement_on(const device::DeviceInfo& info, bool is_emulated);

/// These are collective; every rank gets all ranks' parts.
std::vector<Result::Placement> gather_placement(Communicator& ranks, const Result::Placement& own);
/// Of each host, while its ranks measured. `placement`: of all ranks.
std::vector<HostNoise> gather_noise(Communicator& ranks, const RankNoise& own,
                                    const std::vector<Result::Placement>& placement);
std::vector<Result::RankVerdict> gather_verdicts(Communicator& ranks, const std::vector<Verdict>& own);
std::vector<Result::RankTimes> gather_timeline(Communicator& ranks,
                                               const std::vector<device::KernelTimes>& own);
/// Gathers the times of all timed regions into `result`. Every rank has the same parts.
void gather_samples(Communicator& ranks, const Samples& own, const SharedClock& clock, Result& result);
/// Names of domains and notes say which host they are of when there are several.
power::Reading gather_power(Communicator& ranks, const std::string& host, const power::Reading& own);

/// For each check the verdict of the rank with the largest error, with the values checked on all ranks added
/// up.
std::vector<Result::RankVerdict> worst_verdicts(std::vector<Result::RankVerdict> all);
/// Takes one more verdict into such a list.
void keep_worst(std::vector<Result::RankVerdict>& worst, Result::RankVerdict entry);

}  // namespace fabricmark::runtime
