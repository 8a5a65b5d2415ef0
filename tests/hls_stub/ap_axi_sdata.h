// A stand-in for Vitis' <ap_axi_sdata.h>: ap_axiu<WData, WUser, WId, WDest>, what a stream carries whose port
// has the side channels of AXI4-Stream (AMD, Vitis High-Level Synthesis User Guide UG1399, "AXI4-Stream
// Interfaces with Side-Channels"). Only what kernels here use: data, keep, last, dest; data wider than 64
// bits has nothing but range() of up to 64 of them.
#ifndef FABRICMARK_STUB_AP_AXI_SDATA_H
#define FABRICMARK_STUB_AP_AXI_SDATA_H

#include <ap_int.h>

#include <cassert>
#include <cstdint>
#include <type_traits>

#if defined(FABRICMARK_STUB_AP_INT_H)
namespace fabricmark_stub {

/// Bits of a wide number.
template <int Width>
struct wide {
  struct bits_of {
    wide& of;
    int high, low;
    operator std::uint64_t() const {
      std::uint64_t value = 0;
      for (int i = high; i >= low; --i) value = value << 1 | of.bit(i);
      return value;
    }
    bits_of& operator=(std::uint64_t value) {
      for (int i = low; i <= high; ++i) of.set(i, (value >> (i - low)) & 1);
      return *this;
    }
  };
  bits_of range(int high, int low) {
    assert(0 <= low && low <= high && high < Width && high - low < 64);
    return {*this, high, low};
  }
  std::uint64_t range(int high, int low) const {
    assert(0 <= low && low <= high && high < Width && high - low < 64);
    return bits_of{const_cast<wide&>(*this), high, low};
  }

 private:
  std::uint64_t bit(int i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(int i, std::uint64_t value) {
    words_[i / 64] = (words_[i / 64] & ~(std::uint64_t(1) << (i % 64))) | value << (i % 64);
  }
  std::uint64_t words_[(Width + 63) / 64];
};

template <int Width>
using data_of =
    typename std::conditional<(Width <= 64), ap_uint<(Width <= 64 ? Width : 1)>, wide<Width>>::type;

}  // namespace fabricmark_stub
#else
namespace fabricmark_stub {
template <int Width>
using data_of = ap_uint<Width>;
}  // namespace fabricmark_stub
#endif

template <int WData, int WUser, int WId, int WDest>
struct ap_axiu {
  static_assert(WUser == 0 && WId == 0, "the stub has neither user nor id");
  fabricmark_stub::data_of<WData> data;
  ap_uint<(WData + 7) / 8> keep;
  ap_uint<1> last;
  ap_uint<(WDest > 0 ? WDest : 1)> dest;
};

#endif
