// Two ends of a credit link over the wrappers of a vendor's core: what the wrapper gives the core follows the
// rules of its document, and over a core that stalls, idles, damages, says so in its way, and loses its link,
// words come in order.
#include <array>
#include <deque>
#include <memory>

#include "Vfm_test_wrapper.h"
#include "bench.hpp"

namespace {

using namespace fabricmark::bench;

enum Kind { kCmac, kLowLatency, kAurora, kSerialLite };
constexpr Kind kKind = static_cast<Kind>(FABRICMARK_KIND);
constexpr bool kIsEthernet = kKind == kCmac || kKind == kLowLatency;
constexpr std::size_t kBytes = kKind == kCmac ? 64 : kKind == kLowLatency ? 32 : 16;

// Of all seeds.
std::uint64_t words = 0, lost_words = 0;

/// A frame, a packet or a burst in the core.
struct Frame {
  Bytes bytes;
  bool error = false;         // at the end of it
  std::size_t noise = ~0ULL;  // the word before which an error comes without a word
  std::uint64_t due = 0;
};

Bytes bytes_of(std::uint64_t number, std::size_t end) {
  Bytes bytes(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i)
    bytes[i] = static_cast<std::uint8_t>(i < 8 ? number >> 8 * i : number * 5 + 11 * i + end);
  return bytes;
}

Bytes reversed(const Bytes& bytes) { return {bytes.rbegin(), bytes.rend()}; }

struct End {
  double offers = 1, takes = 1;
  bool offered = false;
  std::uint64_t number = 0, next = 0;
  std::uint32_t got = 0, missing = 0;
  // The core.
  Bytes leaving;
  bool in_frame = false, has_ended = false;
  unsigned stall = 0;
  std::deque<Frame> coming;
  std::size_t at = 0;
  bool had_noise = false;
  unsigned idle = 0, unlike = 0;
};

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed), rtl_(std::make_unique<Vfm_test_wrapper>()) {
    for (End& end : ends_) {
      end.offers = random_.rate(10);
      end.takes = random_.rate(20);
    }
    falls_ = random_.number(0, 2) == 0;
    errors_ = random_.number(0, 1) * 0.005;
    stalls_ = random_.number(0, 1) * 0.1;
    idles_ = random_.number(0, 1) * 0.2;
    latency_ = random_.number(1, 100);
    ratio_ = random_.number(970, 1030);
    rtl_->fault = static_cast<std::uint8_t>(fault);
    rtl_->is_up = 3;
    reset(*rtl_, 4);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_->final(); }

  std::uint64_t run() {
    constexpr std::uint64_t kBusy = 5000, kQuiet = 5000;
    unsigned phase = 0;  // of the other clock, in thousandths of a cycle
    for (cycle_ = 0; cycle_ < kBusy + kQuiet; ++cycle_) {
      const bool is_quiet = cycle_ >= kBusy;
      if (is_quiet) errors_ = 0;
      fall(is_quiet);
      for (phase += ratio_; kKind == kLowLatency && phase >= 1000; phase -= 1000) receive_edge();
      for (std::size_t i = 0; i < 2; ++i) drive(i, is_quiet);
      settle(*rtl_);
      for (std::size_t i = 0; i < 2; ++i) look(i);
      edge(*rtl_);
      // The wrappers' links are down in reset, which begins an epoch.
      if (cycle_ == 500) epoch_ = rtl_->epoch;
      if (is_quiet && cycle_ % 100 == 0 && is_at_rest()) break;
    }
    for (std::size_t i = 0; i < 2; ++i) expect_accounts(i);
    return cycle_;
  }

 private:
  /// The link is away for some cycles, for one side or both.
  void fall(bool is_quiet) {
    const bool is_away = falls_ && !is_quiet && cycle_ % 1500 >= 1400;
    const unsigned up = is_away ? (cycle_ / 1500 % 3) : 3;
    for (std::size_t i = 0; i < 2; ++i) {
      End& end = ends_[i];
      const bool is_up = (up >> i & 1U) != 0;
      if (!is_up) {
        // What has come of a frame is all that comes of it.
        if (end.at > 0) end.coming.pop_front();
        end.at = 0;
        for (Frame& frame : end.coming) frame.due = std::max(frame.due, cycle_ + 1);
      }
      end.unlike = (rtl_->link_up >> i & 1U) == is_up ? 0 : end.unlike + 1;
      expect(end.unlike < 8, "link_up does not follow the core");
    }
    rtl_->is_up = static_cast<std::uint8_t>(up);
  }

  void receive_edge() {
    for (std::size_t i = 0; i < 2; ++i) receive(i);
    rtl_->rx_clk = 0;
    rtl_->eval();
    rtl_->rx_clk = 1;
    rtl_->eval();
  }

  void drive(std::size_t i, bool is_quiet) {
    End& end = ends_[i];
    end.offered = end.offered || (!is_quiet && random_.chance(end.offers));
    set_bits(rtl_->s_axis_tvalid, i, 1, end.offered);
    if (end.offered) set_bytes(rtl_->s_axis_tdata, bytes_of(end.number, i), kBytes * i);
    set_bits(rtl_->m_axis_tready, i, 1, is_quiet || random_.chance(end.takes));
    // Aurora takes 8 cycles for the compensation of clocks.
    if (end.stall > 0) {
      --end.stall;
    } else if (random_.chance(stalls_)) {
      end.stall = kKind == kAurora ? 8 : random_.number(1, 4);
    }
    set_bits(rtl_->tx_ready, i, 1, end.stall == 0);
    if (kKind != kLowLatency) receive(i);
  }

  /// The next word from the core.
  void receive(std::size_t i) {
    End& end = ends_[i];
    set_bits(rtl_->rx_valid, i, 1, 0);
    set_bits(rtl_->rx_error, i, 1, 0);
    const bool is_up = (rtl_->is_up >> i & 1U) != 0;
    if (end.idle > 0) --end.idle;
    if (!is_up || end.coming.empty() || end.coming.front().due > cycle_ || end.idle > 0) return;
    // The Ethernet core of Intel has words without gaps in a frame.
    if (kKind != kLowLatency && random_.chance(idles_)) return;
    Frame& frame = end.coming.front();
    if (frame.noise == end.at / kBytes && !end.had_noise) {
      end.had_noise = true;
      set_bits(rtl_->rx_error, i, 1, 1);
      return;
    }
    end.had_noise = false;
    const std::size_t count = std::min(kBytes, frame.bytes.size() - end.at);
    const auto from = frame.bytes.begin() + static_cast<std::ptrdiff_t>(end.at);
    Bytes word(from, from + static_cast<std::ptrdiff_t>(count));
    word.resize(kBytes, 0xA5);
    set_bytes(rtl_->rx_data, kKind == kLowLatency ? reversed(word) : word, kBytes * i);
    set_bits(rtl_->rx_keep, kBytes * i, kBytes, ones(count));
    set_bits(rtl_->rx_valid, i, 1, 1);
    set_bits(rtl_->rx_first, i, 1, end.at == 0);
    end.at += count;
    const bool is_last = end.at == frame.bytes.size();
    set_bits(rtl_->rx_empty, 6 * i, 6, is_last ? kBytes - count : 0);
    set_bits(rtl_->rx_last, i, 1, is_last);
    if (is_last && frame.error) set_bits(rtl_->rx_error, i, 1, 1);
    if (!is_last) return;
    end.coming.pop_front();
    end.at = 0;
    if (kIsEthernet) end.idle = random_.number(1, 3);
  }

  void look(std::size_t i) {
    End& end = ends_[i];
    if (end.offered && (rtl_->s_axis_tready >> i & 1U) != 0) {
      end.offered = false;
      ++end.number;
    }
    if (((rtl_->m_axis_tvalid & rtl_->m_axis_tready) >> i & 1U) != 0) take_word(i);
    look_at_core(i);
  }

  void take_word(std::size_t i) {
    End& end = ends_[i];
    const Bytes bytes = get_bytes(rtl_->m_axis_tdata, kBytes, kBytes * i);
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), 8);
    expect(bytes == bytes_of(number, 1 - i), "the bytes of a word");
    expect(number >= end.next && number < ends_[1 - i].number, "a word that was not sent, or came before");
    end.missing += static_cast<std::uint32_t>(number - end.next);
    end.next = number + 1;
    ++end.got;
  }

  /// What the wrapper gives the core.
  void look_at_core(std::size_t i) {
    End& end = ends_[i];
    const bool is_valid = (rtl_->tx_valid >> i & 1U) != 0, is_ready = (rtl_->tx_ready >> i & 1U) != 0;
    const bool is_first = (rtl_->tx_first >> i & 1U) != 0, is_last = (rtl_->tx_last >> i & 1U) != 0;
    if (kIsEthernet) expect(is_valid || !end.in_frame, "a gap in a frame");
    if (kKind == kSerialLite) expect(!is_valid || !end.has_ended, "no gap between two bursts");
    end.has_ended = false;
    if (!is_valid || !is_ready) return;
    if (kKind == kLowLatency || kKind == kSerialLite)
      expect(is_first == !end.in_frame, "the start of a frame");
    Bytes word = get_bytes(rtl_->tx_data, kBytes, kBytes * i);
    std::size_t count = kBytes;
    if (kKind == kLowLatency) {
      word = reversed(word);
      count -= is_last ? get_bits(rtl_->tx_empty, 6 * i, 6) : 0;
    } else {
      const std::uint64_t keep = get_bits(rtl_->tx_keep, kBytes * i, kBytes);
      count = static_cast<std::size_t>(__builtin_popcountll(keep));
      expect(keep == ones(count) && (count == kBytes || is_last), "tkeep");
    }
    end.leaving.insert(end.leaving.end(), word.begin(), word.begin() + static_cast<std::ptrdiff_t>(count));
    end.in_frame = !is_last;
    end.has_ended = is_last;
    if (is_last) send(i);
  }

  void send(std::size_t i) {
    Frame frame{ends_[i].leaving};
    ends_[i].leaving.clear();
    if (kIsEthernet) {
      expect(frame.bytes.size() >= 60, "a frame that is too short");
      expect(frame.bytes[5] == 1 - i && frame.bytes[11] == i, "the addresses of a frame");
      expect(frame.bytes[12] == 0x88 && frame.bytes[13] == 0xB5, "the ethertype of a frame");
    }
    if (((rtl_->is_up >> i | rtl_->is_up >> (1 - i)) & 1U) == 0) return;
    if (random_.chance(errors_)) damage(frame);
    frame.due = cycle_ + latency_;
    ends_[1 - i].coming.push_back(frame);
  }

  void damage(Frame& frame) {
    const unsigned at = random_.number(kIsEthernet ? 14 : 0, static_cast<unsigned>(frame.bytes.size()) - 1);
    frame.bytes[at] ^= 0x10U;
    frame.error = kIsEthernet || (kKind == kAurora && random_.chance(0.5));
    if (!frame.error) frame.noise = at / kBytes;
  }

  std::uint32_t counter(std::uint64_t port, std::size_t end) const {
    return static_cast<std::uint32_t>(port >> 32 * end);
  }

  bool is_at_rest() const {
    for (std::size_t i = 0; i < 2; ++i)
      if (ends_[i].got + unseen(i) != ends_[1 - i].number) return false;
    return true;
  }

  /// Words that did not come and were counted, at the receiver.
  std::uint32_t unseen(std::size_t i) const { return counter(rtl_->lost_flits, i); }

  void expect_accounts(std::size_t i) {
    const End& end = ends_[i];
    expect(rtl_->up == 3, "the link is not up");
    expect(counter(rtl_->words_in, i) == end.number && counter(rtl_->words_out, i) == end.got,
           "words_in or words_out");
    expect(end.got > 0 && end.next + 400 > ends_[1 - i].number, "words stopped coming");
    words += end.got;
    lost_words += end.missing;
    if (falls_) {
      expect(rtl_->epoch != epoch_, "the link fell without a new epoch");
    } else {
      expect(rtl_->epoch == epoch_, "a new epoch without a cause");
      expect(end.got + unseen(i) == ends_[1 - i].number, "a word that is missing was not counted as lost");
    }
  }

  Random random_;
  std::unique_ptr<Vfm_test_wrapper> rtl_;
  std::array<End, 2> ends_;
  std::uint64_t cycle_ = 0, latency_ = 1;
  std::uint16_t epoch_ = 0;
  double errors_ = 0, stalls_ = 0, idles_ = 0;
  unsigned ratio_ = 1000;
  bool falls_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const int status = over_seeds(argc, argv, "wrapper",
                                [](std::uint64_t seed, unsigned fault) { return Bench(seed, fault).run(); });
  std::printf("%llu words came, %llu were lost\n", static_cast<unsigned long long>(words),
              static_cast<unsigned long long>(lost_words));
  return status == 0 && lost_words == 0 ? 2 : status;
}
