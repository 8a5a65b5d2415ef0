// The encoder and the decoder of Ethernet frames: random packets become frames, compared byte by byte; the
// frames, and ones that are damaged, cut, too long or for somebody else, become flits, compared with what
// their bytes say.
#include "bench.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "Vfm_test_frames.h"

namespace {

using namespace fabricmark::bench;

constexpr std::size_t kBytes = FABRICMARK_WIDTH / 8;
constexpr std::size_t kLeast = 60;
constexpr std::uint64_t kAddress = 0x02'11'22'33'44'55, kPeer = 0x0A'BB'CC'DD'EE'F1,
                        kOtherPeer = 0x0A'BB'CC'DD'EE'F2;
constexpr std::uint64_t kType = 0x88B5;

struct Packet {
  std::vector<Bytes> flits;
  bool error = false;
};

struct Frame {
  Bytes bytes;
  bool error = false;
};

struct Flit {
  Bytes bytes;
  unsigned end = 0;
  bool first = false, last = false, error = false;
};

void append(Bytes& to, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    to.push_back(static_cast<std::uint8_t>(number >> 8U * static_cast<unsigned>(i)));
}

std::uint64_t number(const Bytes& from, std::size_t at, std::size_t bytes) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < bytes; ++i) result = result << 8U | from[at + i];
  return result;
}

Bytes header(std::uint64_t destination, std::uint64_t source, std::uint64_t type) {
  Bytes bytes;
  append(bytes, destination, 6);
  append(bytes, source, 6);
  append(bytes, type, 2);
  return bytes;
}

Frame frame_of(const Packet& packet, const Bytes& head) {
  Frame frame{head, packet.error};
  for (const Bytes& flit : packet.flits) frame.bytes.insert(frame.bytes.end(), flit.begin(), flit.end());
  frame.bytes.resize(std::max(kLeast, frame.bytes.size()), 0);
  return frame;
}

/// LEN of a header flit.
std::size_t announced(const Bytes& flit) { return flit[6] | static_cast<std::size_t>(flit[7]) << 8U; }

