// SYCL behind the device layer, with a plugin that stands in for the one that needs SYCL.
#include <cstdlib>
#include <numeric>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "support.hpp"

namespace fabricmark::device {

namespace {

using test::mentions;
using test::message_of;

class Sycl : public testing::Test {
 protected:
  Sycl() { use(FABRICMARK_FAKE_SYCL); }
  ~Sycl() override {
    unsetenv("FABRICMARK_SYCL");
    unsetenv("FAKE_SYCL");
  }
  static void use(const std::string& plugin) { setenv("FABRICMARK_SYCL", plugin.c_str(), 1); }
  static void go_wrong(const char* how) { setenv("FAKE_SYCL", how, 1); }
  static std::string trouble() {
    return message_of([] { require_devices({}); }, ExitCode::kEnvironment);
  }
  /// Each fails with what was tried and the plugin's words, in one line.
  static std::string refusal(const char* function, const std::function<void()>& action) {
    go_wrong(function);
    try {
      action();
    } catch (const Refusal& error) {
      unsetenv("FAKE_SYCL");
      return refusal_of(error).value_or(RefusedCall{"not a refusal", ""}).call;
    }
    ADD_FAILURE() << function << ": nothing was thrown";
    return {};
  }
};

TEST_F(Sycl, PluginsThatCannotBeUsedAreNamedWithTheRemedy) {
  use("/nowhere/plugin.so");
  EXPECT_TRUE(mentions(trouble(), "/nowhere/plugin.so"));
  use(FABRICMARK_FAKE_NVML);
  EXPECT_TRUE(
      mentions(trouble(), "it has no fabricmark_sycl_functions; run `fabricmark runtimes install sycl`"));
  use(FABRICMARK_FAKE_SYCL);
  go_wrong("version");
  EXPECT_TRUE(mentions(trouble(), "its interface is version 3, not 2"));
  for (const char* const function : {"count_devices", "describe"}) {
    go_wrong(function);
    EXPECT_TRUE(mentions(trouble(), "cannot be used: no luck at all; "));
  }
  go_wrong("no-device");
  EXPECT_TRUE(mentions(trouble(), "SYCL found no device"));
}

TEST_F(Sycl, DevicesStandInPlaceOfThoseOfOpenCl) {
  const std::vector<FoundDevice> all = require_devices({});
  ASSERT_EQ(all.size(), 1);
  const DeviceInfo& info = all.front().info;
  EXPECT_EQ(info.platform, "SYCL: Fake Platform");
  EXPECT_EQ(info.device_class, DeviceClass::kFpga);
  EXPECT_TRUE(info.has_svm);
  EXPECT_FALSE(info.has_memory_objects);
  EXPECT_EQ(info.sub_buffer_alignment_bytes, 64);
  EXPECT_EQ(require_devices({.platform = "sycl", .device = {}, .mapping = {}}).size(), 1);
  EXPECT_TRUE(
      mentions(message_of([] { require_devices({.platform = "portable", .device = {}, .mapping = {}}); }),
               "'SYCL: Fake Platform: Fake Board'"));
  EXPECT_EQ(Device(all.front(), {1, 2}).info().compute_units, 2);
  go_wrong("emulation");
  EXPECT_TRUE(require_devices({}).front().info.emulated());
}

TEST_F(Sycl, WhatIsMappedOfADeviceIsACopy) {
  const Device device(require_devices({}).front());
  const Queue queue = device.queue();
  Buffer buffer(device, 256);
  buffer.fill(queue, std::byte{1});
  std::byte* const view = buffer.map(queue, /*for_writing=*/true, 64, 64);
  std::fill_n(view, 64, std::byte{2});
  std::array<std::byte, 256> seen{};
  buffer.read(queue, seen.data(), seen.size());
  EXPECT_EQ(seen[64], std::byte{1});  // not yet
  buffer.unmap(queue, view);
  buffer.part(64, 192).read(queue, seen.data(), 192);
  EXPECT_EQ(seen[0], std::byte{2});
  EXPECT_EQ(seen[63], std::byte{2});
  EXPECT_EQ(seen[64], std::byte{1});
  // A view for reading has what is there, and what is written into it goes nowhere.
  std::byte* const read = buffer.map(queue, /*for_writing=*/false, 64, 64);
  EXPECT_EQ(*read, std::byte{2});
  *read = std::byte{3};
  buffer.unmap(queue, read);
  buffer.read(queue, seen.data(), 1, 64);
  EXPECT_EQ(seen[0], std::byte{2});
}

TEST_F(Sycl, SharedMemoryIsMappedAsItIs) {
  const Device device(require_devices({}).front());
  const Queue queue = device.queue();
  for (const MemoryKind kind : {MemoryKind::kSvm, MemoryKind::kHostPointer}) {
    Buffer buffer(device, 128, kind);
    EXPECT_EQ(buffer.map(queue, /*for_writing=*/true, 64, 64),
              static_cast<std::byte*>(buffer.address()) + 64);
    Buffer other(device, 128, kind);
    buffer.fill(queue, std::byte{5});
    buffer.copy_to(queue, other);
    EXPECT_EQ(*other.map(queue, /*for_writing=*/false, 1, 127), std::byte{5});
  }
}

TEST_F(Sycl, RefusedCallsSayWhatAndWhy) {
  const Device device(require_devices({}).front());
  const Queue queue = device.queue();
  Buffer buffer(device, 64);
  std::array<std::byte, 64> bytes{};
  Event event;
  EXPECT_EQ(refusal("copy", [&] { buffer.write(queue, bytes.data(), 64); }),
            "a copy to the device with 'no luck at all'");
  refusal("copy", [&] { buffer.read(queue, bytes.data(), 64); });
  refusal("copy", [&] { buffer.copy_to(queue, buffer, 8, 0, 32); });
  refusal("fill", [&] { buffer.fill(queue, std::byte{1}); });
  refusal("make_queue", [&] { (void)device.queue(); });
  refusal("flush", [&] { queue.flush(); });
  refusal("finish", [&] { queue.finish(); });
  buffer.write(queue, bytes.data(), 64, 0, &event);
  refusal("begin_after", [&] { queue.begin_after({event}); });
  refusal("has_ended", [&] { (void)event.has_ended(); });
  refusal("wait", [&] { event.wait(); });
  refusal("times", [&] { (void)event.times(); });
  EXPECT_EQ(event.times().ended, 3);
  EXPECT_TRUE(
      mentions(message_of([&] { buffer.migrate(queue, true); }), "SYCL does not move a whole buffer"));
  EXPECT_TRUE(
      mentions(message_of([&] { (void)buffer_over(device, std::as_writable_bytes(std::span(bytes))); }),
               "makes no buffers over memory of the host"));
  EXPECT_FALSE(device.unordered_queue().has_value());
  go_wrong("allocate");
  EXPECT_TRUE(mentions(message_of([&] { Buffer(device, 64); }, ExitCode::kEnvironment),
                       "Fake Board has no room for a buffer of 64 bytes (no luck at all)"));
}

TEST_F(Sycl, KernelsAndWhatIsWrongWithThem) {
  const Device device(require_devices({}).front());
  const Queue queue = device.queue();
  const Buffer buffer(device, 64);
  const auto& implementation = device.implementation();
  EXPECT_THROW((void)implementation.build("", ""), BuildFailure);
  refusal("build", [&] { (void)implementation.build("text", ""); });
  const Program program = implementation.build("text", "");
  EXPECT_TRUE(
      mentions(message_of([&] { entry_point(program, "three"); }), "no kernel 'three', only 'one;two'"));
  refusal("make_kernel", [&] { (void)program->kernel("one"); });
  refusal("text", [&] { (void)program->binary(); });
  const auto kernel = entry_point(program, "one");
  const float number = 1;
  refusal("set_memory", [&] { kernel->set_memory(0, buffer.implementation()); });
  refusal("set_number", [&] { kernel->set_number(1, &number, sizeof(number)); });
  refusal("start", [&] { kernel->start(queue.implementation(), {}, nullptr, nullptr); });
  EXPECT_EQ(kernel->arguments().value().at(0).type, "float*");
  go_wrong("describe_argument");
  EXPECT_EQ(kernel->arguments(), std::nullopt);
}

TEST_F(Sycl, BuffersLieInTheMemoryThatTheirKernelIsLinkedTo) {
  const Device device(require_devices({}).front());
  const auto kernel = entry_point(device.implementation().build("text", ""), "one");
  const auto buffer = [&](MemoryKind kind = MemoryKind::kBuffer) {
    return Buffer(device, 128, kind, {.kernel = kernel.get(), .argument = 0});
  };
  const Buffer usual = buffer();
  kernel->set_memory(0, usual.implementation());
  refusal("location", [&] { kernel->set_memory(0, usual.implementation()); });
  go_wrong("in memory 2");
  const Buffer second = buffer();
  kernel->set_memory(0, second.implementation());
  kernel->set_memory(0, second.part(64, 64).implementation());
  EXPECT_TRUE(mentions(message_of([&] { kernel->set_memory(0, usual.implementation()); }),
                       "argument 'values' of a kernel is in memory 2 of the board, and its buffer in the "
                       "usual memory; build a library"));
  EXPECT_TRUE(mentions(message_of([&] { (void)buffer(MemoryKind::kSvm); }), "use --memory buffer"));
  go_wrong("in memory 9");
  EXPECT_TRUE(mentions(message_of([&] { kernel->set_memory(0, second.implementation()); }),
                       "in memory 9 of the board, and its buffer in memory 2"));
  EXPECT_TRUE(mentions(message_of([&] { (void)buffer(); }, ExitCode::kEnvironment),
                       "gives no buffer of 128 bytes in its memory 9, where the kernel reads it (no luck"));
}

}  // namespace

}  // namespace fabricmark::device
