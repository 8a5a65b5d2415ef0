#include "runtime/system_costs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::runtime {

namespace {

using Json = SystemDocument::Json;
using Values = std::map<std::string, double>;

}  // namespace

/// What the file says, with messages that name the place.
struct SystemCosts::Reader {
  SystemDocument document;

  [[nodiscard]] double number(const Json& json, const std::string& where, double least = 0) const {
    if (!json.is_number()) throw document.wrong(where);
    const double found = json.get<double>();
    if (!std::isfinite(found) || found < least) throw document.wrong(where);
    return found;
  }
  [[nodiscard]] std::vector<double> numbers(const Json& parent, const std::string& key,
                                            const std::string& where, double least = 0) const {
    std::vector<double> found;
    for (const Json& one : document.member(parent, key, &Json::is_array, where))
      found.push_back(number(one, where + key, least));
    return found;
  }
  [[nodiscard]] SizeTable table(const Json& json, const std::string& where) const {
    try {
      // Longer messages that were measured may take less.
      constexpr double kAny = std::numeric_limits<double>::lowest();
      return {numbers(json, "bytes", where), numbers(json, "seconds", where),
              numbers(json, "seconds_per_byte", where, kAny)};
    } catch (const std::invalid_argument&) {
      throw document.wrong(where + "bytes");
    }
  }
  /// The entry of a list that has this text, and its place; null where there is none.
  [[nodiscard]] std::pair<const Json*, std::string> entry(const std::string& list, const std::string& key,
                                                          const std::string& text) const {
    const Json& all = document.list(list);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = fmt::format("{}[{}].", list, i);
      if (document.text(all[i], key, where) == text) return {&all[i], where};
    }
    return {nullptr, list};
  }
  [[nodiscard]] std::pair<const Json*, std::string> required(const std::string& list,
                                                             const std::string& id) const {
    const auto found = entry(list, "id", id);
    if (found.first == nullptr) throw document.wrong(fmt::format("{}: {}", list, id));
    return found;
  }
  [[nodiscard]] Values values(const std::string& list, const std::string& id) const {
    const auto [parent, where] = required(list, id);
    Values found;
    for (const auto& [name, one] : document.member(*parent, "values", &Json::is_object, where).items()) {
      const std::string place = where + "values." + name + ".";
      found[name] = number(document.member(one, "value", &Json::is_number, place), place + "value");
    }
    return found;
  }
  /// By transport, of a run on so many devices.
  [[nodiscard]] std::map<std::string, SizeTable> messages(const Json& wiring, const std::string& where,
                                                          int devices) const {
    std::map<std::string, SizeTable> found;
    if (SystemDocument::find(wiring, "messages") == nullptr) return found;
    const Json& all = document.member(wiring, "messages", &Json::is_object, where);
    for (const auto& [transport, tables] : all.items()) {
      static_cast<void>(document.member(all, transport, &Json::is_array, where + "messages."));
      for (std::size_t i = 0; i < tables.size(); ++i) {
        const std::string place = fmt::format("{}messages.{}[{}].", where, transport, i);
        const Json& first = document.member(tables[i], "devices", &Json::is_number, place);
        if (number(first, place + "devices") > devices) break;
        found.insert_or_assign(transport, table(tables[i], place));
      }
    }
    return found;
  }
  /// None where nothing says the rate.
  [[nodiscard]] std::optional<Copies> copies(const std::string& device, const std::string& direction,
                                             bool is_beside_others) const {
    const auto [parent, where] = required("devices", device);
    const Json* const all = SystemDocument::find(*parent, "copies");
    const Json* const one = all == nullptr ? nullptr : SystemDocument::find(*all, direction);
    if (one == nullptr) return std::nullopt;
    const auto of = [&, place = where + "copies." + direction + "."](const std::string& kind) {
      return table(document.member(*one, kind, &Json::is_object, place), place + kind + ".");
    };
    return Copies{of("array"), of(is_beside_others ? "message_beside_others" : "message")};
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
  if (const auto [wiring, where] = reader.entry("topology", "device", place.device); wiring != nullptr) {
    const Json& each = reader.document.member(*wiring, "devices_per_node", &Json::is_number, where);
    devices_per_node = reader.number(each, where + "devices_per_node");
    if (devices_per_node < 1) throw reader.document.wrong(where + "devices_per_node");
    messages_ = reader.messages(*wiring, where, place.devices);
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
  throw bad_use(
      fmt::format("{} says no {} of {}, which a kernel or copy is charged with", file_, name, device_),
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
      fmt::format("{} says no time of messages between hosts over the transport {} of {}", file_, transport,
                  device_),
      "name a network of the kind host, with its link_bandwidth or curves, in [devices.networks] of "
      "the system and export it again, or use another transport");
}

const SystemCosts::Copies& SystemCosts::copies(bool is_to_device) const {
  const std::optional<Copies>& found = is_to_device ? to_device_ : from_device_;
  if (found) return *found;
  throw bad_use(fmt::format("{} says no time of copies {} {}, which a run is charged with", file_,
                            is_to_device ? "to" : "from", device_),
                fmt::format("add host.{}_bandwidth to the board and export the system again",
                            is_to_device ? "write" : "read"));
}

}  // namespace fabricmark::runtime
