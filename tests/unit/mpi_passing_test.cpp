// What an MPI library gets as the address of a message in a device's memory, and which libraries are refused.
#include "transport/mpi/passing.hpp"

#include "support.hpp"

namespace fabricmark::transport {

namespace {

using device::DeviceClass;
using device::DeviceInfo;
using device::MemoryKind;
using runtime::DevicePointers;
using test::mentions;
using test::message_of;

/// One rank of an MPI library that says what it takes.
class OverLibrary : public runtime::Communicator {
 public:
  explicit OverLibrary(std::vector<DevicePointers> taken) : taken_(std::move(taken)) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string kind() const override { return "mpi"; }
  [[nodiscard]] std::string library() const override { return "Some MPI 7.1"; }
  [[nodiscard]] bool takes(DevicePointers pointers) const override {
    return std::ranges::find(taken_, pointers) != taken_.end();
  }
  std::int64_t all_reduce_max(std::int64_t value) override { return value; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) override {
    return {{bytes.begin(), bytes.end()}};
  }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }
  runtime::Request start_send(int, std::span<const std::byte>, int) override { return {}; }
  runtime::Request start_receive(int, std::span<std::byte>, int) override { return {}; }
  bool test(runtime::Request&) override { return true; }
  void cancel(runtime::Request&) override {}
  void fail(const runtime::Failure&) noexcept override {}
  void check() override {}
  runtime::Ending end(const std::optional<runtime::Failure>&) noexcept override { return {}; }

 private:
  std::vector<DevicePointers> taken_;
};

DeviceInfo gpu(const std::string& platform, const std::string& vendor) {
  DeviceInfo info;
  info.platform = platform;
  info.name = "H200";
  info.vendor = vendor;
  info.device_class = DeviceClass::kGpu;
  return info;
}

TEST(MpiPassing, KnowsWhosePointersThoseOfADeviceAre) {
  EXPECT_EQ(pointers_of(gpu("NVIDIA CUDA", "NVIDIA Corporation")), DevicePointers::kCuda);
  EXPECT_EQ(pointers_of(gpu("AMD Accelerated Parallel Processing", "Advanced Micro Devices, Inc.")),
            DevicePointers::kRocm);
  EXPECT_EQ(pointers_of(gpu("Intel(R) OpenCL Graphics", "Intel(R) Corporation")), DevicePointers::kLevelZero);
  EXPECT_EQ(pointers_of(gpu("Portable Computing Language", "somebody")), std::nullopt);
  DeviceInfo board = gpu("Intel(R) FPGA SDK for OpenCL(TM)", "Intel(R) Corporation");
  board.device_class = DeviceClass::kFpga;
  EXPECT_EQ(pointers_of(board), std::nullopt) << "no MPI says anything of the pointers of a board";
}

TEST(MpiPassing, FollowsTheKindOfMemory) {
  const OverLibrary ranks({DevicePointers::kCuda});
  const DeviceInfo nvidia = gpu("NVIDIA CUDA", "NVIDIA Corporation");
  for (const char* const wanted : {"mapped", "device"}) {
    EXPECT_EQ(passing(nvidia, MemoryKind::kBuffer, wanted, ranks), Passing::kHandle);
    EXPECT_EQ(passing(nvidia, MemoryKind::kHostPointer, wanted, ranks), Passing::kHandle);
  }
  EXPECT_EQ(passing(nvidia, MemoryKind::kSvm, "mapped", ranks), Passing::kMapped);
  EXPECT_EQ(passing(nvidia, MemoryKind::kSvm, "device", ranks), Passing::kPointer);
}

TEST(MpiPassing, RefusesALibraryThatDoesNotSayThatItTakesSuchPointers) {
  const OverLibrary ranks({DevicePointers::kCuda});
  const std::string line = message_of(
      [&] { passing(gpu("AMD", "Advanced Micro Devices, Inc."), MemoryKind::kSvm, "device", ranks); },
      ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(line, "Some MPI 7.1 does not take SVM pointers of H200")) << line;
  EXPECT_TRUE(mentions(line, "--svm-pointers mapped")) << line;
}

TEST(MpiPassing, RefusesPointersOfADeviceWhoseMemoryIsTheHosts) {
  DeviceInfo processor;
  processor.name = "a processor";
  const OverLibrary ranks({DevicePointers::kCuda, DevicePointers::kRocm, DevicePointers::kLevelZero});
  const std::string line = message_of([&] { passing(processor, MemoryKind::kSvm, "device", ranks); });
  EXPECT_TRUE(mentions(line, "a processor")) << line;
  EXPECT_EQ(passing(processor, MemoryKind::kSvm, "mapped", ranks), Passing::kMapped);
}

TEST(MpiPassing, RefusesHandlesOfARuntimeThatHasNone) {
  DeviceInfo processor;
  processor.platform = "SYCL: some platform";
  processor.has_memory_objects = false;
  const OverLibrary ranks({});
  const std::string line = message_of([&] { passing(processor, MemoryKind::kBuffer, "mapped", ranks); });
  EXPECT_TRUE(mentions(line, "SYCL: some platform has no memory objects")) << line;
  EXPECT_EQ(passing(processor, MemoryKind::kSvm, "mapped", ranks), Passing::kMapped);
}

TEST(MpiPassing, OfXrtsOwnBuffersIsTheHostsView) {
  DeviceInfo board;
  board.platform = "XRT";
  board.vendor = "Xilinx";
  board.device_class = DeviceClass::kFpga;
  board.has_memory_objects = false;
  const OverLibrary ranks({});
  for (const MemoryKind memory : {MemoryKind::kBuffer, MemoryKind::kHostPointer, MemoryKind::kPeer})
    EXPECT_EQ(passing(board, memory, "mapped", ranks), Passing::kMapped);
  EXPECT_EQ(in_words(Passing::kMapped, board), "the host's view of XRT's buffers");
  EXPECT_TRUE(mentions(not_taken(Passing::kMapped, board, ranks).what(), "over Some MPI 7.1 other bytes"));
  board.has_memory_objects = true;  // by OpenCL
  EXPECT_EQ(passing(board, MemoryKind::kBuffer, "mapped", ranks), Passing::kHandle);
}

TEST(MpiPassing, RefusesRanksThatAreNoProcesses) {
  const std::unique_ptr<runtime::Communicator> ranks = runtime::single_rank();
  for (const MemoryKind memory : {MemoryKind::kBuffer, MemoryKind::kSvm}) {
    const std::string line = message_of([&] { passing({}, memory, "mapped", *ranks); });
    EXPECT_TRUE(mentions(line, "mpirun -n 1")) << line;
  }
}

}  // namespace

}  // namespace fabricmark::transport
