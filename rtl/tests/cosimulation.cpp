// Two ends of fm_cl_end beside two of LinkEnd, cycle for cycle, over one pair of wires that hold up, lose,
// repeat and damage flits, and fall. Usage: cosimulation FIRST_SEED RUNS [FAULT]; prints the first difference
// and ends with 1.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "Vfm_cl_end.h"
#include "base/random_bits.hpp"
#include "network/credit_link/link_end.hpp"

namespace {

using namespace fabricmark::credit_link;
using fabricmark::mixed_bits;

constexpr unsigned kBytes = FABRICMARK_WIDTH / 8;
using Bytes = std::array<std::uint8_t, kBytes>;

/// The bytes of a word; bits 48 and above say which bit of it is wrong, and one more.
Bytes bytes_of(std::uint64_t word) {
  Bytes bytes;
  const std::uint64_t number = word & 0xFFFFFFFFFFFFU;
  for (unsigned i = 0; i < kBytes / 8; ++i) {
    const std::uint64_t part = mixed_bits(number * 16 + i);
    std::memcpy(&bytes[8 * i], &part, 8);
  }
  const std::uint64_t wrong = word >> 48U;
  if (wrong > 0) bytes[(wrong - 1) / 8] ^= static_cast<std::uint8_t>(1U << (wrong - 1) % 8);
  return bytes;
}

class Words final : public Payloads {
 public:
  std::uint32_t crc(std::uint32_t before, std::uint64_t word) const override {
    return crc32(before, bytes_of(word));
  }
};

Bytes bytes_of(const Flit& flit) {
  if (!flit.first) return bytes_of(flit.word);
  Bytes bytes{};
  const auto header = pack(flit.header);
  std::memcpy(bytes.data(), header.data(), std::min<std::size_t>(kBytes, header.size()));
  return bytes;
}

struct OnWire {
  Flit flit;
  Bytes bytes;
};
using Slot = std::optional<OnWire>;

struct Settings {
  LinkParameters link;
  std::size_t latency = 1;
  double loss = 0, flip = 0, error = 0, twice = 0;
  bool falls = false;
  bool stands = false;  // sinks take nothing for some time before the link falls
  double offers = 1, takes = 1, ready = 1;
  unsigned frame = 10;
  unsigned words = 0;
};

/// Frames that come twice make those behind them wait.
class Wire {
 public:
  Wire(const Settings& s, std::uint64_t seed) : settings_(s), slots_(s.latency), draw_(seed) {}
  const Slot& out() const { return slots_[at_]; }
  void put(const Flit* flit) {
    if (flit != nullptr) take(*flit);
    slots_[at_].reset();
    if (!waiting_.empty()) {
      slots_[at_] = waiting_.front();
      waiting_.pop_front();
    }
    at_ = (at_ + 1) % slots_.size();
  }

