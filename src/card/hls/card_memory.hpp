// What a kernel in a bitstream for the emulated card knows of the card's memory, where addresses reach it in
// words and not as arguments, as those of ACCL's engine do; the card implements it (memory.hpp).
#ifndef FABRICMARK_CARD_MEMORY_HPP
#define FABRICMARK_CARD_MEMORY_HPP

namespace fabricmark_card {

class Memory {
 public:
  /// Where so many bytes at a physical address are for the kernel. Where no buffer holds them all, the kernel
  /// goes no further, and the card says why.
  virtual void* place(unsigned long long address, unsigned long long bytes) const = 0;

 protected:
  ~Memory() = default;
};

}  // namespace fabricmark_card

/// Set by the card in each bitstream that defines it.
extern "C" const fabricmark_card::Memory* fabricmark_card_memory;

#endif
