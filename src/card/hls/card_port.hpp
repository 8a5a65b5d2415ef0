// What a kernel in a bitstream for the emulated card knows of a stream; the card implements it (streams.hpp).
#ifndef FABRICMARK_CARD_PORT_HPP
#define FABRICMARK_CARD_PORT_HPP

#include <cstddef>

namespace fabricmark_card {

/// A kernel's end of a stream. `waits`: until there is a word, or room for one; else the answer is false.
class Port {
 public:
  virtual bool read(void* word, std::size_t bytes, bool waits) = 0;
  virtual bool write(const void* word, std::size_t bytes, bool waits) = 0;
  /// Whether a call that reads, or writes, would find a word, or room.
  virtual bool is_ready(std::size_t bytes) = 0;
  virtual std::size_t capacity() = 0;  ///< in words

 protected:
  ~Port() = default;
};

}  // namespace fabricmark_card

#endif
