#include "codec/by_cycle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "codec/head.hpp"
#include "codec/history.hpp"

namespace fabricmark::codec {

namespace {

constexpr std::size_t kByte = 8;  // bits
using Word = std::uint32_t;       // of hardware
constexpr unsigned kClassBits = 3;
constexpr Word kLongestClass = 7;

std::size_t flits_of(const Form& form, std::size_t bits) {
  return (bits + form.flit_bits - 1) / form.flit_bits;
}

void require_stream(const Form& form, std::size_t cells) {
  require_form(form);
  if (form.mode != Mode::kStream || form.word_bytes() != sizeof(Word))
    throw Damage("streams have words of 32 bits in the mode of streams");
  if (cells % form.lanes != 0) throw Damage("the last cycle of a frame is cut");
}

std::uint64_t loaded(const std::uint8_t* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

/// Of a cell: as pack may write.
using CellBits = std::array<std::uint8_t, kMostChannels*(sizeof(Word) + 1) + kSlack>;

}  // namespace

void BitQueue::put(const std::uint8_t* from, std::size_t bits) {
  constexpr std::size_t kPiece = 56;  // what a load of 64 bits has behind any begin within a byte
  held_.resize((end_ + bits) / kByte + 2 * sizeof(std::uint64_t));
  for (std::size_t done = 0; done < bits; done += kPiece) {
    const std::size_t here = std::min(kPiece, bits - done);
    const std::uint64_t piece = loaded(from + done / kByte) & ((std::uint64_t{1} << here) - 1);
    std::uint8_t* const to = held_.data() + end_ / kByte;
    const std::uint64_t low = std::uint64_t{*to} & ((1U << end_ % kByte) - 1);
    const std::uint64_t made = low | piece << end_ % kByte;
    std::memcpy(to, &made, sizeof(made));
    end_ += here;
  }
}

void BitQueue::look(std::uint8_t* to, std::size_t bits, std::size_t skipped) const {
  const std::size_t there = std::min(bits, size() - std::min(skipped, size()));
  std::memset(to, 0, (bits + kByte - 1) / kByte + sizeof(std::uint64_t));
  constexpr std::size_t kPiece = 56;
  for (std::size_t done = 0; done < there; done += kPiece) {
    const std::size_t here = std::min(kPiece, there - done);
    const std::size_t from = begin_ + skipped + done;
    const std::uint64_t piece =
        loaded(held_.data() + from / kByte) >> from % kByte & ((std::uint64_t{1} << here) - 1);
    std::memcpy(to + done / kByte, &piece, sizeof(piece));
  }
}

void BitQueue::drop(std::size_t bits) {
  begin_ += std::min(bits, size());
  constexpr std::size_t kMany = 4096;  // bytes that are moved away at once
  if (begin_ < kMany * kByte) return;
  const std::size_t bytes = begin_ / kByte;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(bytes));
  begin_ -= bytes * kByte;
  end_ -= bytes * kByte;
}

class StreamEncoder::Of {
 public:
  Of(const Form& form, std::size_t cells) : form_(form), history_(form, cells), left_(cells) {}

  void put(const std::byte* cells) {
    if (left_ == 0) throw Damage("a frame has more cells than it should");
    if (in_block_ == 0) begin_block();
    const std::size_t words = std::size_t{form_.lanes} * form_.channels;
    kernels_.map(cells, words, form_.is_float(), form_.is_swapped, history_.words());
    history_.foretell(words);
    for (std::size_t lane = 0; lane < form_.lanes; ++lane) {
      const std::size_t bits =
          kernels_.pack(history_.residuals() + lane * form_.channels, 1, form_.channels, cell_.data());
      coded_bits_ += bits;
      if (!is_raw_) bits_.put(cell_.data(), bits);
    }
    raw_bits_ += words * sizeof(Word) * kByte;
    if (is_raw_) put_raw(words);
    history_.move_on(words);
    in_block_ -= form_.lanes;
    left_ -= form_.lanes;
    if (in_block_ == 0) end_block();
  }
  [[nodiscard]] bool has_flit() const { return bits_.size() >= form_.flit_bits; }
  bool take(std::byte* flit) {
    bits_.look(flit_.data(), form_.flit_bits);
    std::memcpy(flit, flit_.data(), form_.flit_bits / kByte);
    bits_.drop(form_.flit_bits);
    return left_ == 0 && bits_.size() == 0;
  }

