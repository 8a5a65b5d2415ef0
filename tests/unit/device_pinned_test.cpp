#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/memory.hpp"
#include "device_support.hpp"
#include "fake_device.hpp"
#include "runtime/context.hpp"

namespace fabricmark::device {

namespace {

using PinnedMemoryOnDevice = test_support::OnDevice;
using test_support::fake_device;
using test_support::FakeTime;

void number(PinnedMemory& memory) {
  for (std::size_t i = 0; i < memory.bytes(); ++i) memory.data()[i] = std::byte(i * 7 & 0xFF);
}
bool is_numbered(const PinnedMemory& memory) {
  for (std::size_t i = 0; i < memory.bytes(); ++i) {
    if (memory.data()[i] != std::byte(i * 7 & 0xFF)) return false;
  }
  return true;
}

TEST_F(PinnedMemoryOnDevice, IsMemoryOfTheHost) {
  for (const std::size_t bytes : {1UL, 4095UL, 1000003UL}) {
    PinnedMemory memory(device(), bytes);
    ASSERT_NE(memory.data(), nullptr);
    EXPECT_EQ(memory.bytes(), bytes);
    number(memory);
    EXPECT_TRUE(is_numbered(memory));
  }
}

TEST_F(PinnedMemoryOnDevice, MayHaveNoBytes) {
  const PinnedMemory memory(device(), 0);
  EXPECT_EQ(memory.bytes(), 0U);
  const PinnedMemory none;
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_EQ(none.data(), nullptr);
}

TEST_F(PinnedMemoryOnDevice, IsWhereCopiesStartAndEnd) {
  constexpr std::size_t kBytes = 100001;
  PinnedMemory source(device(), kBytes);
  PinnedMemory target(device(), kBytes);
  number(source);
  std::fill_n(target.data(), kBytes, std::byte{0});
  Buffer buffer(device(), kBytes);
  const Queue queue = device().queue();
  buffer.write(queue, source.data(), kBytes);
  buffer.read(queue, target.data() + 1, kBytes - 1, 1);
  queue.finish();
  target.data()[0] = source.data()[0];
  EXPECT_TRUE(is_numbered(target));
}

TEST_F(PinnedMemoryOnDevice, MovesToAnotherOwner) {
  PinnedMemory first(device(), 5000);
  number(first);
  const std::byte* const place = first.data();
  PinnedMemory second(std::move(first));
  EXPECT_EQ(second.data(), place);
  EXPECT_EQ(second.bytes(), 5000U);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_EQ(first.bytes(), 0U);
  PinnedMemory third(device(), 16);
  third = std::move(second);
  EXPECT_EQ(third.data(), place);
  EXPECT_TRUE(is_numbered(third));
  PinnedMemory& same = third;
  third = std::move(same);
  EXPECT_TRUE(is_numbered(third)) << "moved to itself";
  third = PinnedMemory(device(), 8);
  EXPECT_EQ(third.bytes(), 8U);
}

/// Memory that is large enough to be refused by a real runtime may be more than a busy machine has left.
constexpr std::size_t kLittle = 4096;
FoundDevice with_room_for_little() {
  static FakeTime time;
  return fake_device(time, {}, kLittle);
}

TEST_F(PinnedMemoryOnDevice, IsWhatAGpuOfItsOwnMemoryGets) {
  FoundDevice found = found_;
  found.info.device_class = DeviceClass::kGpu;
  found.info.shares_host_memory = false;
  const Device gpu(found);
  HostArray<int> array(gpu, 1000);
  EXPECT_TRUE(array.is_pinned());
  array[999] = 7;
  const HostArray<int> moved = std::move(array);
  EXPECT_TRUE(moved.is_pinned());
  EXPECT_EQ(moved[999], 7);
  const HostArray<std::byte> too_large(Device(with_room_for_little()), 2 * kLittle);
  EXPECT_FALSE(too_large.is_pinned()) << "pages where the runtime has no such room";
  found.info.shares_host_memory = true;
  EXPECT_FALSE(HostArray<int>(Device(found), 10).is_pinned());
  found.info.device_class = DeviceClass::kCpu;
  found.info.shares_host_memory = false;
  EXPECT_FALSE(HostArray<int>(Device(found), 10).is_pinned());
}

TEST_F(PinnedMemoryOnDevice, IsWhatTheResultNames) {
  const Device gpu(with_room_for_little());
  const runtime::Parameters parameters;
  const std::unique_ptr<runtime::Communicator> ranks = runtime::single_rank();
  Timeline timeline(false);
  const runtime::VariantSpec variant;
  const runtime::Context context(gpu, parameters, *ranks, timeline, Program(), variant, {});
  EXPECT_EQ(context.host_memory(), "");
  EXPECT_TRUE(context.host_array<int>(100).is_pinned());
  EXPECT_EQ(context.host_memory(), "pinned");
  EXPECT_FALSE(context.host_array<std::byte>(2 * kLittle).is_pinned());
  EXPECT_EQ(context.host_memory(), "pageable") << "one that is slower decides";
  const runtime::Context of_a_cpu(device(), parameters, *ranks, timeline, Program(), variant, {});
  if (found_.info.device_class != DeviceClass::kCpu) return;
  EXPECT_FALSE(of_a_cpu.host_array<int>(100).is_pinned());
  EXPECT_EQ(of_a_cpu.host_memory(), "");
}

TEST_F(PinnedMemoryOnDevice, SaysWhenThereIsNoRoom) {
  const std::size_t bytes = 4 * found_.info.global_memory_bytes;
  const std::string message =
      test::message_of([&] { PinnedMemory(device(), bytes); }, ExitCode::kEnvironment);
  EXPECT_TRUE(test::mentions(message, std::to_string(bytes))) << message;
}

}  // namespace

}  // namespace fabricmark::device
