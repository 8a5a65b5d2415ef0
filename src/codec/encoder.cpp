#include <algorithm>
#include <cstring>

#include "codec/frame.hpp"
#include "codec/head.hpp"
#include "codec/history.hpp"

namespace fabricmark::codec {

namespace {

template <typename Word>
class Encoder {
 public:
  Encoder(const Form& form, std::size_t cells, std::byte* to) : form_(form), history_(form, cells), to_(to) {}

  void block(const std::byte* cells, std::size_t count, bool is_last) {
    const std::size_t words = count * form_.channels;
    kernels_.map(cells, words, form_.is_float(), form_.is_swapped, history_.words());
    history_.foretell(words);
    auto* const coded = reinterpret_cast<std::uint8_t*>(to_ + kHeadBytes);
    const std::size_t bits = kernels_.pack(history_.residuals(), count, form_.channels, coded);
    const std::size_t coded_flits = flits_of(bits);
    const std::size_t raw_flits = flits_of(8 * words * sizeof(Word));
    const bool is_raw_shorter = raw_flits < coded_flits;
    const bool is_raw = form_.mode == Mode::kFile ? is_raw_shorter : was_raw_shorter_;
    was_raw_shorter_ = is_raw_shorter;
    std::size_t used = (bits + 7) / 8;
    if (is_raw) {
      kernels_.unmap(history_.words(), words, form_.is_float(), false, to_ + kHeadBytes);
      used = words * sizeof(Word);
    }
    const std::size_t flits = is_raw ? raw_flits : coded_flits;
    const Head head{.cells = count,
                    .is_raw = is_raw,
                    .predictor = form_.predictor,
                    .is_last = is_last,
                    .flits = form_.mode == Mode::kFile ? flits : 0};
    const std::uint32_t head_bits = head.bits();
    std::memcpy(to_, &head_bits, kHeadBytes);
    const std::size_t bytes = flits * form_.flit_bits / 8;
    std::memset(to_ + kHeadBytes + used, 0, bytes - kHeadBytes - used);
    to_ += bytes;
    history_.move_on(words);
  }
  [[nodiscard]] std::byte* end() const { return to_; }

 private:
  [[nodiscard]] std::size_t flits_of(std::size_t bits) const {
    return (8 * kHeadBytes + bits + form_.flit_bits - 1) / form_.flit_bits;
  }

  Form form_;
  History<Word> history_;
  const Kernels<Word>& kernels_ = kernels<Word>();
  std::byte* to_;
  bool was_raw_shorter_ = false;
};

template <typename Word>
std::size_t encoded(const Form& form, std::span<const std::byte> cells, std::byte* to) {
  const std::size_t each = form.cell_bytes();
  const std::size_t count = cells.size() / each;
  Encoder<Word> encoder(form, count, to);
  for (std::size_t cell = 0; cell < count; cell += kBlockCells) {
    const std::size_t here = std::min(kBlockCells, count - cell);
    encoder.block(&cells[cell * each], here, cell + here == count);
  }
  return static_cast<std::size_t>(encoder.end() - to);
}

}  // namespace

std::size_t encode(const Form& form, std::span<const std::byte> cells, std::span<std::byte> to) {
  require_form(form);
  if (cells.size() % form.cell_bytes() != 0) throw Damage("the last cell is cut");
  if (to.size() < most_bytes(form, cells.size() / form.cell_bytes()))
    throw Damage("there is no room for the longest coded form");
  return form.word_bytes() == 4 ? encoded<std::uint32_t>(form, cells, to.data())
                                : encoded<std::uint64_t>(form, cells, to.data());
}

}  // namespace fabricmark::codec
