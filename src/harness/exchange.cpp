// Structured data between ranks, packed in a binary form of JSON that keeps every bit of a number.
#include "harness/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace fabricmark::harness {

namespace {

using Json = nlohmann::ordered_json;

/// The documents of all ranks in their order.
std::vector<Json> gather(Communicator& ranks, const Json& own) {
  const std::vector<std::uint8_t> packed = Json::to_cbor(own);
  std::vector<Json> all;
  for (const std::vector<std::byte>& bytes : ranks.all_gather(std::as_bytes(std::span(packed)))) {
    const auto* start = reinterpret_cast<const std::uint8_t*>(bytes.data());
    all.push_back(Json::from_cbor(start, start + bytes.size()));
  }
  return all;
}

}  // namespace

std::vector<Result::Placement> gather_placement(Communicator& ranks, const Result::Placement& own) {
  std::vector<Result::Placement> all;
  for (const Json& place : gather(ranks, {own.host, own.device, own.device_index, own.compute_units})) {
    all.push_back({place[0], place[1], place[2], place[3]});
  }
  return all;
}

std::vector<Result::RankVerdict> gather_verdicts(Communicator& ranks, const std::vector<Verdict>& own) {
  Json packed = Json::array();
  for (const Verdict& verdict : own) {
    Json worst;
    if (verdict.worst) worst = {verdict.worst->place, verdict.worst->expected, verdict.worst->actual};
    packed.push_back({verdict.name, verdict.error, verdict.threshold, verdict.measure, verdict.checked, worst,
                      verdict.repetition.value_or(-1)});
  }
  std::vector<Result::RankVerdict> all;
  int rank = 0;
  for (const Json& verdicts : gather(ranks, packed)) {
    for (const Json& entry : verdicts) {
      Verdict verdict{entry[0], entry[1], entry[2], entry[3], entry[4], std::nullopt};
      if (const int repetition = entry[6]; repetition >= 0) verdict.repetition = repetition;
      if (!entry[5].is_null()) verdict.worst = WorstPlace{entry[5][0], entry[5][1], entry[5][2]};
      all.push_back({verdict, rank});
    }
    ++rank;
  }
  return all;
}

std::vector<Result::RankTimes> gather_timeline(Communicator& ranks,
                                               const std::vector<device::KernelTimes>& own) {
  Json packed = Json::array();
  for (const device::KernelTimes& times : own) {
    packed.push_back({times.operation, times.kernel, times.repetition, times.replication, times.queued,
                      times.submitted, times.started, times.ended});
  }
  std::vector<Result::RankTimes> all;
  int rank = 0;
  for (const Json& entries : gather(ranks, packed)) {
    for (const Json& entry : entries) {
      all.push_back({{entry[0], entry[1], entry[2], entry[3], entry[4], entry[5], entry[6], entry[7]}, rank});
    }
    ++rank;
  }
  return all;
}

power::Reading gather_power(Communicator& ranks, const std::string& host, const power::Reading& own) {
  Json energies = Json::array();
  for (const power::Energy& entry : own.energies) {
    energies.push_back({entry.domain, entry.source, entry.joules, entry.seconds});
  }
  const std::vector<Json> all = gather(ranks, {host, energies, own.notes});
  const bool is_one_host =
      std::ranges::all_of(all, [&](const Json& part) { return part[0] == all.front()[0]; });
  power::Reading together;
  for (const Json& part : all) {
    const std::string prefix = is_one_host ? "" : part[0].get<std::string>() + ": ";
    for (const Json& entry : part[1]) {
      const std::string domain = prefix + entry[0].get<std::string>();
      together.energies.push_back({domain, entry[1], entry[2], entry[3]});
    }
    for (const Json& note : part[2]) together.notes.push_back(prefix + note.get<std::string>());
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

std::vector<Result::RankVerdict> worst_verdicts(const std::vector<Result::RankVerdict>& all) {
  std::vector<Result::RankVerdict> worst;
  for (const Result::RankVerdict& entry : all) {
    const auto known = std::ranges::find_if(
        worst, [&](const Result::RankVerdict& other) { return other.verdict.name == entry.verdict.name; });
    if (known == worst.end()) {
      worst.push_back(entry);
      continue;
    }
    const std::size_t checked = known->verdict.checked + entry.verdict.checked;
    if (is_worse(entry.verdict, known->verdict)) *known = entry;
    known->verdict.checked = checked;
  }
  return worst;
}

}  // namespace fabricmark::harness