 private:
  void begin_block() {
    in_block_ = std::min(left_, kBlockCells);
    is_raw_ = was_raw_shorter_;
    const Head head{
        .cells = in_block_, .is_raw = is_raw_, .predictor = form_.predictor, .is_last = in_block_ == left_};
    const std::uint64_t bits = head.bits();  // as long as a load
    bits_.put(reinterpret_cast<const std::uint8_t*>(&bits), kHeadBytes * kByte);
    coded_bits_ = raw_bits_ = kHeadBytes * kByte;
  }
  void end_block() {
    was_raw_shorter_ = flits_of(form_, raw_bits_) < flits_of(form_, coded_bits_);
    const std::size_t behind = (is_raw_ ? raw_bits_ : coded_bits_) % form_.flit_bits;
    if (behind == 0) return;
    cell_.fill(0);
    bits_.put(cell_.data(), form_.flit_bits - behind);
  }
  void put_raw(std::size_t words) {
    for (std::size_t begin = 0; begin < words; begin += form_.channels) {
      kernels_.unmap(history_.words() + begin, form_.channels, form_.is_float(), false,
                     reinterpret_cast<std::byte*>(cell_.data()));
      bits_.put(cell_.data(), form_.channels * sizeof(Word) * kByte);
    }
  }

  Form form_;
  History<Word> history_;
  const Kernels<Word>& kernels_ = kernels<Word>();
  BitQueue bits_;
  CellBits cell_{};
  CellBits flit_{};
  std::size_t left_;          // cells of the frame
  std::size_t in_block_ = 0;  // of them to come
  bool is_raw_ = false;
  bool was_raw_shorter_ = false;
  std::size_t coded_bits_ = 0;  // of the block so far, with its head
  std::size_t raw_bits_ = 0;
};

StreamEncoder::StreamEncoder(const Form& form, std::size_t cells) {
  require_stream(form, cells);
  of_ = std::make_unique<Of>(form, cells);
}
StreamEncoder::~StreamEncoder() = default;
StreamEncoder::StreamEncoder(StreamEncoder&&) noexcept = default;
StreamEncoder& StreamEncoder::operator=(StreamEncoder&&) noexcept = default;
void StreamEncoder::put(const std::byte* cells) { of_->put(cells); }
bool StreamEncoder::has_flit() const { return of_->has_flit(); }
bool StreamEncoder::take(std::byte* flit) { return of_->take(flit); }

class StreamDecoder::Of {
 public:
  Of(const Form& form, std::size_t cells) : form_(form), history_(form, cells), left_(cells) {}

  [[nodiscard]] bool has_cells() {
    if (left_ == 0) throw Damage("a frame has fewer cells than it should");
    if (in_block_ == 0 && !begin_block()) return false;
    if (needed_ == 0) needed_ = needed();
    return bits_.size() >= needed_;
  }
  void put(const std::byte* flit) {
    std::memcpy(flit_.data(), flit, form_.flit_bits / kByte);
    bits_.put(flit_.data(), form_.flit_bits);
    needed_ = 0;  // with more bits more classes are known
  }
  void take(std::byte* cells) {
    const std::size_t words = std::size_t{form_.lanes} * form_.channels;
    if (is_raw_) {
      take_raw(words);
    } else {
      for (std::size_t lane = 0; lane < form_.lanes; ++lane) {
        bits_.look(cell_.data(), kMostBits);
        used_ += drop(kernels_.unpack(cell_.data(), kMostBits, 1, form_.channels,
                                      history_.residuals() + lane * form_.channels));
      }
      history_.follow(words);
    }
    kernels_.unmap(history_.words(), words, form_.is_float(), form_.is_swapped, cells);
    history_.move_on(words);
    needed_ = 0;
    in_block_ -= form_.lanes;
    left_ -= form_.lanes;
    if (in_block_ == 0) drop((form_.flit_bits - used_ % form_.flit_bits) % form_.flit_bits);
  }
  [[nodiscard]] std::size_t flits_left() const { return bits_.size() / form_.flit_bits; }