/// What has to come out for a frame; nothing: it is for somebody else.
std::optional<std::vector<Flit>> flits_of(const Frame& frame, bool& is_bad) {
  const Bytes& bytes = frame.bytes;
  const std::uint64_t source = number(bytes, 6, 6);
  if (number(bytes, 0, 6) != kAddress || number(bytes, 12, 2) != kType) return std::nullopt;
  if (source != kPeer && source != kOtherPeer) return std::nullopt;
  std::vector<Flit> flits;
  const std::size_t whole = (bytes.size() - 14) / kBytes;
  std::size_t wanted = whole;
  is_bad = true;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(14 + i * kBytes);
    flits.push_back({Bytes(from, from + kBytes), source == kPeer ? 1U : 2U, i == 0});
    if (i > 0) continue;
    const std::size_t length = announced(flits[0].bytes);
    wanted = std::min(whole, length + 1);
    is_bad = frame.error || bytes.size() != std::max(kLeast, 14 + (length + 1) * kBytes);
  }
  if (!flits.empty()) {
    flits.back().last = true;
    flits.back().error = is_bad;
  }
  return flits;
}

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed) {
    offers_ = random_.rate(10);
    ready_ = random_.rate(10);
    comes_ = random_.rate(20);
    damages_ = random_.number(0, 2) * 0.2;
    rtl_.fault = static_cast<std::uint8_t>(fault);
    rtl_.address = kAddress;
    set_bits(rtl_.peers, 0, 48, kPeer);
    set_bits(rtl_.peers, 48, 48, kOtherPeer);
    rtl_.ethertype = kType;
    reset(rtl_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_.final(); }

  std::uint64_t run() {
    constexpr unsigned kOffered = 2000, kAtMost = 20000;
    unsigned cycle = 0, idle = 0;
    for (; cycle < kAtMost && idle < 20; ++cycle) {
      const bool is_over = cycle > kOffered;
      idle = is_over && packet_.flits.empty() && wire_.empty() ? idle + 1 : 0;
      drive_source(is_over);
      drive_wire();
      rtl_.tx_axis_tready = is_over || random_.chance(ready_);
      settle(rtl_);
      take_source();
      take_frame();
      take_flit();
      edge(rtl_);
    }
    expect(frames_due_.empty() && packet_.flits.empty(), "a packet did not become a frame");
    expect(flits_due_.empty() && wire_.empty(), "a flit did not come out of its frame");
    expect(rtl_.sent_frames == sent_, "sent_frames");
    expect(rtl_.frames == ours_ && rtl_.dropped_frames == dropped_ && rtl_.bad_frames == bad_,
           "a counter of frames");
    return cycle;
  }

 private:
  void drive_source(bool is_over) {
    if (packet_.flits.empty() && !is_over && random_.chance(offers_)) {
      const std::size_t length = random_.number(0, random_.number(0, 1) == 0 ? 2 : 8);
      for (std::size_t i = 0; i <= length; ++i) packet_.flits.push_back(random_.bytes(kBytes));
      packet_.flits[0][6] = static_cast<std::uint8_t>(length);
      packet_.flits[0][7] = 0;
      packet_.error = random_.chance(0.1);
      frames_due_.push_back(frame_of(packet_, header(kPeer, kAddress, kType)));
      at_ = 0;
    }
    // An offer stays until it is taken.
    offered_ = !packet_.flits.empty() && (offered_ || at_ == 0 || random_.chance(offers_));
    rtl_.s_axis_tvalid = offered_;
    if (!offered_) return;
    set_bytes(rtl_.s_axis_tdata, packet_.flits[at_]);
    rtl_.s_axis_tlast = at_ + 1 == packet_.flits.size();
    // One flit of it is marked.
    const bool marks = packet_.error && at_ == packet_.flits.size() / 2;
    rtl_.s_axis_tuser = static_cast<std::uint8_t>((marks ? 2U : 0U) | (at_ == 0 ? 1U : 0U));
  }

  void take_source() {
    if (!offered_ || !rtl_.s_axis_tready) return;
    offered_ = false;
    if (++at_ == packet_.flits.size()) packet_.flits.clear();
  }

  void take_frame() {
    if (offers_ == 1) expect(!in_frame_ || rtl_.tx_axis_tvalid, "a gap inside of a frame");
    if (!rtl_.tx_axis_tvalid) return;
    const std::uint64_t keep = get_bits(rtl_.tx_axis_tkeep, 0, kBytes);
    const auto count = static_cast<std::size_t>(__builtin_popcountll(keep));
    Bytes shown = get_bytes(rtl_.tx_axis_tdata, count);
    if (stalled_) expect(*stalled_ == shown, "tx_axis changed while it waited");
    stalled_.reset();
    if (!rtl_.tx_axis_tready) {
      stalled_ = shown;
      return;
    }
    expect(keep == ones(count), "a hole in tkeep");
    expect(rtl_.tx_axis_tlast || count == kBytes, "tkeep before the end of a frame");
    leaving_.insert(leaving_.end(), shown.begin(), shown.end());
    in_frame_ = !rtl_.tx_axis_tlast;
    if (in_frame_) return;
    expect(!frames_due_.empty() && leaving_ == frames_due_.front().bytes, "the bytes of a frame");
    expect(rtl_.tx_axis_tuser == frames_due_.front().error, "tuser of a frame");
    send(frames_due_.front());
    frames_due_.pop_front();
    leaving_.clear();
    ++sent_;
  }

  /// A frame on its way to the decoder.
  void send(const Frame& sent) {
    const std::uint64_t source = random_.number(0, 1) == 0 ? kPeer : kOtherPeer;
    Frame frame = sent;
    const Bytes head = header(kAddress, source, kType);
    std::ranges::copy(head, frame.bytes.begin());
    if (random_.chance(damages_)) damage(frame);
    bool is_bad = false;
    const auto flits = flits_of(frame, is_bad);
    if (flits) {
      flits_due_.insert(flits_due_.end(), flits->begin(), flits->end());
      ++ours_;
      bad_ += is_bad ? 1U : 0U;
    } else {
      ++dropped_;
    }
    wire_.push_back(frame);
  }

  void damage(Frame& frame) {
    Bytes& bytes = frame.bytes;
    const unsigned kind = random_.number(0, 7);
    if (kind == 0) bytes[random_.number(0, 5)] ^= 1U;      // of somebody else's
    if (kind == 1) bytes[random_.number(6, 11)] ^= 0x40U;  // from somebody else
    if (kind == 2) bytes[random_.number(12, 13)] ^= 2U;    // another protocol
    if (kind == 3) bytes.resize(random_.number(14, static_cast<unsigned>(bytes.size())));
    if (kind == 4) bytes.resize(bytes.size() + random_.number(1, 3 * kBytes), 0x77);
    if (kind == 5) bytes[20] = static_cast<std::uint8_t>(random_.number(0, 8));  // LEN
    if (kind == 6) bytes[21] = 0xFF;
    if (kind == 7) frame.error = true;
  }

  void drive_wire() {
    rtl_.rx_axis_tvalid = !wire_.empty() && random_.chance(comes_);
    if (!rtl_.rx_axis_tvalid) return;
    const Bytes& bytes = wire_.front().bytes;
    const std::size_t count = std::min(kBytes, bytes.size() - come_);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(come_);
    Bytes word(from, from + static_cast<std::ptrdiff_t>(count));
    word.resize(kBytes, 0x5A);  // nobody promises zeros
    set_bytes(rtl_.rx_axis_tdata, word);
    set_bits(rtl_.rx_axis_tkeep, 0, kBytes, ones(count));
    come_ += count;
    rtl_.rx_axis_tlast = come_ == bytes.size();
    rtl_.rx_axis_tuser = rtl_.rx_axis_tlast && wire_.front().error;
    if (!rtl_.rx_axis_tlast) return;
    wire_.pop_front();
    come_ = 0;
  }

  void take_flit() {
    if (rtl_.m_axis_tvalid == 0) return;
    expect(!flits_due_.empty(), "a flit that nobody sent");
    const Flit due = flits_due_.front();
    flits_due_.pop_front();
    expect(rtl_.m_axis_tvalid == due.end, "the end of a flit");
    expect(get_bytes(rtl_.m_axis_tdata, kBytes) == due.bytes, "the bytes of a flit");
    expect((rtl_.m_axis_tuser & 1U) == due.first, "tuser.first");
    expect((rtl_.m_axis_tuser >> 1U) == due.error, "tuser.error");
    expect(rtl_.m_axis_tlast == due.last, "m_axis_tlast");
  }

  Vfm_test_frames rtl_;
  Random random_;
  double offers_ = 1, ready_ = 1, comes_ = 1, damages_ = 0;
  Packet packet_;
  std::size_t at_ = 0, come_ = 0;
  bool offered_ = false, in_frame_ = false;
  std::optional<Bytes> stalled_;
  Bytes leaving_;
  std::deque<Frame> frames_due_, wire_;
  std::deque<Flit> flits_due_;
  std::uint32_t sent_ = 0, ours_ = 0, dropped_ = 0, bad_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return over_seeds(argc, argv, "frames",
                    [](std::uint64_t seed, unsigned fault) { return Bench(seed, fault).run(); });
}
