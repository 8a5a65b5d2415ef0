// A bitstream of the emulated card, as `fabricmark build` makes them, for tests of the card itself.
#include <cstdint>

extern "C" {

void fabricmark_card_start_add(void* const* arguments) {
  const auto* const in = *static_cast<const std::uint32_t* const*>(arguments[0]);
  auto* const out = *static_cast<std::uint64_t* const*>(arguments[1]);
  const auto sum = std::uint64_t{*static_cast<const std::uint8_t*>(arguments[2])} +
                   *static_cast<const std::uint16_t*>(arguments[3]) +
                   *static_cast<const std::uint32_t*>(arguments[4]) +
                   *static_cast<const std::uint64_t*>(arguments[5]);
  *out = *in + sum;
}

/// How often this unit was started, as what a kernel keeps in its own memory.
void fabricmark_card_start_count(void* const* arguments) {
  static std::uint64_t starts = 0;
  **static_cast<std::uint64_t* const*>(arguments[0]) = ++starts;
}

extern const char fabricmark_card_description[] = R"({
  "version": 1, "platform": "xilinx_test_card",
  "memories": [{"name": "DDR[0]", "bytes": 1048576}, {"name": "DDR[1]", "bytes": 1048576}],
  "units": [{"kernel": "add", "name": "add_1", "control": "ap_ctrl_hs", "base": 65536, "arguments": [
    {"name": "in", "kind": "buffer", "offset": 16, "bytes": 8, "banks": [0]},
    {"name": "out", "kind": "buffer", "offset": 28, "bytes": 8, "banks": [1]},
    {"name": "one", "kind": "scalar", "offset": 40, "bytes": 1},
    {"name": "two", "kind": "scalar", "offset": 48, "bytes": 2},
    {"name": "four", "kind": "scalar", "offset": 56, "bytes": 4},
    {"name": "eight", "kind": "scalar", "offset": 64, "bytes": 8}]},
  {"kernel": "count", "name": "count_1", "control": "ap_ctrl_hs", "base": 524288, "arguments": [
    {"name": "out", "kind": "buffer", "offset": 16, "bytes": 8, "banks": [0]}]},
  {"kernel": "count", "name": "count_2", "control": "ap_ctrl_hs", "base": 589824, "arguments": [
    {"name": "out", "kind": "buffer", "offset": 16, "bytes": 8, "banks": [0]}]}]})";
}