 private:
  bool begin_block() {
    if (bits_.size() < kHeadBytes * kByte) return false;
    bits_.look(cell_.data(), kHeadBytes * kByte);
    std::uint32_t bits = 0;
    std::memcpy(&bits, cell_.data(), kHeadBytes);
    const Head head = Head::expected(bits, form_.predictor, left_);
    if (head.flits != 0) throw Damage("the head of a block says a length that is not known yet");
    in_block_ = head.cells;
    is_raw_ = head.is_raw;
    used_ = drop(kHeadBytes * kByte);
    return true;
  }
  /// Bits of the next cycle; where its classes have not all come, more than there are.
  [[nodiscard]] std::size_t needed() {
    const std::size_t words = std::size_t{form_.lanes} * form_.channels;
    if (is_raw_) return words * sizeof(Word) * kByte;
    const std::size_t classes = std::size_t{kClassBits} * form_.channels;
    std::size_t bits = 0;
    for (std::size_t lane = 0; lane < form_.lanes; ++lane) {
      if (bits_.size() < bits + classes) return bits_.size() + 1;
      bits_.look(cell_.data(), classes, bits);
      const std::uint64_t all = loaded(cell_.data());
      bits += classes;
      for (std::size_t channel = 0; channel < form_.channels; ++channel) {
        const auto one = static_cast<Word>(all >> kClassBits * channel) & kLongestClass;
        bits += one == kLongestClass ? sizeof(Word) * kByte : 4 * std::size_t{one};
      }
    }
    return bits;
  }
  void take_raw(std::size_t words) {
    for (std::size_t begin = 0; begin < words; begin += form_.channels) {
      const std::size_t bits = form_.channels * sizeof(Word) * kByte;
      bits_.look(cell_.data(), bits);
      kernels_.map(reinterpret_cast<const std::byte*>(cell_.data()), form_.channels, form_.is_float(), false,
                   history_.words() + begin);
      used_ += drop(bits);
    }
    history_.learn(words);
  }
  std::size_t drop(std::size_t bits) {
    bits_.drop(bits);
    return bits;
  }

  static constexpr std::size_t kMostBits = kMostChannels * (kClassBits + sizeof(Word) * kByte);

  Form form_;
  History<Word> history_;
  const Kernels<Word>& kernels_ = kernels<Word>();
  BitQueue bits_;
  CellBits cell_{};
  CellBits flit_{};
  std::size_t left_;          // cells of the frame
  std::size_t in_block_ = 0;  // of them to come
  bool is_raw_ = false;
  std::size_t used_ = 0;    // bits of the block
  std::size_t needed_ = 0;  // of the next cycle; 0: not known
};

StreamDecoder::StreamDecoder(const Form& form, std::size_t cells) {
  require_stream(form, cells);
  of_ = std::make_unique<Of>(form, cells);
}
StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
bool StreamDecoder::has_cells() { return of_->has_cells(); }
void StreamDecoder::put(const std::byte* flit) { of_->put(flit); }
void StreamDecoder::take(std::byte* cells) { of_->take(cells); }
std::size_t StreamDecoder::flits_left() const { return of_->flits_left(); }

}  // namespace fabricmark::codec
