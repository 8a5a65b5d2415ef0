#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/replications.hpp"
#include "device_support.hpp"

namespace fabricmark::device {

namespace {

using test::mentions;
using test::message_of;

constexpr std::size_t kCount = 100000;
constexpr const char* kDouble = "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2; }\n";

class OnBuffer : public test_support::OnDevice, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (std::string(GetParam()) == "svm" && !found_.info.has_svm) GTEST_SKIP() << "no shared virtual memory";
    device().guards().begin();  // so that each is a part of another memory
    queue_ = device().queue();
    input_ = HostArray<float>(kCount);
    std::iota(input_.span().begin(), input_.span().end(), 1.0F);
  }
  [[nodiscard]] Buffer filled() {
    Buffer buffer(device(), kCount * sizeof(float), memory_kind(GetParam()));
    buffer.write(queue_, input_.data(), kCount * sizeof(float));
    queue_.finish();
    return buffer;
  }
  HostArray<float> read(const Buffer& buffer) {
    HostArray<float> output(buffer.bytes() / sizeof(float));
    buffer.read(queue_, output.data(), buffer.bytes());
    queue_.finish();
    return output;
  }

  Queue queue_;
  HostArray<float> input_;
};

INSTANTIATE_TEST_SUITE_P(EachKind, OnBuffer, testing::Values("buffer", "host-pointer", "svm"),
                         [](const auto& kind) { return std::string(kind.param).substr(0, 4); });

TEST_P(OnBuffer, GivesBackWhatWasWritten) {
  const HostArray<float> output = read(filled());
  EXPECT_TRUE(std::equal(output.span().begin(), output.span().end(), input_.span().begin()));
}

