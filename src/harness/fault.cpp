#include "harness/fault.hpp"

#include <charconv>

#include "device/error.hpp"

namespace fabricmark::harness {

namespace {

Error not_a_fault(const std::string& text) {
  return bad_use("--inject-fault '" + text + "' is unknown",
                 "use KIND[:TARGET][@RANK] with the kind element, scale, zeros or stale");
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  std::string rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string::npos) {
    int rank = -1;
    const char* const end = rest.data() + rest.size();
    const auto [stop, failure] = std::from_chars(rest.data() + at + 1, end, rank);
    if (failure != std::errc{} || stop != end || rank < 0) throw not_a_fault(text);
    fault.rank = rank;
    rest.resize(at);
  }
  if (const std::size_t colon = rest.find(':'); colon != std::string::npos) {
    fault.target = rest.substr(colon + 1);
    rest.resize(colon);
  }
  if (rest == "element") {
    fault.kind = Fault::Kind::kElement;
  } else if (rest == "scale") {
    fault.kind = Fault::Kind::kScale;
  } else if (rest == "zeros") {
    fault.kind = Fault::Kind::kZeros;
  } else if (rest == "stale") {
    fault.kind = Fault::Kind::kStale;
  } else {
    throw not_a_fault(text);
  }
  return fault;
}

}  // namespace fabricmark::harness
