#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/form.hpp"

namespace fabricmark::codec {

/// Bits of a stream, first in, first out.
class BitQueue {
 public:
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  /// `from` may be read up to 8 bytes beyond its bits.
  void put(const std::uint8_t* from, std::size_t bits);
  /// The next ones behind `skipped`, which stay, as far as there are so many; behind them zeros. `to` has
  /// room for 8 bytes more.
  void look(std::uint8_t* to, std::size_t bits, std::size_t skipped = 0) const;
  void drop(std::size_t bits);

 private:
  std::vector<std::uint8_t> held_;
  std::size_t begin_ = 0;  // bits
  std::size_t end_ = 0;
};

/// The frame of Mode::kStream as hardware makes it: cells come in as many a cycle as the form has lanes, and
/// a flit is there once its last bit is known. All together are the bytes of `encode`.
class StreamEncoder {
 public:
  /// `cells` of the frame: whole cycles. Throws Damage for other forms and parts of a cycle.
  StreamEncoder(const Form& form, std::size_t cells);
  ~StreamEncoder();
  StreamEncoder(StreamEncoder&&) noexcept;
  StreamEncoder& operator=(StreamEncoder&&) noexcept;

  /// The cells of a cycle.
  void put(const std::byte* cells);
  [[nodiscard]] bool has_flit() const;
  /// The next flit; true for the last one of the frame.
  bool take(std::byte* flit);

 private:
  class Of;
  std::unique_ptr<Of> of_;
};

/// The other way: cells are there once their last bit has come.
class StreamDecoder {
 public:
  StreamDecoder(const Form& form, std::size_t cells);
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;

  /// Whether those of the next cycle have come. Throws Damage for bits that are no such frame.
  [[nodiscard]] bool has_cells();
  void put(const std::byte* flit);
  /// The cells of a cycle.
  void take(std::byte* cells);
  /// Of a frame whose cells were all taken: flits that came and belong to none.
  [[nodiscard]] std::size_t flits_left() const;

 private:
  class Of;
  std::unique_ptr<Of> of_;
};

}  // namespace fabricmark::codec
