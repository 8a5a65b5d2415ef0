// Structured data between ranks, packed in a binary form of JSON that keeps every bit of a number.
#include "runtime/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/host.hpp"

namespace nlohmann {

template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& packed, const std::optional<T>& value) {
    packed = value ? json(*value) : json(nullptr);
  }
  static void from_json(const json& packed, std::optional<T>& value) {
    value = packed.is_null() ? std::nullopt : std::optional<T>(packed.get<T>());
  }
};

}  // namespace nlohmann

namespace fabricmark::device {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelTimes, operation, kernel, repetition, replication, queued, submitted,
                                   started, ended)

}  // namespace fabricmark::device

namespace fabricmark::power {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sample, seconds, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Energy, domain, source, joules, seconds, peak_watts, quantity, samples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reading, energies, notes)

}  // namespace fabricmark::power

namespace fabricmark::runtime {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorstPlace, place, expected, actual)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sample, unit, checked, of)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verdict, name, error, threshold, measure, checked, worst, repetition,
                                   sampled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Result::Placement, host, device, device_index, compute_units, is_emulated,
                                   platform_index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankNoise, process, seconds, cpus, own_seconds, busy_seconds,
                                   stolen_seconds, memory_stall_seconds, swapped_bytes, throttled)

namespace {

/// What all ranks have, in their order.
template <typename T>
std::vector<T> gather(Communicator& ranks, const T& own) {
  const std::vector<std::uint8_t> packed = nlohmann::json::to_cbor(nlohmann::json(own));
  std::vector<T> all;
  for (const std::vector<std::byte>& bytes : ranks.all_gather(std::as_bytes(std::span(packed)))) {
    const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
    all.push_back(nlohmann::json::from_cbor(start, start + bytes.size()).template get<T>());
  }
  return all;
}

/// Each of what all ranks have several of, with its rank.
template <typename WithRank, typename T>
std::vector<WithRank> gather_each(Communicator& ranks, const std::vector<T>& own) {
  std::vector<WithRank> all;
  int rank = 0;
  for (const std::vector<T>& several : gather(ranks, own)) {
    for (const T& one : several) all.push_back({one, rank});
    ++rank;
  }
  return all;
}

}  // namespace

Result::Placement placement_on(const device::DeviceInfo& info, bool is_emulated) {
  return {describe_host().name, info.name,   info.device_index,
          info.compute_units,   is_emulated, info.platform_index};
}

std::vector<Result::Placement> gather_placement(Communicator& ranks, const Result::Placement& own) {
  return gather(ranks, own);
}

std::vector<HostNoise> gather_noise(Communicator& ranks, const RankNoise& own,
                                    const std::vector<Result::Placement>& placement) {
  std::vector<std::string> hosts;
  std::vector<bool> are_emulated;
  for (const Result::Placement& place : placement) {
    hosts.push_back(place.host);
    are_emulated.push_back(place.is_emulated);
  }
  return noise_of_hosts(gather(ranks, own), hosts, are_emulated);
}

std::vector<Result::RankVerdict> gather_verdicts(Communicator& ranks, const std::vector<Verdict>& own) {
  return gather_each<Result::RankVerdict>(ranks, own);
}

std::vector<Result::RankTimes> gather_timeline(Communicator& ranks,
                                               const std::vector<device::KernelTimes>& own) {
  return gather_each<Result::RankTimes>(ranks, own);
}

namespace {

/// When each rank began a part, as the results of one of its `times` are.
Result::PerRank gather_starts(Communicator& ranks, const Samples& own, std::size_t region,
                              const SharedClock& clock) {
  constexpr double kNanoseconds = 1e9;
  std::vector<double> shared;
  for (const double start : own.starts[region]) {
    shared.push_back(clock.seconds_at(own.zero_nanoseconds + std::llround(start * kNanoseconds)));
  }
  Result::PerRank all = after_the_first(ranks.all_gather_numbers(shared));
  if (all.front().empty()) return {};
  for (std::vector<double>& of_rank : all) {
    for (std::size_t i = 0; i < of_rank.size(); ++i) of_rank[i] /= own.times[region][i];
  }
  return all;
}

}  // namespace

void gather_samples(Communicator& ranks, const Samples& own, const SharedClock& clock, Result& result) {
  result.region_names = own.names;
  for (const auto& seconds : own.seconds) result.seconds.push_back(ranks.all_gather_numbers(seconds));
  for (std::size_t region = 0; region < own.starts.size(); ++region) {
    result.starts.push_back(gather_starts(ranks, own, region, clock));
  }
  if (ranks.all_reduce_max(own.are_modelled() ? 1 : 0) == 1) {
    for (const auto& seconds : own.modelled_seconds) {
      result.modelled_seconds.push_back(ranks.all_gather_numbers(seconds));
    }
  }
  for (const std::vector<std::vector<double>>& of_region : own.inner_seconds) {
    std::vector<Result::PerRank> all(of_region.empty() ? 0 : static_cast<std::size_t>(ranks.size()));
    for (const std::vector<double>& of_repetition : of_region) {
      const Result::PerRank of_ranks = ranks.all_gather_numbers(of_repetition);
      for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank].push_back(of_ranks[rank]);
    }
    result.inner_seconds.push_back(std::move(all));
  }
}

power::Reading gather_power(Communicator& ranks, const std::string& host, const power::Reading& own) {
  const std::vector<std::string> hosts = gather(ranks, host);
  const bool is_one_host = std::ranges::all_of(hosts, [&](const auto& other) { return other == hosts[0]; });
  power::Reading together;
  std::size_t rank = 0;
  for (const power::Reading& part : gather(ranks, own)) {
    const std::string prefix = is_one_host ? "" : hosts[rank] + ": ";
    for (power::Energy entry : part.energies) {
      entry.domain.insert(0, prefix);
      together.energies.push_back(entry);
    }
    for (const std::string& note : part.notes) together.notes.push_back(prefix + note);
    ++rank;
  }
  return together;
}

namespace {

/// A failed check is worse than a passed one, whatever their errors: their thresholds may differ. NaN is the
/// worst error.
bool is_worse(const Verdict& one, const Verdict& other) {
  if (one.passed() != other.passed()) return other.passed();
  return std::isnan(one.error) ? !std::isnan(other.error) : one.error > other.error;
}

}  // namespace

void keep_worst(std::vector<Result::RankVerdict>& worst, Result::RankVerdict entry) {
  const auto known = std::ranges::find_if(
      worst, [&](const Result::RankVerdict& other) { return other.verdict.name == entry.verdict.name; });
  if (known == worst.end()) {
    worst.push_back(std::move(entry));
    return;
  }
  const std::size_t checked = known->verdict.checked + entry.verdict.checked;
  if (is_worse(entry.verdict, known->verdict)) *known = std::move(entry);
  known->verdict.checked = checked;
}

std::vector<Result::RankVerdict> worst_verdicts(std::vector<Result::RankVerdict> all) {
  std::vector<Result::RankVerdict> worst;
  for (Result::RankVerdict& entry : all) keep_worst(worst, std::move(entry));
  return worst;
}

}  // namespace fabricmark::runtime
