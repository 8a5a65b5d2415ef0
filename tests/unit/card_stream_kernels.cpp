// A bitstream of kernels with streams for the emulated card, as `fabricmark build` makes them: produce, twice
// as much by a kernel that runs by itself, consume; what leaves and comes by a cable; and one that runs by
// itself between two ends of another cable.
#include <cstdint>

#include "card/hls/card_start.hpp"

namespace {

using words = hls::stream<std::uint32_t>;

void produce(words& out, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) out.write(i);
}
void twice(words& in, words& out) { out.write(2 * in.read()); }
void consume(words& in, std::uint64_t* sum, std::uint32_t count) {
  hls::stream<std::uint32_t> own("own");  // as in C simulation
  for (std::uint32_t i = 0; i < count; ++i) own << in.read();
  std::uint64_t all = 0;
  while (!own.empty()) all += own.read();
  *sum = all;
}

}  // namespace

extern "C" {

void fabricmark_card_start_produce(void* const* arguments) { fabricmark_card::start(produce, arguments); }
void fabricmark_card_start_twice(void* const* arguments) { fabricmark_card::start(twice, arguments); }
void fabricmark_card_start_consume(void* const* arguments) { fabricmark_card::start(consume, arguments); }

extern const char fabricmark_card_description[] = R"({
  "version": 1, "platform": "xilinx_test_card", "memories": [{"name": "DDR[0]", "bytes": 1048576}],
  "units": [
    {"kernel": "produce", "name": "produce_1", "control": "ap_ctrl_chain", "base": 65536, "arguments": [
      {"name": "out", "kind": "axis", "offset": 0, "bytes": 8},
      {"name": "count", "kind": "scalar", "offset": 16, "bytes": 4}]},
    {"kernel": "twice", "name": "twice_1", "control": "ap_ctrl_none", "base": 18446744073709551615,
      "arguments": [{"name": "in", "kind": "axis", "offset": 0, "bytes": 8},
                    {"name": "out", "kind": "axis", "offset": 0, "bytes": 8}]},
    {"kernel": "consume", "name": "consume_1", "control": "ap_ctrl_hs", "base": 131072, "arguments": [
      {"name": "in", "kind": "axis", "offset": 0, "bytes": 8},
      {"name": "sum", "kind": "buffer", "offset": 16, "bytes": 8, "banks": [0]},
      {"name": "count", "kind": "scalar", "offset": 28, "bytes": 4}]},
    {"kernel": "produce", "name": "produce_2", "control": "ap_ctrl_hs", "base": 196608, "arguments": [
      {"name": "out", "kind": "axis", "offset": 0, "bytes": 8},
      {"name": "count", "kind": "scalar", "offset": 16, "bytes": 4}]},
    {"kernel": "twice", "name": "twice_2", "control": "ap_ctrl_none", "base": 18446744073709551615,
      "arguments": [{"name": "in", "kind": "axis", "offset": 0, "bytes": 8},
                    {"name": "out", "kind": "axis", "offset": 0, "bytes": 8}]},
    {"kernel": "consume", "name": "consume_2", "control": "ap_ctrl_hs", "base": 262144, "arguments": [
      {"name": "in", "kind": "axis", "offset": 0, "bytes": 8},
      {"name": "sum", "kind": "buffer", "offset": 16, "bytes": 8, "banks": [0]},
      {"name": "count", "kind": "scalar", "offset": 28, "bytes": 4}]}],
  "streams": [{"from": "produce_1.out", "to": "twice_1.in", "depth": 2},
              {"from": "twice_1.out", "to": "consume_1.in", "depth": 4},
              {"from": "produce_2.out", "to": "link_0.tx", "depth": 2},
              {"from": "link_0.rx", "to": "consume_2.in", "depth": 2},
              {"from": "link_1.rx", "to": "twice_2.in", "depth": 2},
              {"from": "twice_2.out", "to": "link_1.tx", "depth": 2}]})";
}
