#include "runtime/system_costs.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::runtime {

using Json = JsonPlace::Json;

/// What the file says.
struct SystemCosts::Reader {
  SystemDocument document;

  static std::vector<double> numbers(const JsonPlace& parent, const std::string& key, double least = 0) {
    std::vector<double> found;
    for (const JsonPlace& one : parent.list(key)) found.push_back(one.number(least));
    return found;
  }
  static SizeTable table(const JsonPlace& place) {
    try {
      // Longer messages that were measured may take less.
      constexpr double kAny = std::numeric_limits<double>::lowest();
      return {numbers(place, "bytes"), numbers(place, "seconds"), numbers(place, "seconds_per_byte", kAny)};
    } catch (const std::invalid_argument&) {
      throw place.wrong("bytes");
    }
  }
  /// The entry of a list that has this text; none where there is none.
  [[nodiscard]] std::optional<JsonPlace> entry(const std::string& list, const std::string& key,
                                               const std::string& text) const {
    for (const JsonPlace& one : document.root().list(list)) {
      if (one.text(key) == text) return one;
    }
    return std::nullopt;
  }
  [[nodiscard]] JsonPlace required(const std::string& list, const std::string& id) const {
    if (const auto found = entry(list, "id", id)) return *found;
    throw document.root().wrong(fmt::format("{}: {}", list, id));
  }
  [[nodiscard]] std::map<std::string, double> values(const std::string& list, const std::string& id) const {
    std::map<std::string, double> found;
    for (const auto& [name, one] : required(list, id).items("values"))
      found[name] = one.at("value", &Json::is_number).number();
    return found;
  }
  /// By transport, of a run on so many devices.
  static std::map<std::string, SizeTable> messages(const JsonPlace& wiring, int devices) {
    std::map<std::string, SizeTable> found;
    if (!wiring.find("messages")) return found;
    const JsonPlace all = wiring.at("messages");
    for (const auto& [transport, unused] : all.json().items()) {
      for (const JsonPlace& one : all.list(transport)) {
        if (one.at("devices", &Json::is_number).number() > devices) break;
        found.insert_or_assign(transport, table(one));
      }
    }
    return found;
  }
  /// None where nothing says the rate.
  [[nodiscard]] std::optional<Copies> copies(const std::string& device, const std::string& direction,
                                             bool is_beside_others) const {
    const auto all = required("devices", device).find("copies");
    const auto one = all ? all->find(direction) : std::nullopt;
    if (!one) return std::nullopt;
    return Copies{table(one->at("array")),
                  table(one->at(is_beside_others ? "message_beside_others" : "message"))};
  }
};

SystemCosts::SystemCosts(const SystemPlace& place)
    : file_(fmt::format("'{}'", place.file.string())), device_(place.device) {
  const Reader reader{SystemDocument(place.file)};
  values_ = reader.values("devices", place.device);
  if (!place.bitstream.empty()) {
    for (const auto& [name, value] : reader.values("bitstreams", place.bitstream)) values_[name] = value;
  }
  double devices_per_node = 1;
  if (const auto wiring = reader.entry("topology", "device", place.device)) {
    devices_per_node = wiring->at("devices_per_node", &Json::is_number).number(1);
    messages_ = Reader::messages(*wiring, place.devices);
  }
  const bool is_beside_others = place.devices > 1 && devices_per_node > 1;
  to_device_ = reader.copies(place.device, "to_device", is_beside_others);
  from_device_ = reader.copies(place.device, "from_device", is_beside_others);
}

std::optional<double> SystemCosts::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

double SystemCosts::need(const std::string& name) const {
  const std::optional<double> found = find(name);
  if (found && *found > 0) return *found;
  throw bad_use(fmt::format("{} of {} is missing in {}; the simulated time of a kernel or copy needs it",
                            name, device_, file_),
                name == "kernel_hz" ? "choose a bitstream of the system with --bitstream-id"
                                    : "add it to the system and export it again");
}

double SystemCosts::array_copy_seconds(bool is_to_device, double bytes) const {
  return copies(is_to_device).array.seconds(bytes);
}

double SystemCosts::message_copy_seconds(bool is_to_device, double bytes) const {
  return copies(is_to_device).message.seconds(bytes);
}

double SystemCosts::message_seconds(const std::string& transport, double bytes) const {
  const auto found = messages_.find(transport);
  if (found != messages_.end()) return found->second.seconds(bytes);
  throw bad_use(
      fmt::format("the time of messages between hosts over the transport {} of {} is missing in {}",
                  transport, device_, file_),
      "name a network of the kind host, with its link_bandwidth or curves, in [devices.networks] of "
      "the system and export it again, or use another transport");
}

const SystemCosts::Copies& SystemCosts::copies(bool is_to_device) const {
  const std::optional<Copies>& found = is_to_device ? to_device_ : from_device_;
  if (found) return *found;
  throw bad_use(fmt::format("the time of copies {} {} is missing in {}; the simulated time of a run needs it",
                            is_to_device ? "to" : "from", device_, file_),
                fmt::format("add host.{}_bandwidth to the board and export the system again",
                            is_to_device ? "write" : "read"));
}

}  // namespace fabricmark::runtime
