#include "transport/cached_protocols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "device/program.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::transport {

namespace {

using nlohmann::json;

constexpr const char* kSchema = "fabricmark-tuning/2";
constexpr const char* kRemedy = "remove it, or run `fabricmark tune` again";

constexpr const char* kPattern = "pattern";

json described(const TuningPlace& place) {
  return {{"transport", place.transport},
          {"host", {{"cpu", place.processor}}},
          {"device", {{"name", place.device}, {"driver", place.driver}}},
          {"ranks", {{"kind", place.ranks}, {"count", place.count}}},
          {kPattern, name(place.pattern)}};
}

CachedProtocols read(const json& document, const json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (document.at(key) != value) throw bad_use(fmt::format("its '{}' is another one", key), kRemedy);
  }
  CachedProtocols kept{.created = document.at("created").get<std::string>(), .protocols = {}};
  for (const json& size : document.at("sizes")) {
    const auto bytes = size.at("bytes").get<std::size_t>();
    if (size_class(bytes) != kept.protocols.size()) throw bad_use("its sizes are not in order", kRemedy);
    kept.protocols.push_back(size.at("protocol").get<std::string>());
  }
  if (kept.protocols.empty()) throw bad_use("it has no sizes", kRemedy);
  return kept;
}

/// Whether the transport has them for all sizes, on all ranks.
bool knows(const Transport& transport, const std::vector<std::string>& protocols) {
  const std::vector<std::size_t> sizes = tuned_sizes(~std::size_t{0});
  bool all = protocols.size() <= sizes.size();
  for (std::size_t i = 0; all && i < protocols.size(); ++i) {
    const std::vector<std::string> known = transport.protocols(sizes[i]);
    all = std::ranges::find(known, protocols[i]) != known.end();
  }
  return all;
}

}  // namespace

TuningPlace tuning_place(const device::DeviceInfo& device, const Transport& transport, Pattern pattern) {
  constexpr auto kBank = device::MemorySpace::kDeviceBank;
  const bool is_of_devices = transport.supports(kBank, kBank, Operation::kMessage);
  return {.transport = transport.name(),
          .processor = describe_host().cpu,
          .device = is_of_devices ? device.name : "none",
          .driver = is_of_devices ? device.driver : "",
          .ranks = transport.ranks().kind() == "mpi" ? "mpi" : "threads",
          .count = transport.ranks().size(),
          .pattern = pattern};
}

std::filesystem::path kept_file(const TuningPlace& place) {
  const std::filesystem::path cache = device::cache_folder();
  if (cache.empty()) return {};
  json of_name = described(place);
  if (place.pattern == Pattern::kExchange) of_name.erase(kPattern);  // as before there were others
  return cache / "tuning" / (content_digest(of_name.dump()).substr(0, 24) + ".json");
}

std::string tuning_document(const TuningPlace& place, const std::vector<TunedSize>& sizes) {
  json document = described(place);
  document["schema"] = kSchema;
  document["created"] = time_now();
  document["sizes"] = json::array();
  for (const TunedSize& size : sizes) {
    json seconds = json::object();
    for (std::size_t protocol = 0; protocol < size.protocols.size(); ++protocol)
      seconds[size.protocols[protocol]] = size.seconds[protocol];
    document["sizes"].push_back(
        {{"bytes", size.bytes}, {"protocol", size.protocols[size.best]}, {"seconds", seconds}});
  }
  return document.dump(2) + "\n";
}

void cache_protocols(const TuningPlace& place, const std::vector<TunedSize>& sizes) {
  const std::filesystem::path file = kept_file(place);
  if (file.empty()) {
    throw environment_failure("there is no folder to keep what was measured", "set HOME or FABRICMARK_CACHE");
  }
  write_atomically(file, tuning_document(place, sizes));
}

std::optional<CachedProtocols> cached_protocols(const TuningPlace& place) {
  const std::filesystem::path file = kept_file(place);
  std::error_code ignored;
  if (file.empty() || !std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  const std::string text = runtime::file_text(file, "file of `fabricmark tune`", kRemedy);
  try {
    json document = json::parse(text);
    document.emplace(kPattern, name(Pattern::kExchange));
    if (document.at("schema") != kSchema) throw bad_use("it has another format", kRemedy);
    return read(document, described(place));
  } catch (const json::exception& error) {
    throw bad_use(fmt::format("{} is no file of `fabricmark tune`: {}", file.string(), error.what()),
                  kRemedy);
  } catch (const Error& error) {
    throw bad_use(
        fmt::format("{} is no file of `fabricmark tune` for this run: {}", file.string(), error.cause()),
        kRemedy);
  }
}

SettledProtocols settle_protocols(Transport& transport, const device::DeviceInfo& device,
                                  std::size_t largest_bytes, Pattern pattern) {
  if (transport.protocols(1).empty()) return {};
  std::optional<CachedProtocols> kept;
  std::string trouble;
  try {
    kept = cached_protocols(tuning_place(device, transport, pattern));
  } catch (const Error& error) {  // what is measured now is as good
    trouble = "; " + std::string(error.what());
  }
  const bool is_known = kept && knows(transport, kept->protocols);
  const std::string own = is_known ? fmt::format("{}", fmt::join(kept->protocols, "\n")) : "";
  const std::vector<std::string> all = transport.ranks().all_gather_texts(own);
  if (is_known && std::ranges::count(all, own) == std::ssize(all)) {
    take_all(transport, kept->protocols);
    return {kept->protocols, fmt::format("{} (cached by `fabricmark tune` at {})",
                                         choice_in_words(transport, kept->protocols), kept->created)};
  }
  constexpr std::size_t kLongestAtStart = std::size_t{16}
                                          << 20;  // longer ones go as these: it shall be short
  constexpr double kShortly = 0.3;
  constexpr double kLonger = 1;  // of b_eff, which measures just these messages
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> protocols;
  for (const TunedSize& size :
       tune(transport, {.largest_bytes = std::min(largest_bytes, kLongestAtStart),
                       .patience_seconds = pattern == Pattern::kInARow ? kLonger : kShortly,
                       .pattern = pattern})) {
    protocols.push_back(size.protocols[size.best]);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {protocols, fmt::format("{} (measured at the start in {:.2f} s{})",
                                 choice_in_words(transport, protocols), taken.count(), trouble)};
}

}  // namespace fabricmark::transport
