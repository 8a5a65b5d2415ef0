// Two credit links between three boards over a switch that loses and damages frames: the words that come out
// are a part of those that went in, in order, and each one that is missing was counted as lost. The first
// board has both of its ends behind one port, which has to serve both alike.
#include "bench.hpp"

#include <array>
#include <deque>
#include <memory>

#include "Vfm_test_network.h"

namespace {

using namespace fabricmark::bench;

constexpr std::size_t kBytes = 16, kEnds = 4, kPorts = 3;
// Of the top's ends.
constexpr std::array<std::size_t, kEnds> kPeer{2, 3, 0, 1};
// Of all seeds.
std::uint64_t words = 0, lost_words = 0;

struct Frame {
  Bytes bytes;
  bool error = false;
  std::uint64_t due = 0;
};

struct Word {
  std::uint64_t number = 0;
  std::size_t bytes = kBytes;
  bool last = false;
};

Bytes bytes_of(std::uint64_t number, std::size_t end) {
  Bytes bytes(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i)
    bytes[i] = static_cast<std::uint8_t>(i < 8 ? number >> 8 * i : number * 7 + 13 * i + end);
  return bytes;
}

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed), rtl_(std::make_unique<Vfm_test_network>()) {
    for (std::size_t i = 0; i < kEnds; ++i) {
      offers_[i] = random_.rate(5);
      takes_[i] = random_.rate(20);
    }
    is_saturated_ = random_.number(0, 3) == 0;
    ready_ = is_saturated_ ? 1 : random_.rate(30);
    // Two seeds of three lose something.
    loss_ = random_.number(0, 2) * 0.03;
    errors_ = random_.number(0, 1) * 0.01;
    latency_ = random_.number(1, 150);
    if (is_saturated_) {
      loss_ = errors_ = 0;
      latency_ = 1;
      for (std::size_t i = 0; i < kEnds; ++i) offers_[i] = takes_[i] = 1;
    }
    rtl_->fault = static_cast<std::uint8_t>(fault);
    rtl_->link_up = 7;
    reset(*rtl_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_->final(); }

  std::uint64_t run() {
    constexpr std::uint64_t kBusy = 6000, kQuiet = 16000;
    for (cycle_ = 0; cycle_ < kBusy + kQuiet; ++cycle_) {
      const bool is_quiet = cycle_ >= kBusy;
      if (is_quiet) loss_ = errors_ = 0;
      rtl_->m_axis_tready = 0;
      rtl_->s_axis_tvalid = 0;
      for (std::size_t i = 0; i < kEnds; ++i) drive_end(i, is_quiet);
      for (std::size_t port = 0; port < kPorts; ++port) drive_port(port);
      settle(*rtl_);
      for (std::size_t i = 0; i < kEnds; ++i) look_at_end(i);
      for (std::size_t port = 0; port < kPorts; ++port) look_at_port(port);
      edge(*rtl_);
      if (is_quiet && cycle_ % 100 == 0 && is_at_rest()) break;
      if (cycle_ + 1 == kBusy && is_saturated_) expect_fairness();
    }
    for (std::size_t i = 0; i < kEnds; ++i) expect_accounts(i);
    return cycle_;
  }

 private:
  std::uint32_t counter(std::uint32_t* port, std::size_t end) const { return port[end]; }

  void drive_end(std::size_t i, bool is_quiet) {
    if (is_quiet ? true : random_.chance(takes_[i]))
      rtl_->m_axis_tready |= static_cast<std::uint8_t>(1U << i);
    if (!offered_[i] && !is_quiet && random_.chance(offers_[i])) {
      offered_[i] = true;
      offer_[i].last = random_.number(0, 12) == 0;
      offer_[i].bytes = offer_[i].last ? random_.number(8, kBytes) : kBytes;
    }
    if (!offered_[i]) return;
    rtl_->s_axis_tvalid |= static_cast<std::uint8_t>(1U << i);
    set_bytes(rtl_->s_axis_tdata, bytes_of(offer_[i].number, i), kBytes * i);
    set_bits(rtl_->s_axis_tkeep, kBytes * i, kBytes, ones(offer_[i].bytes));
    set_bits(rtl_->s_axis_tlast, i, 1, offer_[i].last);
  }

  void look_at_end(std::size_t i) {
    if (offered_[i] && (rtl_->s_axis_tready >> i & 1U) != 0) {
      sent_[i].push_back(offer_[i]);
      ++offer_[i].number;
      offered_[i] = false;
    }
    if ((rtl_->m_axis_tvalid & rtl_->m_axis_tready) >> i & 1U) take_word(i);
  }

  void take_word(std::size_t i) {
    const Bytes bytes = get_bytes(rtl_->m_axis_tdata, kBytes, kBytes * i);
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), 8);
    auto& due = sent_[kPeer[i]];
    while (!due.empty() && due.front().number < number) {
      due.pop_front();
      ++missing_[i];
    }
    expect(!due.empty() && due.front().number == number, "a word that was not sent, or came before");
    expect(bytes == bytes_of(number, kPeer[i]), "the bytes of a word");
    expect(get_bits(rtl_->m_axis_tkeep, kBytes * i, kBytes) == ones(due.front().bytes), "tkeep of a word");
    expect((rtl_->m_axis_tlast >> i & 1U) == due.front().last, "tlast of a word");
    due.pop_front();
    ++got_[i];
  }

  void drive_port(std::size_t port) {
    const auto bit = static_cast<std::uint8_t>(1U << port);
    rtl_->tx_axis_tready = static_cast<std::uint8_t>(random_.chance(ready_) ? rtl_->tx_axis_tready | bit
                                                                            : rtl_->tx_axis_tready & ~bit);
    auto& queue = to_port_[port];
    rtl_->rx_axis_tvalid &= static_cast<std::uint8_t>(~bit);
    if (queue.empty() || queue.front().due > cycle_) return;
    const Bytes& bytes = queue.front().bytes;
    const std::size_t count = std::min(kBytes, bytes.size() - come_[port]);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(come_[port]);
    set_bytes(rtl_->rx_axis_tdata, Bytes(from, from + static_cast<std::ptrdiff_t>(count)), kBytes * port);
    set_bits(rtl_->rx_axis_tkeep, kBytes * port, kBytes, ones(count));
    rtl_->rx_axis_tvalid |= bit;
    come_[port] += count;
    const bool is_last = come_[port] == bytes.size();
    set_bits(rtl_->rx_axis_tlast, port, 1, is_last);
    set_bits(rtl_->rx_axis_tuser, port, 1, is_last && queue.front().error);
    if (!is_last) return;
    queue.pop_front();
    come_[port] = 0;
  }

  void look_at_port(std::size_t port) {
    if (((rtl_->tx_axis_tvalid & rtl_->tx_axis_tready) >> port & 1U) == 0) return;
    Bytes& frame = leaving_[port];
    const std::uint64_t keep = get_bits(rtl_->tx_axis_tkeep, kBytes * port, kBytes);
    const Bytes word =
        get_bytes(rtl_->tx_axis_tdata, static_cast<std::size_t>(__builtin_popcountll(keep)), kBytes * port);
    frame.insert(frame.end(), word.begin(), word.end());
    if ((rtl_->tx_axis_tlast >> port & 1U) == 0) return;
    const std::size_t to = frame[5];
    expect(to < kPorts && frame[11] == port, "the addresses of a frame");
    if (!random_.chance(loss_)) to_port_[to].push_back({frame, random_.chance(errors_), cycle_ + latency_});
    frame.clear();
  }

  bool is_at_rest() {
    for (std::size_t i = 0; i < kEnds; ++i) {
      const std::uint32_t in = counter(rtl_->words_in.data(), kPeer[i]);
      if (in != counter(rtl_->words_out.data(), i) + counter(rtl_->lost_flits.data(), i)) return false;
    }
    return true;
  }

  void expect_accounts(std::size_t i) {
    missing_[i] += static_cast<std::uint32_t>(sent_[kPeer[i]].size());
    expect(counter(rtl_->words_in.data(), kPeer[i]) == offer_[kPeer[i]].number, "words_in");
    expect(counter(rtl_->words_out.data(), i) == got_[i], "words_out");
    expect(rtl_->epoch == 0 && rtl_->up == 15, "an end began a new epoch");
    expect(counter(rtl_->lost_flits.data(), i) == missing_[i],
           "a word that is missing was not counted as lost");
    expect(got_[i] > 0, "nothing came out");
    words += got_[i];
    lost_words += missing_[i];
    for (std::size_t port = 0; port < kPorts; ++port)
      expect(counter(rtl_->dropped_frames.data(), port) == 0, "a frame was for somebody else");
  }

  /// Both ends behind the port of the first board had words all the time.
  void expect_fairness() {
    const double first = got_[2], second = got_[3];
    expect(first > 1000 && second > 0.9 * first && first > 0.9 * second,
           "one end behind the port had more of it");
  }

  Random random_;
  std::unique_ptr<Vfm_test_network> rtl_;
  std::uint64_t cycle_ = 0, latency_ = 1;
  double ready_ = 1, loss_ = 0, errors_ = 0;
  bool is_saturated_ = false;
  std::array<double, kEnds> offers_{}, takes_{};
  std::array<bool, kEnds> offered_{};
  std::array<Word, kEnds> offer_{};
  std::array<std::deque<Word>, kEnds> sent_;
  std::array<std::uint32_t, kEnds> got_{}, missing_{};
  std::array<std::deque<Frame>, kPorts> to_port_;
  std::array<std::size_t, kPorts> come_{};
  std::array<Bytes, kPorts> leaving_;
};

}  // namespace

int main(int argc, char** argv) {
  const int status = over_seeds(argc, argv, "network",
                                [](std::uint64_t seed, unsigned fault) { return Bench(seed, fault).run(); });
  std::printf("%llu words came, %llu were lost and counted\n", static_cast<unsigned long long>(words),
              static_cast<unsigned long long>(lost_words));
  return status == 0 && lost_words == 0 ? 2 : status;
}
