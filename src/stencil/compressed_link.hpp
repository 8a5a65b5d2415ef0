#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "base/interface.hpp"
#include "board/board.hpp"
#include "codec/by_cycle.hpp"
#include "codec/gain.hpp"
#include "stencil/compression.hpp"

namespace fabricmark::stencil {

/// A flit of a compressed frame; `is_last` goes beside it, as the `tlast` of AXI4-Stream.
template <std::size_t BYTES>
struct Flit {
  unsigned int is_last = 0;
  std::array<std::byte, BYTES> bytes{};
};

/// The kernels of compression around a link, which in hardware are those of rtl/codec: here the codec's C++,
/// which makes the same bits in the same cycles but for a few. `Word`: cells of 32-bit numbers.
///
/// Words into flits, for so many frames. `mark`: of the words that passed.
template <typename Word, std::size_t BYTES>
void compress(dataflow::stream<Word>& in, dataflow::stream<Flit<BYTES>>& out, const Compression& how,
              unsigned int frames, unsigned long long (*marked)(unsigned long long, const Word&),
              unsigned long long* mark, LinkUse* use) {
  const std::size_t words = how.cells / how.form.lanes;
  for (unsigned int frame = 0; frame < frames; ++frame) {
    codec::Gain gain(how.supply);
    std::optional<codec::StreamEncoder> encoder;
    if (how.ratio == 0) encoder.emplace(how.form, how.cells);
    std::uint64_t sent = 0;
    for (std::size_t i = 0; i < words; ++i) {
      const Word word = in.read();
      const std::uint64_t before = sent;
      Flit<BYTES> flit;
      if (encoder) {
        *mark = marked(*mark, word);
        encoder->put(reinterpret_cast<const std::byte*>(&word));
        for (; encoder->has_flit(); ++sent) {
          flit.is_last = encoder->take(flit.bytes.data()) ? 1 : 0;
          out.write(flit);
        }
      } else {
        const std::uint64_t due = i + 1 == words ? how.all_flits(words) : how.whole_flits(i + 1);
        for (; sent < due; ++sent) {
          flit.is_last = i + 1 == words && sent + 1 == due ? 1 : 0;
          out.write(flit);
        }
      }
      gain.add(sent - before);
    }
    use->add(gain);
  }
}

/// From the FIFO behind a compressor into the link, and from the link into the one before a decompressor.
template <std::size_t BYTES>
void pass_flits(dataflow::stream<Flit<BYTES>>& in, dataflow::stream<Flit<BYTES>>& out, unsigned int frames) {
  while (frames > 0) {
    const Flit<BYTES> flit = in.read();
    out.write(flit);
    frames -= flit.is_last != 0 ? 1 : 0;
  }
}

/// Flits into words. Throws Error (invalid result) for what no compressor has sent.
template <typename Word, std::size_t BYTES>
void decompress(dataflow::stream<Flit<BYTES>>& in, dataflow::stream<Word>& out, const Compression& how,
                unsigned int frames, unsigned long long (*marked)(unsigned long long, const Word&),
                unsigned long long* mark) {
  const auto damaged = [](const char* what) {
    return Error(ExitCode::kInvalidResult,
                 std::string("what came over a link is not as it was compressed: ") + what,
                 "find out what changes or loses flits of links");
  };
  const std::size_t words = how.cells / how.form.lanes;
  for (unsigned int frame = 0; frame < frames; ++frame) {
    std::optional<codec::StreamDecoder> decoder;
    if (how.ratio == 0) decoder.emplace(how.form, how.cells);
    bool is_at_end = false;
    std::uint64_t received = 0;
    const auto receive = [&] {
      if (is_at_end) throw damaged("a frame ends before its cells do");
      const Flit<BYTES> flit = in.read();
      is_at_end = flit.is_last != 0;
      ++received;
      if (decoder) decoder->put(flit.bytes.data());
    };
    try {
      for (std::size_t i = 0; i < words; ++i) {
        Word word{};
        if (decoder) {
          while (!decoder->has_cells()) receive();
          decoder->take(reinterpret_cast<std::byte*>(&word));
          *mark = marked(*mark, word);
        } else {
          while (received < how.all_flits(i + 1)) receive();
        }
        out.write(word);
      }
    } catch (const codec::Damage& damage) {
      throw damaged(damage.what());
    }
    if (!is_at_end || (decoder && decoder->flits_left() > 0))
      throw damaged("a frame has flits behind its cells");
  }
}

/// Both links of a board in a ring, with what is around them.
template <typename Word>
class CompressedLinks : public Interface {
 public:
  using Marked = unsigned long long (*)(unsigned long long, const Word&);
  /// Starts what passes so many frames from `in` to the next board, and from the board before to `out`.
  virtual void start(dataflow::Host& host, dataflow::stream<Word>& in, dataflow::stream<Word>& out,
                     unsigned int frames, Marked marked, RingMarks& marks) = 0;
  [[nodiscard]] virtual const LinkUse& use() const = 0;
};

template <typename Word, std::size_t BYTES>
class LinksOfFlits final : public CompressedLinks<Word> {
 public:
  using typename CompressedLinks<Word>::Marked;
  // A fault strikes at the port that is opened first: the one that something leaves by.
  LinksOfFlits(board::Board& board, const Compression& how)
      : how_(how),
        to_(board.template open<Flit<BYTES>>(kToNext, BYTES)),
        from_(board.template open<Flit<BYTES>>(kFromBefore, BYTES)),
        elastic_(fifo("compressed cells", how.elastic)),
        arrived_(fifo("compressed cells that came", kArrived)) {}

  void start(dataflow::Host& host, dataflow::stream<Word>& in, dataflow::stream<Word>& out,
             unsigned int frames, Marked marked, RingMarks& marks) override {
    const dataflow::Start of_codec{.depth = kCodecCycles / 2};
    host.start("compress", of_codec, compress<Word, BYTES>, in, elastic_, how_, frames, marked, &marks.sent,
               &use_);
    host.start("to_link", {}, pass_flits<BYTES>, elastic_, to_.out, frames);
    host.start("from_link", {}, pass_flits<BYTES>, from_.in, arrived_, frames);
    host.start("decompress", of_codec, decompress<Word, BYTES>, arrived_, out, how_, frames, marked,
               &marks.received);
  }
  [[nodiscard]] const LinkUse& use() const override { return use_; }

 private:
  using Fifo = dataflow::Typed<Flit<BYTES>>;
  /// More than pass while a decompressor, whose pipeline is full, hears that it may go on.
  static constexpr std::size_t kArrived = 16;
  static std::shared_ptr<Fifo> fifo(const char* name, std::size_t flits) {
    return std::make_shared<Fifo>(name, dataflow::ChannelTiming{.depth = flits});
  }

  Compression how_;
  dataflow::Link<Flit<BYTES>> to_;
  dataflow::Link<Flit<BYTES>> from_;
  dataflow::stream<Flit<BYTES>> elastic_;
  dataflow::stream<Flit<BYTES>> arrived_;
  LinkUse use_;
};

template <typename Word>
std::unique_ptr<CompressedLinks<Word>> make_compressed_links(board::Board& board, const Compression& how) {
  constexpr std::size_t kNarrow = 32;
  constexpr std::size_t kWide = 64;
  if (how.form.cell_bytes() * how.form.lanes != sizeof(Word))
    throw std::logic_error("cells are coded that are not those of the kernels");
  if (how.flit_bytes() == kNarrow) return std::make_unique<LinksOfFlits<Word, kNarrow>>(board, how);
  return std::make_unique<LinksOfFlits<Word, kWide>>(board, how);
}

}  // namespace fabricmark::stencil
