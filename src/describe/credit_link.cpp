#include "describe/credit_link.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "describe/request.hpp"
#include "network/credit_link/duplex_cycle_link.hpp"

namespace fabricmark::describe {

namespace {

using credit_link::DuplexCycleLink;
using credit_link::LinkEnd;
using credit_link::LinkParameters;

/// The cycles in which a user of the link has a word, or takes one: every so many from the first on, until
/// the last.
class Pattern {
 public:
  Pattern() = default;
  explicit Pattern(const Json& said) {
    require_known(said, {"every", "first", "last"});
    every_ = member<std::uint64_t>(said, "every", 1);
    first_ = member<std::uint64_t>(said, "first", 0);
    last_ = member<std::uint64_t>(said, "last", UINT64_MAX);
    if (every_ == 0) throw bad_use("a pattern repeats after no cycle", kSeeDocs);
  }
  [[nodiscard]] bool has(std::uint64_t cycle) const {
    return cycle >= first_ && cycle <= last_ && (cycle - first_) % every_ == 0;
  }

 private:
  std::uint64_t every_ = 1;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = UINT64_MAX;
};

/// Who writes to one end and reads from it.
class User {
 public:
  explicit User(const Json& said) {
    require_known(said, {"writes", "reads", "stops", "returns"});
    writes_words_ = said.contains("writes");
    if (writes_words_) writes_ = Pattern(said.at("writes"));
    if (said.contains("reads")) reads_ = Pattern(said.at("reads"));
    has_stop_ = said.contains("stops");
    if (has_stop_) stops_ = Pattern(said.at("stops"));
    returns_ = member<bool>(said, "returns", false);
    if (returns_ && writes_words_) throw bad_use("an end that returns words writes others, too", kSeeDocs);
  }
  [[nodiscard]] LinkEnd::Input input(std::uint64_t cycle) const {
    LinkEnd::Input input;
    input.source_valid = returns_ ? kept_ > 0 : writes_words_ && writes_.has(cycle);
    input.sink_ready = reads_.has(cycle) && !(has_stop_ && stops_.has(cycle));
    return input;
  }
  /// Whether it has taken a word.
  bool took(const LinkEnd::Input& input, const LinkEnd::Output& output) {
    const bool takes = input.sink_ready && output.sink_valid;
    if (takes && returns_) ++kept_;
    if (input.source_valid && output.source_ready && returns_) --kept_;
    return takes;
  }

 private:
  bool writes_words_ = false;
  bool has_stop_ = false;
  bool returns_ = false;
  Pattern writes_;
  Pattern reads_;
  Pattern stops_;
  std::uint64_t kept_ = 0;  ///< words that it has taken and not sent back
};

LinkParameters parameters_of(const Json& said) {
  require_known(said,
                {"width_bits", "packet", "transmit", "receive", "update", "timeout", "keepalive", "latency"});
  LinkParameters found;
  found.width_bits = member<unsigned>(said, "width_bits", found.width_bits);
  found.packet_flits = member<unsigned>(said, "packet", found.packet_flits);
  found.transmit_flits = member<unsigned>(said, "transmit", found.transmit_flits);
  found.receive_flits = member<unsigned>(said, "receive", found.receive_flits);
  found.credit_flits = member<unsigned>(said, "update", found.credit_flits);
  found.timeout = member<unsigned>(said, "timeout", found.timeout);
  found.keepalive = member<unsigned>(said, "keepalive", found.keepalive);
  found.latency = member<std::uint64_t>(said, "latency", 82);
  return credit_link::checked(found);
}

/// What has left: "" for nothing or data.
const char* header_name(const LinkEnd::Output& output) {
  if (output.sent == nullptr || !output.sent->is_header) return "";
  if (output.sent->header.type == credit_link::Header::Type::kSync) return "sync";
  return output.sent->header.credit_only ? "credits" : "data";
}

}  // namespace

Json credit_link_json(const Json& request) {
  constexpr std::uint64_t kMostCycles = 100000;
  constexpr std::uint64_t kMostLatency = 100000;
  require_known(request, {"credit_link", "cycles", "ends"});
  const LinkParameters parameters = parameters_of(member<Json>(request, "credit_link", Json::object()));
  const auto cycles = member<std::uint64_t>(request, "cycles", 1000);
  const auto said = member<Json>(request, "ends", Json::array());
  if (cycles > kMostCycles || parameters.latency < 1 || parameters.latency > kMostLatency || said.size() != 2)
    throw bad_use("a credit link has two ends, 1 to 100000 cycles of latency, and 100000 cycles at most",
                  kSeeDocs);
  std::array users{User(said[0]), User(said[1])};
  DuplexCycleLink link(parameters, parameters.latency);
  for (std::uint64_t i = 0; i < 4 * (parameters.latency + 8); ++i) link.step({}, {});  // comes up
  std::array<Json, 2> ends{};
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const std::array inputs{users[0].input(cycle), users[1].input(cycle)};
    const auto step = link.step(inputs[0], inputs[1]);
    for (const std::size_t i : {0U, 1U}) {
      const LinkEnd& end = link.end(i);
      ends.at(i)["credit"].push_back(end.credit());
      ends.at(i)["receive_fill"].push_back(end.fill());
      ends.at(i)["transmit_fill"].push_back(end.waiting());
      ends.at(i)["reads"].push_back(users.at(i).took(inputs.at(i), step.ends.at(i)));
      const std::string header = header_name(step.ends.at(i));
      if (!header.empty()) ends.at(i)["headers"].push_back({{"cycle", cycle}, {"kind", header}});
    }
  }
  return {{"ends", {ends[0], ends[1]}}};
}

}  // namespace fabricmark::describe
