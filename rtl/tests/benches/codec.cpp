// Compression and decompression beside the codec of src/codec: the same flits, and the same words out.
// Without stalls the first flit and the first word come within 24 cycles each.
//
//     program SEED RUNS [FAULT]           random frames
//     program cells FILE CELLS [FAULT]    frames of so many cells, one after the other in a file, without
//     stalls
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "Vfm_test_codec.h"
#include "bench.hpp"
#include "codec/frame.hpp"

namespace {

using namespace fabricmark::bench;
namespace codec = fabricmark::codec;

constexpr unsigned kChannels = FABRICMARK_CHANNELS, kLanes = FABRICMARK_LANES, kColumns = FABRICMARK_COLUMNS;
constexpr std::size_t kFlit = FABRICMARK_WIDTH / 8, kWord = 4 * kChannels * kLanes;
constexpr unsigned kMostCycles = 24;

codec::Form form() {
  return {.element = FABRICMARK_FLOATS != 0 ? codec::Element::kFloat32 : codec::Element::kInt32,
          .predictor = FABRICMARK_PLANE != 0 ? codec::Predictor::kPlane : codec::Predictor::kLine,
          .mode = codec::Mode::kStream,
          .channels = kChannels,
          .lanes = kLanes,
          .flit_bits = FABRICMARK_WIDTH,
          .columns = kColumns};
}

class Bench {
 public:
  Bench(std::uint64_t seed, unsigned fault) : random_(seed), rtl_(std::make_unique<Vfm_test_codec>()) {
    set_fault(*rtl_, fault);
    is_fast_ = random_.number(0, 3) == 0;
    for (double& rate : rates_) rate = is_fast_ ? 1 : random_.rate(10);
    rtl_->s_axis_tvalid = 0;
    reset(*rtl_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { rtl_->final(); }

  std::uint64_t run() {
    constexpr unsigned kFrames = 3, kAtMost = 200000;
    const unsigned cells = kLanes * random_.number(1, 1500 / kLanes);
    rtl_->cfg_cells = cells;
    for (unsigned i = 0; i < kFrames; ++i) add_random_frame(cells);
    return run_frames(kAtMost);
  }
  /// Of a file, all of its frames.
  std::uint64_t run(const Bytes& all, unsigned cells) {
    is_fast_ = true;
    for (double& rate : rates_) rate = 1;
    rtl_->cfg_cells = cells;
    const std::size_t frame = std::size_t{4} * kChannels * cells;
    expect(!all.empty() && all.size() % frame == 0, "the file has no whole frames");
    for (std::size_t at = 0; at < all.size(); at += frame) add_frame(piece(all, at, frame));
    return run_frames(static_cast<unsigned>(4 * words_.size()));
  }
  /// That went through all benches so far.
  static std::uint64_t& cells() {
    static std::uint64_t count = 0;
    return count;
  }

 private:
  std::uint64_t run_frames(unsigned at_most) {
    cells() += words_.size() * kLanes;
    for (cycle_ = 0; cycle_ < at_most && !words_.empty(); ++cycle_) step();
    expect(words_.empty(), "a word did not come out");
    expect(flits_.empty(), "a flit did not come out");
    expect(rtl_->bad_head == 0, "a head was not taken");
    if (is_fast_) {
      expect(first_flit_ <= kMostCycles + flit_words(), "the first flit came late");
      expect(first_word_ - first_flit_ <= kMostCycles, "the first word came late");
    }
    return cycle_;
  }
  template <typename Model>
  static void set_fault(Model& model, unsigned fault) {
    model.fault = static_cast<std::uint8_t>(fault);
  }
  /// Of words that have few bits, so many may fill a flit.
  static unsigned flit_words() { return FABRICMARK_WIDTH / (3 * kChannels * kLanes) + 1; }

  /// Numbers of all kinds: smooth ones, noise, and blocks of both that take turns.
  void add_random_frame(unsigned cells) {
    Bytes bytes;
    unsigned left = 0, bits = 0;
    for (unsigned i = 0; i < cells * kChannels; ++i) {
      if (left-- == 0) {
        left = random_.number(1, 700 * kChannels);
        bits = random_.number(0, 32);
      }
      std::uint64_t noise = 0;
      set_noise(noise);
      const auto number = static_cast<std::uint32_t>((noise & ones(bits)) + 0x3F000000U + 97U * i);
      for (unsigned byte = 0; byte < 4; ++byte)
        bytes.push_back(static_cast<std::uint8_t>(number >> 8 * byte));
    }
    add_frame(bytes);
  }
  void add_frame(const Bytes& bytes) {
    const std::size_t cells = bytes.size() / (std::size_t{4} * kChannels);
    std::vector<std::byte> coded(codec::most_bytes(form(), cells));
    const auto all = std::as_bytes(std::span(bytes));
    coded.resize(codec::encode(form(), all, coded));
    for (std::size_t at = 0; at < bytes.size(); at += kWord)
      words_.push_back(piece(bytes, at, kWord)), ends_.push_back(at + kWord == bytes.size());
    const auto* const from = reinterpret_cast<const std::uint8_t*>(coded.data());
    const Bytes flits(from, from + coded.size());
    for (std::size_t at = 0; at < flits.size(); at += kFlit)
      flits_.push_back(piece(flits, at, kFlit)), flit_ends_.push_back(at + kFlit == flits.size());
    sent_.insert(sent_.end(), words_.end() - static_cast<std::ptrdiff_t>(cells / kLanes), words_.end());
  }
  static Bytes piece(const Bytes& from, std::size_t at, std::size_t count) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }
  void set_noise(std::uint64_t& noise) {
    const Bytes bytes = random_.bytes(8);
    std::memcpy(&noise, bytes.data(), sizeof(noise));
  }

  void step() {
    if (!offered_ && !sent_.empty() && random_.chance(rates_[0])) {
      offered_ = true;
      set_bytes(rtl_->s_axis_tdata, sent_.front());
    }
    rtl_->s_axis_tvalid = offered_;
    rtl_->passes = random_.chance(rates_[1]);
    rtl_->m_axis_tready = random_.chance(rates_[2]);
    settle(*rtl_);
    if (offered_ && rtl_->s_axis_tready) {
      offered_ = false;
      sent_.pop_front();
    }
    if (rtl_->flit_tvalid && first_flit_ == 0) first_flit_ = cycle_;
    if (rtl_->flit_tvalid && rtl_->flit_tready) {
      expect(!flits_.empty(), "a flit that is too much");
      expect(get_bytes(rtl_->flit_tdata, kFlit) == flits_.front(), "a flit differs");
      expect((rtl_->flit_tlast != 0) == flit_ends_.front(), "the last flit differs");
      flits_.pop_front();
      flit_ends_.pop_front();
    }
    if (rtl_->m_axis_tvalid && first_word_ == 0) first_word_ = cycle_;
    if (rtl_->m_axis_tvalid && rtl_->m_axis_tready) {
      expect(!words_.empty(), "a word that is too much");
      expect(get_bytes(rtl_->m_axis_tdata, kWord) == words_.front(), "a word differs");
      expect((rtl_->m_axis_tlast != 0) == ends_.front(), "the last word differs");
      words_.pop_front();
      ends_.pop_front();
    }
    edge(*rtl_);
  }

  Random random_;
  std::unique_ptr<Vfm_test_codec> rtl_;
  bool is_fast_ = false, offered_ = false;
  double rates_[3] = {};
  unsigned cycle_ = 0, first_flit_ = 0, first_word_ = 0;
  std::deque<Bytes> sent_, words_, flits_;
  std::deque<bool> ends_, flit_ends_;
};

int over_file(const char* name, unsigned cells, unsigned fault) {
  std::ifstream file(name, std::ios::binary);
  const Bytes all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    std::printf("codec, fault %u: %llu cycles\n", fault,
                static_cast<unsigned long long>(Bench(1, fault).run(all, cells)));
  } catch (const Found& found) {
    std::printf("codec, %s, fault %u: found: %s\n", name, fault, found.what());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) {
    return argc > i ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : 0;
  };
  const bool is_file = argc > 3 && std::string_view(argv[1]) == "cells";
  const int code = is_file ? over_file(argv[2], number(3), number(4))
                           : over_seeds(argc, argv, "codec", [](std::uint64_t seed, unsigned fault) {
                               return Bench(seed, fault).run();
                             });
  std::printf("%llu cells\n", static_cast<unsigned long long>(Bench::cells()));
  return code;
}