/// What the system says of the pages around an address, such as "hg" for those that may be huge (proc(5)).
std::string page_flags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &start, &end) == 2) {
      const auto wanted = reinterpret_cast<std::uintptr_t>(address);
      is_here = start <= wanted && wanted < end;
    }
    if (is_here && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST_P(OnBuffer, AsksForHugePagesWhereItsMemoryIsTheHosts) {
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  if (!device().info().is_in_host_memory() || std::string(GetParam()) == "svm") GTEST_SKIP();
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP();
  Buffer buffer(device(), kBytes, memory_kind(GetParam()));
  std::byte* const mapped = buffer.map(queue_, true, kBytes);
  const std::string flags = page_flags(mapped + kBytes / 2);
  buffer.unmap(queue_, mapped);
  queue_.finish();
  EXPECT_TRUE(mentions(flags, " hg ")) << flags;
}

TEST_P(OnBuffer, CopiesPartOfItself) {
  Buffer buffer = filled();
  const float mark = -1;
  buffer.write(queue_, &mark, sizeof(mark), 7 * sizeof(float));
  float back = 0;
  buffer.read(queue_, &back, sizeof(back), 7 * sizeof(float));
  queue_.finish();
  EXPECT_EQ(back, -1);
  EXPECT_EQ(read(buffer)[8], 9);
}

TEST_P(OnBuffer, HasTheSameByteEverywhereWhenFilled) {
  const Buffer buffer = filled();
  Buffer part = buffer.part(found_.info.sub_buffer_alignment_bytes, 64 * sizeof(float));
  part.fill(queue_, std::byte{0x3F});
  queue_.finish();
  const HostArray<float> output = read(buffer);
  const auto first = static_cast<std::ptrdiff_t>(found_.info.sub_buffer_alignment_bytes / sizeof(float));
  const auto from = output.span().begin() + first;
  EXPECT_TRUE(std::all_of(from, from + 64,
                          [](float value) { return std::bit_cast<std::uint32_t>(value) == 0x3F3F3F3FU; }));
  EXPECT_TRUE(std::equal(output.span().begin(), from, input_.span().begin()));
  EXPECT_TRUE(std::equal(from + 64, output.span().end(), input_.span().begin() + first + 64));
}

TEST_P(OnBuffer, HoldsNothingButNaNWhenPoisoned) {
  Buffer buffer = filled();
  buffer.poison(queue_);
  const HostArray<float> output = read(buffer);
  EXPECT_TRUE(std::ranges::all_of(output.span(), [](float value) { return std::isnan(value); }));
}

TEST_P(OnBuffer, IsPoisonedToItsEndWhereThatTakesSeveralCommands) {
  constexpr std::size_t kMore = 1000;  // floats, behind the last whole command
  Buffer buffer(device(), 2 * kFilledBytes + kMore * sizeof(float), memory_kind(GetParam()));
  const std::vector<float> marks(kMore, 1);
  for (const std::size_t place : {std::size_t{0}, kFilledBytes - kMore, 2 * kFilledBytes}) {
    buffer.write(queue_, marks.data(), kMore * sizeof(float), place);
  }
  buffer.poison(queue_);
  const HostArray<float> output = read(buffer);
  EXPECT_TRUE(std::ranges::all_of(output.span(), [](float value) { return std::isnan(value); }));
}

TEST_P(OnBuffer, IsPoisonedBeyond2GiB) {
  constexpr std::size_t kBoundary = std::size_t{1} << 31;  // where NVIDIA's runtime needs another way
  constexpr std::size_t kBytes = kBoundary + kFilledBytes + 4;
  const DeviceInfo& info = device().info();
  if (info.max_allocation_bytes < kBytes || info.global_memory_bytes < 2 * kBytes) GTEST_SKIP();
  Buffer buffer(device(), kBytes, memory_kind(GetParam()));
  buffer.poison(queue_);
  for (const std::size_t place : {kBoundary - 4, kBoundary, kBytes - 4}) {
    std::uint32_t found = 0;
    buffer.read(queue_, &found, sizeof(found), place);
    queue_.finish();
    EXPECT_EQ(found, 0xFFFFFFFFU) << "at " << place;
  }
}

TEST_P(OnBuffer, KeepsItsContentsWhenMigrated) {
  Buffer buffer = filled();
  buffer.migrate(queue_, /*to_host=*/false);
  buffer.migrate(queue_, /*to_host=*/true);
  queue_.finish();
  EXPECT_EQ(read(buffer)[kCount - 1], static_cast<float>(kCount));
}

TEST_P(OnBuffer, MapsWithEvents) {
  Buffer buffer = filled();
  Event done;
  std::byte* const view = buffer.map(queue_, /*for_writing=*/false, buffer.bytes(), 0, &done);
  done.wait();
  EXPECT_EQ(reinterpret_cast<const float*>(view)[7], input_[7]);
  buffer.unmap(queue_, view, &done);
  done.wait();
}

TEST_P(OnBuffer, SeveralMigrateByOneCommand) {
  const std::vector<Buffer> buffers{filled(), filled()};
  Event done;
  for (const bool to_host : {true, false}) {
    migrate(queue_, buffers, to_host, &done);
    done.wait();
  }
  EXPECT_EQ(read(buffers[1])[kCount - 1], static_cast<float>(kCount));
}

using OnDeviceAlone = test_support::OnDevice;

TEST_F(OnDeviceAlone, BuffersLieOverTheHostsBytesAlignedOrNot) {
  const Queue queue = device().queue();
  for (const std::size_t off : {0, 64}) {
    HostArray<std::byte> host(8192);
    std::ranges::fill(host.span(), std::byte{3});
    Buffer buffer = buffer_over(device(), host.span().subspan(off, 5));
    EXPECT_EQ(buffer.bytes(), 5U);
    std::byte* const view = buffer.map(queue, /*for_writing=*/true, 5);
    std::fill_n(view, 5, std::byte{4});
    buffer.unmap(queue, view);
    std::byte found{};
    buffer.read(queue, &found, 1, 4);
    queue.finish();
    EXPECT_EQ(found, std::byte{4}) << off;
  }
}

TEST_F(OnDeviceAlone, CommandsOfAnUnorderedQueueEndWithIt) {
  const std::optional<Queue> queue = device().unordered_queue(/*profiling=*/true);
  if (!queue) GTEST_SKIP() << "no out-of-order queues";
  std::vector<Buffer> buffers;
  std::vector<Event> events(4);
  std::array<int, 4> numbers{1, 2, 3, 4};
  std::array<int, 4> found{};
  for (std::size_t i = 0; i < events.size(); ++i) {
    buffers.emplace_back(device(), sizeof(int));
    buffers[i].write(*queue, &numbers[i], sizeof(int), 0, &events[i]);
  }
  queue->finish();
  for (const Event& one : events) EXPECT_LE(one.times().started, one.times().ended);
  for (std::size_t i = 0; i < events.size(); ++i) buffers[i].read(*queue, &found[i], sizeof(int));
  queue->finish();
  EXPECT_EQ(found, numbers);
}

TEST_P(OnBuffer, IsChangedByAKernelThroughAPartOfIt) {
  const Buffer buffer = filled();
  const std::size_t offset = found_.info.sub_buffer_alignment_bytes;
  const Buffer part = buffer.part(offset, 64 * sizeof(float));
  const BuiltProgram built = build_from_source(device(), kDouble, "twice.cl", {});
  Timeline timeline(false);
  Replications kernel(device(), built.program, {"twice", {{"x", ArgumentKind::kBuffer}}}, 1, timeline);
  kernel.set(0, {{"x", part}});
  kernel.start_on(queue_, 0, {64, Geometry::kAnyLocal}, nullptr, nullptr);
  queue_.finish();
  const HostArray<float> output = read(buffer);
  const std::size_t first = offset / sizeof(float);
  EXPECT_EQ(output[first - 1], input_[first - 1]);
  EXPECT_EQ(output[first], 2 * input_[first]);
  EXPECT_EQ(output[first + 63], 2 * input_[first + 63]);
  EXPECT_EQ(output[first + 64], input_[first + 64]);
}

TEST_P(OnBuffer, RefusesAPartThatIsMisalignedOrTooLong) {
  const Buffer buffer = filled();
  const std::size_t alignment = found_.info.sub_buffer_alignment_bytes;
  EXPECT_TRUE(mentions(message_of([&] { (void)buffer.part(4, 4); }), std::to_string(alignment)));
  message_of([&] { (void)buffer.part(alignment, buffer.bytes()); });
}

using BufferOnDevice = test_support::OnDevice;

TEST_F(BufferOnDevice, SaysWhenThereIsNoRoom) {
  const std::size_t bytes = 4 * found_.info.global_memory_bytes;
  const std::string message = message_of([&] { Buffer(device(), bytes); }, ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(message, std::to_string(bytes))) << message;
}

TEST_F(BufferOnDevice, RefusesSvmWhereItIsNotOffered) {
  FoundDevice without = found_;
  without.info.has_svm = false;
  const Device plain(without);
  EXPECT_TRUE(mentions(message_of([&] { Buffer(plain, 64, MemoryKind::kSvm); }), "shared virtual memory"));
}

TEST_F(BufferOnDevice, FindsDevicesByIndexAndByPartOfTheNameInAnyCase) {
  std::string name = found_.info.platform.substr(0, 6);
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  Selection selection;
  selection.platform = name;
  EXPECT_EQ(find_devices(selection).front().info.platform, found_.info.platform);
  selection.device = "0";
  EXPECT_EQ(find_devices(selection).size(), 1U);
  selection.platform = "no such platform";
  EXPECT_TRUE(mentions(message_of([&] { find_devices(selection); }), found_.info.platform));
}

TEST_F(BufferOnDevice, IsDividedAmongTheRanksOfAProcess) {
  if (found_.info.device_class != DeviceClass::kCpu || found_.info.compute_units < 2)
    GTEST_SKIP() << "one unit";
  const Device part(found_, {1, 2});
  EXPECT_EQ(part.info().compute_units, found_.info.compute_units / 2);
  const Device crowded(found_, {70, 100});
  EXPECT_EQ(crowded.info().compute_units, 1U);
}

}  // namespace

}  // namespace fabricmark::device