 private:
  static constexpr std::size_t kMostWaiting = 200;
  void take(const Flit& flit) {
    if (flit.first) {
      is_losing_ = draws(settings_.loss);
      frame_.clear();
    }
    if (is_losing_) return;
    OnWire on{flit, bytes_of(flit)};
    if (draws(settings_.flip)) damage(on);
    if (draws(settings_.error)) on.flit.error = true;
    waiting_.push_back(on);
    frame_.push_back(on);
    if (flit.last && waiting_.size() < kMostWaiting && draws(settings_.twice))
      waiting_.insert(waiting_.end(), frame_.begin(), frame_.end());
  }
  bool draws(double probability) {
    return probability > 0 && std::bernoulli_distribution(probability)(draw_);
  }
  void damage(OnWire& on) {
    const unsigned bit = static_cast<unsigned>(draw_() % (on.flit.first ? 160 : 8 * kBytes)) % (8 * kBytes);
    if (on.flit.first) {
      on.bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      const auto header = unpack(on.bytes);
      on.flit.is_header = header.has_value();
      if (header) on.flit.header = *header;
      on.flit.word = 0;
    } else {
      on.flit.word ^= std::uint64_t{bit + 1} << 48U;
      on.bytes = bytes_of(on.flit.word);
    }
  }
  const Settings& settings_;
  std::vector<Slot> slots_;
  std::deque<OnWire> waiting_;
  std::vector<OnWire> frame_;  // the present one, as it goes on
  std::size_t at_ = 0;
  bool is_losing_ = false;
  std::mt19937_64 draw_;
};

Settings draw_settings(std::mt19937_64& draw) {
  const auto number = [&draw](unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(draw);
  };
  const auto rate = [&](unsigned least) { return number(0, 2) == 0 ? 1.0 : number(least, 100) / 100.0; };
  Settings s;
  LinkParameters& p = s.link;
  s.latency = number(1, number(0, 1) == 0 ? 20 : 300);
  p.width_bits = FABRICMARK_WIDTH;
  p.packet_flits = number(1, number(0, 1) == 0 ? 8 : 64);
  p.transmit_flits = 2 * p.packet_flits + number(0, 5);
  p.credit_flits = number(1, p.packet_flits);
  p.receive_flits = p.packet_flits + p.credit_flits - 1 + (number(0, 2) == 0 ? 0 : number(0, 300));
  p.timeout = number(1, 100);
  p.commits_packets = number(0, 1) == 1;
  p.payload_crc = number(0, 3) > 0;
  p.is_framed = number(0, 2) > 0;
  p.sync_interval = number(0, 1) == 0 ? 1 : number(1, 64);
  p.sync_timeout = number(0, 19) == 0 ? number(1, 200) : 0;
  p.resync_errors = number(1, 16);
  p.resync_window = number(1, 4096);
  p.keepalive = number(0, 3) == 0 ? 0 : number(10, 400);
  p.counts_credit_by_flit = number(0, 19) == 0;
  if (p.is_framed && number(0, 1) == 0) s.loss = 0.05;
  if (p.is_framed && number(0, 2) == 0) s.twice = 0.05;
  if (number(0, 2) == 0) s.flip = 0.01;
  if (number(0, 2) == 0) s.error = 0.01;
  s.falls = number(0, 3) == 0;
  s.stands = s.falls && number(0, 1) == 0;
  s.offers = rate(5);
  s.takes = rate(5);
  s.ready = rate(40);
  s.frame = number(1, 100);
  s.words = number(50, 600);
  return s;
}

/// One end in both forms.
class End {
 public:
  End(const Settings& s, unsigned fault) : model_(s.link, &words_), settings_(s) {
    const LinkParameters& p = model_.parameters();
    rtl_.cfg_packet = p.packet_flits;
    rtl_.cfg_transmit = p.transmit_flits;
    rtl_.cfg_receive = p.receive_flits;
    rtl_.cfg_credit = p.credit_flits;
    rtl_.cfg_timeout = p.timeout;
    rtl_.cfg_keepalive = p.keepalive;
    rtl_.cfg_sync_interval = p.sync_interval;
    rtl_.cfg_sync_timeout = p.sync_timeout;
    rtl_.cfg_resync_errors = p.resync_errors;
    rtl_.cfg_resync_window = p.resync_window;
    rtl_.cfg_payload_crc = p.payload_crc;
    rtl_.cfg_commit = p.commits_packets;
    rtl_.cfg_framed = p.is_framed;
    rtl_.cfg_by_flit = p.counts_credit_by_flit;
    rtl_.fault = fault;
    rtl_.rst = 1;
    clock();
    rtl_.rst = 0;
  }
  ~End() { rtl_.final(); }
  void clock() {
    rtl_.clk = 0;
    rtl_.eval();
    rtl_.clk = 1;
    rtl_.eval();
  }
  /// A cycle; nullptr, or what differs.
  const char* step(const LinkEnd::Input& input, const Slot& received, LinkEnd::Output& output) {
    drive(input, received);
    output = model_.step(input, received ? &received->flit : nullptr);
    const char* const difference = compare(output);
    clock();
    return difference != nullptr ? difference : compare_counters();
  }
  const LinkEnd& model() const { return model_; }

