#include <algorithm>
#include <cstring>

#include "codec/frame.hpp"
#include "codec/head.hpp"
#include "codec/history.hpp"

namespace fabricmark::codec {

namespace {

template <typename Word>
class Decoder {
 public:
  Decoder(const Form& form, std::size_t cells, std::span<const std::byte> from)
      : form_(form), history_(form, cells), rest_(from) {}

  /// Of so many cells that are still to come; returns how many it had.
  std::size_t block(std::size_t left, std::byte* cells) {
    const Head head = next_head(left);
    const std::size_t words = head.cells * form_.channels;
    const std::size_t bits = head.is_raw ? take_raw(words) : take_coded(head, words);
    const std::size_t flits = (8 * kHeadBytes + bits + form_.flit_bits - 1) / form_.flit_bits;
    if (form_.mode == Mode::kFile && flits != head.flits)
      throw Damage("a block is not as long as its head says");
    const std::size_t bytes = flits * form_.flit_bits / 8 - kHeadBytes;
    if (bytes > rest_.size()) throw Damage("a block is cut");
    rest_ = rest_.subspan(bytes);
    kernels_.unmap(history_.words(), words, form_.is_float(), form_.is_swapped, cells);
    history_.move_on(words);
    return head.cells;
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  Head next_head(std::size_t left) {
    if (rest_.size() < kHeadBytes) throw Damage("the head of a block is cut");
    std::uint32_t bits = 0;
    std::memcpy(&bits, rest_.data(), kHeadBytes);
    const Head head = Head::expected(bits, form_.predictor, left);
    rest_ = rest_.subspan(kHeadBytes);
    return head;
  }
  std::size_t take_raw(std::size_t words) {
    const std::size_t bytes = words * sizeof(Word);
    if (bytes > rest_.size()) throw Damage("a block is cut");
    kernels_.map(rest_.data(), words, form_.is_float(), false, history_.words());
    history_.learn(words);
    return 8 * bytes;
  }
  std::size_t take_coded(const Head& head, std::size_t words) {
    std::size_t most = rest_.size();
    if (form_.mode == Mode::kFile) {
      most = std::min(most, head.flits * form_.flit_bits / 8);
    }
    most = std::min(most, kMostBytes);
    const auto* from = reinterpret_cast<const std::uint8_t*>(rest_.data());
    if (rest_.size() < most + kSlack) {  // whose loads would end beyond what there is
      end_.assign(most + kSlack, 0);
      std::memcpy(end_.data(), from, most);
      from = end_.data();
    }
    const std::size_t bits =
        kernels_.unpack(from, 8 * most, head.cells, form_.channels, history_.residuals());
    if (bits > 8 * most) throw Damage("a block ends before its cells do");
    history_.follow(words);
    return bits;
  }

  /// Of a block: its longest cells.
  static constexpr std::size_t kMostBytes = (kBlockCells * kMostChannels * (8 * sizeof(Word) + 4)) / 8;

  Form form_;
  History<Word> history_;
  const Kernels<Word>& kernels_ = kernels<Word>();
  std::span<const std::byte> rest_;
  std::vector<std::uint8_t> end_;
};

template <typename Word>
std::size_t decoded(const Form& form, std::span<const std::byte> from, std::span<std::byte> cells) {
  const std::size_t each = form.cell_bytes();
  const std::size_t count = cells.size() / each;
  Decoder<Word> decoder(form, count, from);
  for (std::size_t cell = 0; cell < count;) cell += decoder.block(count - cell, &cells[cell * each]);
  return from.size() - decoder.left();
}

}  // namespace

std::size_t decode(const Form& form, std::span<const std::byte> from, std::span<std::byte> cells) {
  require_form(form);
  if (cells.size() % form.cell_bytes() != 0) throw Damage("the last cell is cut");
  return form.word_bytes() == 4 ? decoded<std::uint32_t>(form, from, cells)
                                : decoded<std::uint64_t>(form, from, cells);
}

}  // namespace fabricmark::codec
