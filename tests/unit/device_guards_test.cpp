// Zones around buffers, and what OpenCL's runtimes are handed: calls below are seen by this program first.
#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <string>
#include <vector>

#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/replications.hpp"
#include "device_support.hpp"

namespace {

/// What runtimes were given last.
struct Seen {
  const unsigned char* pattern = nullptr;
  int finishes = 0;
  int writes = 0;
  int refused_write = -1;  ///< its number, from 0
};
Seen seen;

template <typename Function>
Function* below(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void* pattern, std::size_t size,
                           std::size_t offset, std::size_t bytes, cl_uint count, const cl_event* events,
                           cl_event* event) {
  seen.pattern = static_cast<const unsigned char*>(pattern);
  return below<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer")(queue, memory, pattern, size, offset,
                                                                     bytes, count, events, event);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void* memory, const void* pattern, std::size_t size,
                           std::size_t bytes, cl_uint count, const cl_event* events, cl_event* event) {
  seen.pattern = static_cast<const unsigned char*>(pattern);
  return below<decltype(clEnqueueSVMMemFill)>("clEnqueueSVMMemFill")(queue, memory, pattern, size, bytes,
                                                                     count, events, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, std::size_t offset,
                            std::size_t bytes, const void* data, cl_uint count, const cl_event* events,
                            cl_event* event) {
  if (seen.writes++ == seen.refused_write) return CL_OUT_OF_RESOURCES;
  return below<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer")(queue, memory, blocks, offset, bytes,
                                                                       data, count, events, event);
}

cl_int clFinish(cl_command_queue queue) {
  ++seen.finishes;
  return below<decltype(clFinish)>("clFinish")(queue);
}
}

namespace fabricmark::device {

namespace {

// Writes `count` numbers from `first` on, which may be before or behind its memory.
constexpr const char* kWrites =
    "__kernel void outside(__global int* memory, const ulong first, const ulong count) {\n"
    "  for (ulong i = 0; i < count; ++i) memory[(long)first + (long)i] = 7;\n"
    "}\n";
const EntryPoint kOutside{
    "outside",
    {{"memory", ArgumentKind::kBuffer}, {"first", ArgumentKind::kUlong}, {"count", ArgumentKind::kUlong}}};

class OnGuarded : public test_support::OnDevice, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr std::size_t kCount = 1001;  // numbers of 4 bytes: no multiple of a page or a line

  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (std::string(GetParam()) == "svm" && !found_.info.has_svm) GTEST_SKIP() << "no shared virtual memory";
    device().guards().begin();
    seen = {};
  }
  [[nodiscard]] Buffer buffer(std::size_t count = kCount) const {
    return {device(), count * sizeof(int), memory_kind(GetParam())};
  }
  void write_outside(const Buffer& buffer, std::int64_t first, std::uint64_t count) {
    Timeline timeline(false);
    const Program program = build_from_source(device(), kWrites, "outside.cl", {}).program;
    Replications kernel(device(), program, kOutside, 1, timeline);
    kernel.set(0, {{"memory", buffer}, {"first", static_cast<std::uint64_t>(first)}, {"count", count}});
    kernel.run("outside", {{}});
  }
};

INSTANTIATE_TEST_SUITE_P(EachKind, OnGuarded, testing::Values("buffer", "host-pointer", "svm"),
                         [](const auto& kind) { return std::string(kind.param).substr(0, 4); });

TEST_P(OnGuarded, WhatStaysInsideBreaksNothing) {
  const Buffer one = buffer();
  write_outside(one, 0, kCount);
  EXPECT_TRUE(device().guards().broken().empty());
  EXPECT_GE(device().guards().checked_bytes(), 2U << 16);
  EXPECT_EQ(device().guards().without(), 0U);
}

TEST_P(OnGuarded, OneNumberBeforeOrBehindIsFoundOnceAndNamed) {
  const Buffer other = buffer();
  const Buffer one = buffer();
  for (const std::int64_t place : {std::int64_t{-1}, static_cast<std::int64_t>(kCount)}) {
    write_outside(one, place, 1);
    const std::vector<BrokenGuard> broken = device().guards().broken();
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].is_behind, place > 0);
    EXPECT_EQ(broken[0].nearest, 0U);
    EXPECT_EQ(broken[0].farthest, 3U);
    EXPECT_EQ(broken[0].place(), std::string("4 bytes ") + (place > 0 ? "behind" : "before") +
                                     " 'memory' of the kernel outside, 0 to 3 bytes away from it");
    EXPECT_TRUE(device().guards().broken().empty()) << "mended";
  }
}

TEST_P(OnGuarded, ZonesGrowWithTheBuffer) {
  const Buffer one = buffer(std::size_t{4} << 20);
  write_outside(one, (std::int64_t{4} << 20) + (std::int64_t{255} << 10), 1);
  const std::vector<BrokenGuard> broken = device().guards().broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].nearest, std::size_t{255} << 12);
}

TEST_P(OnGuarded, PartsAreInsideOfTheWhole) {
  const Buffer one = buffer(std::size_t{1} << 14);
  const Buffer part = one.part(4096, 4096);
  write_outside(part, -1024, 3072);
  EXPECT_TRUE(device().guards().broken().empty());
  write_outside(part, -1025, 1);
  EXPECT_EQ(device().guards().broken().size(), 1U);
}

TEST_P(OnGuarded, WhatWasBrokenAroundAReleasedBufferIsFoundToo) {
  {
    const Buffer one = buffer();
    write_outside(one, -1, 1);
  }
  EXPECT_EQ(device().guards().broken().size(), 1U);
}

TEST_P(OnGuarded, BuffersHaveNoneWhereTheDeviceHasNoRoomForThem) {
  FoundDevice small = found_;
  small.info.max_allocation_bytes = 1 << 16;
  const Device tight(small);
  tight.guards().begin();
  const Buffer one(tight, 1 << 16, memory_kind(GetParam()));
  EXPECT_EQ(tight.guards().without(), 1U);
  EXPECT_TRUE(tight.guards().broken().empty());
}

// XRT reads the pattern when the fill begins, not when it is queued.
TEST_P(OnGuarded, APatternOutlivesTheCall) {
  Buffer one = buffer();
  const Queue queue = device().queue();
  const unsigned char* pattern = nullptr;
  for (const unsigned char value : std::to_array<unsigned char>({0x00, 0x3F, 0xFF})) {
    one.fill(queue, std::byte{value});
    ASSERT_NE(seen.pattern, pattern) << "a place of its own";
    pattern = seen.pattern;
    char here = 0;
    pthread_attr_t attributes;
    void* stack = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    const auto place = reinterpret_cast<std::uintptr_t>(pattern) - reinterpret_cast<std::uintptr_t>(stack);
    EXPECT_GE(place, bytes) << "on the stack, as " << static_cast<void*>(&here);
    EXPECT_EQ(*pattern, value);
    queue.finish();
    EXPECT_EQ(*pattern, value);
  }
}

TEST_P(OnGuarded, WhatACallThatIsRefusedFollowsHasEndedWhenTheErrorComes) {
  if (std::string(GetParam()) == "svm") GTEST_SKIP() << "written by another call";
  Buffer one = buffer();
  const Queue queue = device().queue();
  const std::vector<int> numbers(kCount, 3);
  one.write(queue, numbers.data(), one.bytes());
  seen.finishes = 0;
  seen.refused_write = seen.writes;
  EXPECT_THROW(one.write(queue, numbers.data(), one.bytes()), std::exception);
  EXPECT_EQ(seen.finishes, 1);
}

}  // namespace

}  // namespace fabricmark::device
