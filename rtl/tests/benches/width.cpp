// The conversion of widths, of several pairs at once: the bytes of each frame stand in its flits without
// gaps, and come back in words of the old width. Without stalls a frame takes as many cycles as the wider
// count of its words and flits says.
#include <array>
#include <deque>
#include <memory>

#include "Vfm_test_width.h"
#include "bench.hpp"

namespace {

using namespace fabricmark::bench;

constexpr std::size_t kPairs = 4, kPlace = 64;

/// What goes by at one place of one pair, as frames.
struct Watch {
  std::deque<Bytes> due;
  std::size_t at = 0;
};

struct Pair {
  std::size_t word = 0, flit = 0;
  Bytes frame;
  std::size_t at = 0;
  bool offered = false;
  std::array<Watch, 2> watches;  // flits, words
  std::uint64_t flits = 0, frames = 0;
};

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed), rtl_(std::make_unique<Vfm_test_width>()) {
    is_fast_ = random_.number(0, 3) == 0;
    for (double& rate : rates_) rate = is_fast_ ? 1 : random_.rate(10);
    longest_ = is_fast_ ? 4000 : 600;
    rtl_->fault = static_cast<std::uint8_t>(fault);
    reset(*rtl_);
    for (std::size_t i = 0; i < kPairs; ++i) {
      pairs_[i].word = get_bits(rtl_->sizes, 32 * i, 16);
      pairs_[i].flit = get_bits(rtl_->sizes, 32 * i + 16, 16);
    }
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_->final(); }

  std::uint64_t run() {
    constexpr unsigned kOffered = 1000, kAtMost = 60000;
    unsigned cycle = 0;
    bool is_over = false;
    for (; cycle < kAtMost && !is_over; ++cycle) {
      is_over = cycle > kOffered;
      for (std::size_t i = 0; i < kPairs; ++i) {
        drive(i, cycle > kOffered);
        is_over = is_over && pairs_[i].frame.empty() && pairs_[i].watches[1].due.empty();
      }
      settle(*rtl_);
      for (std::size_t i = 0; i < kPairs; ++i) look(i);
      if (is_fast_ && cycle == kOffered) expect_rates(cycle);
      edge(*rtl_);
    }
    expect(is_over, "a frame did not come out");
    return cycle;
  }

 private:
  void drive(std::size_t i, bool is_over) {
    Pair& pair = pairs_[i];
    if (pair.frame.empty() && !is_over) {
      pair.frame = random_.bytes(is_fast_ ? longest_ : random_.number(1, longest_));
      pair.at = 0;
      for (Watch& watch : pair.watches) watch.due.push_back(pair.frame);
    }
    if (!pair.offered && !pair.frame.empty() && random_.chance(rates_[0])) {
      pair.offered = true;
      const std::size_t count = std::min(pair.word, pair.frame.size() - pair.at);
      Bytes word(pair.frame.begin() + static_cast<std::ptrdiff_t>(pair.at),
                 pair.frame.begin() + static_cast<std::ptrdiff_t>(pair.at + count));
      word.resize(pair.word, 0xEE);
      set_bytes(rtl_->s_axis_tdata, word, kPlace * i);
      const bool is_last = pair.at + count == pair.frame.size();
      for (std::size_t byte = 0; byte < pair.word; ++byte)
        // Before the end of a frame tkeep says nothing.
        set_bits(rtl_->s_axis_tkeep, kPlace * i + byte, 1, is_last ? byte < count : random_.number(0, 1));
      set_bits(rtl_->s_axis_tlast, i, 1, is_last);
    }
    set_bits(rtl_->s_axis_tvalid, i, 1, pair.offered);
    set_bits(rtl_->passes, i, 1, random_.chance(rates_[1]));
    set_bits(rtl_->m_axis_tready, i, 1, random_.chance(rates_[2]));
  }

  void look(std::size_t i) {
    Pair& pair = pairs_[i];
    if (pair.offered && get_bits(rtl_->s_axis_tready, i, 1) != 0) {
      pair.offered = false;
      pair.at += pair.word;
      if (pair.at >= pair.frame.size()) pair.frame.clear();
    }
    if ((get_bits(rtl_->flit_tvalid, i, 1) & get_bits(rtl_->flit_tready, i, 1)) != 0) {
      ++pair.flits;
      watch(pair.watches[0], pair.flit, get_bytes(rtl_->flit_tdata, kPlace, kPlace * i),
            get_bytes(rtl_->flit_tkeep, kPlace / 8, kPlace / 8 * i), get_bits(rtl_->flit_tlast, i, 1) != 0);
    }
    if ((get_bits(rtl_->m_axis_tvalid, i, 1) & get_bits(rtl_->m_axis_tready, i, 1)) != 0) {
      const bool last = get_bits(rtl_->m_axis_tlast, i, 1) != 0;
      pair.frames += last ? 1U : 0U;
      watch(pair.watches[1], pair.word, get_bytes(rtl_->m_axis_tdata, kPlace, kPlace * i),
            get_bytes(rtl_->m_axis_tkeep, kPlace / 8, kPlace / 8 * i), last);
    }
  }

  static void watch(Watch& watch, std::size_t width, const Bytes& word, const Bytes& keep, bool last) {
    expect(!watch.due.empty(), "a word that nobody sent");
    const Bytes& frame = watch.due.front();
    const std::size_t count = std::min(width, frame.size() - watch.at);
    for (std::size_t byte = 0; byte < kPlace; ++byte)
      expect(((keep[byte / 8] >> byte % 8) & 1U) == (byte < count ? 1U : 0U), "tkeep");
    expect(std::equal(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(count),
                      frame.begin() + static_cast<std::ptrdiff_t>(watch.at)),
           "the bytes of a word");
    watch.at += count;
    expect(last == (watch.at == frame.size()), "tlast");
    if (!last) return;
    watch.due.pop_front();
    watch.at = 0;
  }

  void expect_rates(unsigned cycles) {
    for (const Pair& pair : pairs_) {
      const std::size_t words = (longest_ + pair.word - 1) / pair.word,
                        flits = (longest_ + pair.flit - 1) / pair.flit;
      // A cycle between two frames in each of both, and some at the start.
      const double least = static_cast<double>(cycles) / static_cast<double>(std::max(words, flits) + 2);
      expect(static_cast<double>(pair.frames) > least - 2, "the rate of a pair");
    }
  }

  Random random_;
  std::unique_ptr<Vfm_test_width> rtl_;
  std::array<Pair, kPairs> pairs_;
  std::array<double, 3> rates_{};
  bool is_fast_ = false;
  unsigned longest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return over_seeds(argc, argv, "width",
                    [](std::uint64_t seed, unsigned fault) { return Bench(seed, fault).run(); });
}
