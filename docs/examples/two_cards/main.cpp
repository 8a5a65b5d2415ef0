// The host of ../two_devices/dataflow.cpp on two cards under AMD's runtime: argument 1 is their bitstream.
// The first card loads, scales and sends; the second one receives and adds.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::device;

constexpr std::size_t kWords = 1000, kValues = 16 * kWords;  // a word has 16 values
constexpr float kFactor = 10;
constexpr double kMostSeconds = 60;

/// A compute unit with a queue of its own, as kernels that wait for each other need one.
struct Unit {
  Unit(const Device& device, const Program& program, const std::string& name)
      : card(device), kernel(entry_point(program, name + ":{" + name + "_1}")), queue(device.queue()) {}
  /// Memory for its argument, where that is connected.
  [[nodiscard]] Buffer buffer(unsigned argument) const {
    return {
        card, kValues * sizeof(float), MemoryKind::kBuffer, {.kernel = kernel.get(), .argument = argument}};
  }
  void set(unsigned argument, const Buffer& buffer) const {
    kernel->set_memory(argument, buffer.implementation());
  }
  template <typename T>
  void set(unsigned argument, T number) const {
    kernel->set_number(argument, &number, sizeof(number));
  }
  void start() const { kernel->start(queue.implementation(), {}, nullptr, nullptr); }

  const Device& card;
  std::unique_ptr<backend::Kernel> kernel;
  Queue queue;
};

int run(const char* bitstream) {
  Selection selection;
  selection.bitstream = bitstream;  // an .xclbin: natively, unless FABRICMARK_BACKEND says otherwise
  const std::vector<FoundDevice> found = require_devices(selection);
  if (found.size() < 2) throw environment_failure("there is one card", "give the runtime two");
  const Device first(found[0]), second(found[1]);
  const std::string content = bitstream_content(bitstream);
  const Program of_first = load_bitstream(first, bitstream, content),
                of_second = load_bitstream(second, bitstream, content);
  const Unit load(first, of_first, "load_array"), send(first, of_first, "scale_and_send"),
      add(second, of_second, "receive_and_add");
  std::vector<float> values(kValues), sums(kValues);
  for (std::size_t i = 0; i < kValues; ++i) values[i] = static_cast<float>(i);
  Buffer sent = load.buffer(0), added = add.buffer(1), result = add.buffer(2);
  const int length = kWords;
  load.set(0, sent), load.set(2, length);  // streams are joined in the bitstream: nobody sets them
  send.set(2, kFactor), send.set(3, length);
  add.set(1, added), add.set(2, result), add.set(3, length);
  sent.write(load.queue, values.data(), sent.bytes());
  added.write(add.queue, values.data(), added.bytes());
  load.queue.finish(), add.queue.finish();
  for (const Unit* unit : {&add, &send, &load}) unit->start();
  for (const Unit* unit : {&load, &send, &add}) unit->queue.finish();
  result.read(add.queue, sums.data(), result.bytes());
  add.queue.finish();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kValues; ++i) wrong += sums[i] != (kFactor + 1) * values[i] ? 1 : 0;
  fmt::print("{} of {} values are wrong\n", wrong, kValues);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw bad_use("one argument is needed", "name a bitstream");
  limit_waits(kMostSeconds);
  return run(argv[1]);
} catch (const Error& error) {
  fmt::print(stderr, "error: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  const std::optional<RefusedCall> refused = refusal_of(error);
  fmt::print(stderr, "error: {}\n", refused ? refused->call : error.what());
  return static_cast<int>(ExitCode::kEnvironment);
}
