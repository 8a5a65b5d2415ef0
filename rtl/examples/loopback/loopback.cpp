// Board 0 sends numbered words to board 1, which sends each of them back; prints how long the first one took
// and how many words a cycle come after it.
#include <cstdint>
#include <cstdio>

#include "Vloopback.h"

namespace {

constexpr unsigned kWords = 10000, kAtMost = 40000;
constexpr unsigned kPlaces = 4;  // words of 32 bits in one of the link

void set_word(Vloopback& rtl, unsigned board, std::uint32_t number) {
  for (unsigned i = 0; i < kPlaces; ++i) rtl.s_axis_tdata[kPlaces * board + i] = number * (i + 1);
}

bool is_word(const Vloopback& rtl, unsigned board, std::uint32_t number) {
  for (unsigned i = 0; i < kPlaces; ++i)
    if (rtl.m_axis_tdata[kPlaces * board + i] != number * (i + 1)) return false;
  return true;
}

void clock(Vloopback& rtl) {
  rtl.clk = 1;
  rtl.eval();
  rtl.clk = 0;
  rtl.eval();
}

}  // namespace

int main() {
  Vloopback rtl;
  rtl.clk = 0;
  rtl.rst = 1;
  rtl.s_axis_tkeep = ~std::uint32_t{0};
  rtl.s_axis_tlast = 0;
  rtl.s_axis_tvalid = 0;
  rtl.m_axis_tready = 0;
  rtl.eval();
  for (unsigned i = 0; i < 100; ++i) clock(rtl);
  rtl.rst = 0;
  unsigned sent = 0, turned = 0, came = 0, cycle = 0, first = 0, begin = 0;
  for (; cycle < kAtMost && came < kWords; ++cycle) {
    // Board 1 gives back what it gets, in the same cycle.
    set_word(rtl, 0, sent);
    for (unsigned i = 0; i < kPlaces; ++i) rtl.s_axis_tdata[kPlaces + i] = rtl.m_axis_tdata[kPlaces + i];
    const unsigned got = rtl.m_axis_tvalid >> 1U & 1U, takes = rtl.s_axis_tready >> 1U & 1U;
    const unsigned offers = rtl.up == 3 && sent < kWords ? 1U : 0U;
    rtl.s_axis_tvalid = static_cast<std::uint8_t>(offers | got << 1U);
    rtl.m_axis_tready = static_cast<std::uint8_t>(1U | takes << 1U);
    rtl.eval();
    if (offers != 0 && sent == 0) begin = cycle;
    sent += offers & rtl.s_axis_tready;
    turned += got & takes;
    if ((rtl.m_axis_tvalid & 1U) != 0) {
      if (!is_word(rtl, 0, came)) {
        std::printf("loopback: word %u is wrong\n", came);
        return 1;
      }
      if (came++ == 0) first = cycle;
    }
    clock(rtl);
  }
  const bool is_right = came == kWords && turned == kWords && rtl.lost_flits == 0;
  std::printf("loopback: %s, %u words there and back, the first in %u cycles, then %.4f a cycle\n",
              is_right ? "right" : "WRONG", came, first - begin, (kWords - 1.0) / (cycle - 1 - first));
  rtl.final();
  return is_right ? 0 : 1;
}
