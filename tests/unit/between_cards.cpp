// between_cards BITSTREAM KIND: bytes from a buffer of one card to that of another one, natively under XRT,
// both of a kind of memory; says how many are wrong. The bitstream is that of docs/examples/two_cards.
#include <fmt/core.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "device/memory.hpp"
#include "device/program.hpp"

namespace {

using namespace fabricmark::device;

constexpr std::size_t kBytes = 100000;

/// A buffer where a kernel's argument is connected.
struct Placed {
  Placed(const Device& card, const Program& program, const char* name, unsigned argument, MemoryKind kind)
      : kernel(entry_point(program, name)),
        buffer(card, kBytes, kind, {.kernel = kernel.get(), .argument = argument}),
        queue(card.queue()) {}

  std::unique_ptr<backend::Kernel> kernel;
  Buffer buffer;
  Queue queue;
};

int run(const char* bitstream, const char* kind_name) {
  const MemoryKind kind = memory_kind(kind_name);
  const std::vector<FoundDevice> found = require_devices({});
  const Device first(found.at(0)), second(found.at(1));
  const std::string content = bitstream_content(bitstream);
  std::vector<unsigned char> sent(kBytes), arrived(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<unsigned char>(i * 7);
  const Program of_first = load_bitstream(first, bitstream, content);
  Placed from(first, of_first, "load_array:{load_array_1}", 0, kind);
  from.buffer.fill(from.queue, std::byte{2});
  from.queue.finish();
  // A device that loads a bitstream must leave alone what is mapped of another one, and used below.
  const Program of_second = load_bitstream(second, bitstream, content);
  Placed to(second, of_second, "receive_and_add:{receive_and_add_1}", 1, kind);
  to.buffer.fill(to.queue, std::byte{1});
  to.queue.finish();
  from.buffer.write(from.queue, sent.data(), kBytes);
  constexpr std::size_t kFirst = 4096;  // which is not copied
  from.buffer.copy_to(from.queue, to.buffer, kBytes - kFirst, kFirst, kFirst);
  from.queue.finish();
  to.buffer.read(to.queue, arrived.data(), kBytes);
  to.queue.finish();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kBytes; ++i) wrong += arrived[i] != (i < kFirst ? 1 : sent[i]) ? 1 : 0;
  fmt::print("{} of {} bytes are wrong\n", wrong, kBytes);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return argc == 3 ? run(argv[1], argv[2]) : 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "error: {}\n", error.what());
  return 3;
}
