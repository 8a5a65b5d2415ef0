// The FIFO between two clocks, at ratios from 0.3 to 3 and any phase: all words come out, in order. A count
// that changes between two edges of the other clock is read there with some of its bits as they were, as
// hardware may do. Words that come as fast as they can leave at the rate of the slower clock.
#include <deque>

#include "Vfm_async_fifo.h"
#include "bench.hpp"

namespace {

using namespace fabricmark::bench;

constexpr std::size_t kBytes = 8;
constexpr std::uint32_t kLateBits = 15;

struct Word {
  Bytes bytes;
  std::uint8_t keep = 0;
  bool last = false, user = false;
};

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed) {
    // Periods in ps.
    s_period_ = random_.number(3000, 10000);
    m_period_ =
        static_cast<std::uint64_t>(static_cast<double>(s_period_) * random_.number(300, 3000) / 1000.0);
    s_next_ = random_.number(1, 10000);
    m_next_ = random_.number(1, 10000);
    offers_ = random_.rate(20);
    takes_ = random_.rate(20);
    is_late_ = random_.number(0, 2) > 0;
    rtl_.fault = static_cast<std::uint8_t>(fault);
    // All begins as anything; and where hardware sees the level of a reset, the simulator sees its edge.
    rtl_.rst = 0;
    for (unsigned i = 0; i < 6; ++i) {
      rtl_.s_clk = i % 2;
      rtl_.m_clk = i % 2;
      rtl_.eval();
    }
    rtl_.rst = 1;
    rtl_.eval();
    rtl_.rst = 0;
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_.final(); }

  std::uint64_t run() {
    constexpr std::uint64_t kWords = 1500, kAtMost = 60000;
    std::uint64_t edges = 0;
    for (; edges < kAtMost && taken_ < kWords; ++edges) {
      if (edges == 40 && random_.number(0, 1) == 0) reset();
      // Edges at the same time are one after the other, either first.
      if (s_next_ < m_next_ || (s_next_ == m_next_ && edges % 2 == 0)) {
        write_edge();
        s_next_ += s_period_;
      } else {
        read_edge();
        m_next_ += m_period_;
      }
    }
    expect(taken_ >= kWords, "words did not come out");
    if (offers_ == 1 && takes_ == 1) expect_rate(edges);
    return edges;
  }

 private:
  /// Reset in the middle of words that have not come out; a short pulse.
  void reset() {
    rtl_.rst = 1;
    rtl_.eval();
    expect(!rtl_.s_axis_tready && !rtl_.m_axis_tvalid, "a reset that does nothing");
    rtl_.rst = 0;
    rtl_.eval();
    on_way_.clear();
    taken_ = 0;
    is_offered_ = false;
    s_changed_ = m_changed_ = false;
    first_ = 0;
  }

  void write_edge() {
    rtl_.m_clk = 0;
    if (!is_offered_ && random_.chance(offers_)) {
      is_offered_ = true;
      offer_ = {random_.bytes(kBytes), static_cast<std::uint8_t>(random_.number(0, 255)),
                random_.number(0, 1) == 1, random_.chance(0.5)};
    }
    rtl_.s_axis_tvalid = is_offered_;
    set_bytes(rtl_.s_axis_tdata, offer_.bytes.empty() ? Bytes(kBytes) : offer_.bytes);
    rtl_.s_axis_tkeep = offer_.keep;
    rtl_.s_axis_tlast = offer_.last;
    rtl_.s_axis_tuser = offer_.user;
    rtl_.s_late = late(m_changed_);
    m_changed_ = false;
    rtl_.s_clk = 0;
    rtl_.eval();
    const bool accepts = is_offered_ && rtl_.s_axis_tready;
    rtl_.s_clk = 1;
    rtl_.eval();
    s_changed_ = true;
    if (!accepts) return;
    on_way_.push_back(offer_);
    is_offered_ = false;
  }

  void read_edge() {
    rtl_.m_axis_tready = random_.chance(takes_);
    rtl_.m_late = late(s_changed_);
    s_changed_ = false;
    rtl_.m_clk = 0;
    rtl_.eval();
    const bool takes = rtl_.m_axis_tvalid && rtl_.m_axis_tready;
    const Word word{get_bytes(rtl_.m_axis_tdata, kBytes), rtl_.m_axis_tkeep, rtl_.m_axis_tlast != 0,
                    rtl_.m_axis_tuser != 0};
    rtl_.m_clk = 1;
    rtl_.eval();
    m_changed_ = true;
    if (!takes) return;
    expect(!on_way_.empty(), "a word that was not sent");
    const Word& due = on_way_.front();
    expect(due.bytes == word.bytes && due.keep == word.keep && due.last == word.last && due.user == word.user,
           "another word than the next one");
    on_way_.pop_front();
    if (++taken_ == 1) first_ = m_next_;
  }

  /// Which bits are read as they were: only where the other side had an edge since the last one of this side.
  std::uint8_t late(bool has_changed) {
    return static_cast<std::uint8_t>(is_late_ && has_changed ? random_.number(0, kLateBits) : 0);
  }

  void expect_rate(std::uint64_t edges) {
    const auto slower = static_cast<double>(std::max(s_period_, m_period_));
    const auto words = static_cast<double>(taken_ - 1);
    const auto time = static_cast<double>(m_next_ - m_period_ - first_);
    expect(edges > 0 && time / words < 1.02 * slower, "less than the rate of the slower clock");
  }

  Vfm_async_fifo rtl_;
  Random random_;
  std::uint64_t s_period_ = 1, m_period_ = 1, s_next_ = 0, m_next_ = 0, taken_ = 0, first_ = 0;
  double offers_ = 1, takes_ = 1;
  bool is_late_ = false, is_offered_ = false, s_changed_ = false, m_changed_ = false;
  Word offer_;
  std::deque<Word> on_way_;
};

}  // namespace

int main(int argc, char** argv) {
  return over_seeds(argc, argv, "fifo",
                    [](std::uint64_t seed, unsigned fault) { return Bench(seed, fault).run(); });
}
