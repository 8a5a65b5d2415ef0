// Two ends of fm_cl_end over two wires at the reference points of credit links, which the model's tests
// share. Usage: reference_points [FAULT [PART OF A NAME]]; prints the points that are missed and ends with 1.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "Vfm_cl_end.h"
#include "unit/credit_link_points.hpp"

namespace {

using namespace fabricmark::credit_link::points;

constexpr std::size_t kWords = 4;  // of 32 bits, of a flit of 128
using Bits = std::array<std::uint32_t, kWords>;
constexpr std::uint32_t kCreditOnly = 1U << (36 - 32);  // in the second of a header

struct Flit {
  Bits bits{};
  bool is_there = false;
  bool first = false;
};

class Pair {
 public:
  Pair(const Scenario& scenario, unsigned fault) {
    for (std::size_t i = 0; i < 2; ++i) {
      ends_[i] = std::make_unique<Vfm_cl_end>();
      wires_[i].resize(scenario.latency);
      Vfm_cl_end& end = *ends_[i];
      end.cfg_packet = end.cfg_credit = static_cast<std::uint16_t>(scenario.packet);
      end.cfg_transmit = static_cast<std::uint16_t>(2 * scenario.packet);
      end.cfg_receive = static_cast<std::uint16_t>(scenario.receive);
      end.cfg_timeout = 64;
      end.cfg_sync_interval = 1;
      end.cfg_resync_errors = 16;
      end.cfg_resync_window = 4096;
      end.cfg_framed = 1;
      end.cfg_by_flit = scenario.by_flit;
      end.fault = static_cast<std::uint8_t>(fault);
      end.link_up = end.tx_axis_tready = 1;
      end.s_axis_tkeep = 0xFFFF;
      end.rst = 1;
      clock(end);
      end.rst = 0;
    }
    while (!(ends_[0]->up && ends_[1]->up)) step({});
    for (std::size_t i = 0; i < 4 * scenario.latency; ++i) step({});  // the last SYNC flits are gone
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    for (auto& end : ends_) end->final();
  }
  std::array<Deeds, 2> step(const std::array<Wishes, 2>& wishes) {
    std::array<Deeds, 2> deeds;
    for (std::size_t i = 0; i < 2; ++i) deeds[i] = show(*ends_[i], wishes[i], wires_[1 - i][at_]);
    for (std::size_t i = 0; i < 2; ++i) {
      Flit& slot = wires_[i][at_];
      slot.is_there = ends_[i]->tx_axis_tvalid;
      slot.first = (ends_[i]->tx_axis_tuser & 1U) != 0;
      std::memcpy(slot.bits.data(), ends_[i]->tx_axis_tdata.data(), sizeof(Bits));
      deeds[i].is_credit_only = slot.is_there && slot.first && (slot.bits[1] & kCreditOnly) != 0;
    }
    for (auto& end : ends_) clock(*end);
    at_ = at_ + 1 == wires_[0].size() ? 0 : at_ + 1;
    return deeds;
  }

 private:
  static void clock(Vfm_cl_end& end) {
    end.clk = 0;
    end.eval();
    end.clk = 1;
    end.eval();
  }
  static Deeds show(Vfm_cl_end& end, const Wishes& wishes, const Flit& received) {
    end.s_axis_tdata[0] = static_cast<std::uint32_t>(wishes.word);
    end.s_axis_tvalid = wishes.offers;
    end.s_axis_tlast = wishes.is_last;
    end.m_axis_tready = wishes.takes;
    end.rx_axis_tvalid = received.is_there;
    end.rx_axis_tuser = received.first ? 1 : 0;
    std::memcpy(end.rx_axis_tdata.data(), received.bits.data(), sizeof(Bits));
    end.clk = 0;
    end.eval();
    return {.accepted = wishes.offers && end.s_axis_tready,
            .delivered = wishes.takes && end.m_axis_tvalid,
            .received = received.is_there && !received.first,
            .word = end.m_axis_tdata[0]};
  }
  std::array<std::unique_ptr<Vfm_cl_end>, 2> ends_;
  std::array<std::vector<Flit>, 2> wires_;
  std::size_t at_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const unsigned fault = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
  const std::string wanted = argc > 2 ? argv[2] : "";
  auto points = reference_points();
  std::erase_if(points, [&](const Point& point) { return point.name.find(wanted) == std::string::npos; });
  std::size_t missed = 0;
  for (const Point& point : points) {
    Pair pair(point.scenario, fault);
    const double value = point.figure(Play(pair, point.scenario).figures());
    if (std::abs(value - point.value) <= point.tolerance) continue;
    ++missed;
    std::printf("%s: %.5g in place of %.5g\n", point.name.c_str(), value, point.value);
  }
  std::printf("%zu reference points, %zu missed\n", points.size(), missed);
  return missed == 0 ? 0 : 1;
}