 private:
  void drive(const LinkEnd::Input& input, const Slot& received) {
    const Bytes word = bytes_of(input.source_word);
    std::memcpy(rtl_.s_axis_tdata.data(), word.data(), kBytes);
    set_keep(input.source_last ? input.source_tail + 1U : kBytes);
    rtl_.s_axis_tlast = input.source_last;
    rtl_.s_axis_tvalid = input.source_valid;
    rtl_.m_axis_tready = input.sink_ready;
    rtl_.tx_axis_tready = input.wire_ready;
    rtl_.link_up = input.link_up;
    rtl_.rx_axis_tvalid = received.has_value();
    if (received) {
      std::memcpy(rtl_.rx_axis_tdata.data(), received->bytes.data(), kBytes);
      rtl_.rx_axis_tuser =
          static_cast<std::uint8_t>((received->flit.error ? 2U : 0U) | (received->flit.first ? 1U : 0U));
    }
    rtl_.clk = 0;
    rtl_.eval();
  }
  void set_keep(unsigned bytes) {
    rtl_.s_axis_tkeep = static_cast<std::remove_reference_t<decltype(rtl_.s_axis_tkeep)>>(
        bytes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1);
  }
  const char* compare(const LinkEnd::Output& output) {
    if (rtl_.s_axis_tready != output.source_ready) return "s_axis_tready";
    if (rtl_.m_axis_tvalid != output.sink_valid) return "m_axis_tvalid";
    if (output.sink_valid) {
      const Bytes word = bytes_of(output.sink_word);
      if (std::memcmp(rtl_.m_axis_tdata.data(), word.data(), kBytes) != 0) return "m_axis_tdata";
      if (rtl_.m_axis_tlast != output.sink_last) return "m_axis_tlast";
      const unsigned count = output.sink_tail >= kBytes ? kBytes : output.sink_tail + 1U;
      if (static_cast<unsigned>(__builtin_popcountll(rtl_.m_axis_tkeep)) != count) return "m_axis_tkeep";
    }
    if (rtl_.tx_axis_tvalid != (output.sent != nullptr)) return "tx_axis_tvalid";
    if (output.sent == nullptr) return nullptr;
    const Bytes sent = bytes_of(*output.sent);
    if (std::memcmp(rtl_.tx_axis_tdata.data(), sent.data(), kBytes) != 0) return "tx_axis_tdata";
    if (rtl_.tx_axis_tuser != output.sent->first) return "tx_axis_tuser";
    if (rtl_.tx_axis_tlast != output.sent->last) return "tx_axis_tlast";
    return nullptr;
  }
  const char* compare_counters() {
    const Counters& c = model_.counters();
    if (rtl_.up != model_.is_up()) return "up";
    if (rtl_.epoch != model_.epoch()) return "epoch";
    if (rtl_.words_in != c.words_in) return "words_in";
    if (rtl_.words_out != c.words_out) return "words_out";
    if (rtl_.lost_flits != c.lost_flits) return "lost_flits";
    if (rtl_.cut_packets != c.cut_packets) return "cut_packets";
    if (rtl_.bad_headers != c.bad_headers) return "bad_headers";
    if (rtl_.bad_payloads != c.bad_payloads) return "bad_payloads";
    if (rtl_.stray_flits != c.stray_flits) return "stray_flits";
    if (rtl_.stalled_cycles != c.stalled_for_credit) return "stalled_cycles";
    return nullptr;
  }

  Words words_;
  LinkEnd model_;
  const Settings& settings_;
  Vfm_cl_end rtl_;
};

bool run(std::uint64_t seed, unsigned fault, std::uint64_t& cycles) {
  std::mt19937_64 draw(seed);
  const Settings settings = draw_settings(draw);
  std::array<std::unique_ptr<End>, 2> ends{std::make_unique<End>(settings, fault),
                                           std::make_unique<End>(settings, fault)};
  std::array<Wire, 2> wires{Wire(settings, draw()), Wire(settings, draw())};
  std::array<unsigned, 2> words{};
  std::array<bool, 2> offers{};
  const auto draws = [&draw](double probability) {
    return probability >= 1 || std::bernoulli_distribution(probability)(draw);
  };
  for (unsigned cycle = 0; cycle < 4000; ++cycle, ++cycles) {
    std::array<LinkEnd::Output, 2> outputs;
    std::array<Slot, 2> received{wires[1].out(), wires[0].out()};
    for (std::size_t i = 0; i < 2; ++i) {
      LinkEnd::Input input;
      offers[i] = offers[i] || (words[i] < settings.words && draws(settings.offers));
      input.source_valid = offers[i];
      input.source_word = words[i];
      input.source_last = mixed_bits(words[i]) % settings.frame == 0;
      input.source_tail = static_cast<std::uint8_t>(words[i] % kBytes);
      input.sink_ready = draws(settings.takes) && !(settings.stands && cycle % 1000 >= 500);
      input.wire_ready = draws(settings.ready);
      input.link_up = !(settings.falls && i == 0 && cycle % 1000 >= 960);
      const char* const difference = ends[i]->step(input, received[i], outputs[i]);
      if (difference != nullptr) {
        std::printf("w %u, seed %llu, fault %u: %s of end %zu differs in cycle %u\n", FABRICMARK_WIDTH,
                    static_cast<unsigned long long>(seed), fault, difference, i, cycle);
        return false;
      }
      if (offers[i] && outputs[i].source_ready) {
        ++words[i];
        offers[i] = false;
      }
      wires[i].put(input.wire_ready ? outputs[i].sent : nullptr);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t runs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;
  const unsigned fault = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0;
  std::uint64_t cycles = 0;
  for (std::uint64_t seed = first; seed < first + runs; ++seed)
    if (!run(seed, fault, cycles)) return 1;
  std::printf("w %u, fault %u: %llu runs, %llu cycles, no difference\n", FABRICMARK_WIDTH, fault,
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(cycles));
  return 0;
}
