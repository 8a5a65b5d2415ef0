#include "device/memory.hpp"
#include "device/opencl/bank.hpp"

#include <cstdint>

#include "support.hpp"

namespace fabricmark::device {

namespace {

using opencl::bank_placement;
using opencl::BankPlacement;
using test::mentions;
using test::message_of;

DeviceInfo fpga(const std::string& platform) {
  DeviceInfo info;
  info.platform = platform;
  info.device_class = DeviceClass::kFpga;
  return info;
}

TEST(MemoryKind, IsReadFromItsName) {
  EXPECT_EQ(memory_kind("buffer"), MemoryKind::kBuffer);
  EXPECT_EQ(memory_kind("host-pointer"), MemoryKind::kHostPointer);
  EXPECT_EQ(memory_kind("svm"), MemoryKind::kSvm);
}

TEST(MemoryKind, RefusesOtherNamesAndListsItsOwn) {
  for (const char* name : {"", "SVM", "host_pointer", "hbm"}) {
    const std::string message = message_of([&] { memory_kind(name); });
    EXPECT_TRUE(mentions(message, "buffer, host-pointer or svm")) << message;
  }
}

// Recorded from Intel's CL/cl_ext_intelfpga.h: CL_CHANNEL_n_INTELFPGA is n << 16, n from 1 to 7.
TEST(BankPlacement, IsIntelsChannelFlag) {
  const DeviceInfo info = fpga("Intel(R) FPGA SDK for OpenCL(TM)");
  EXPECT_EQ(bank_placement(info, 0).flags, 0x10000U);
  EXPECT_EQ(bank_placement(info, 1).flags, 0x20000U);
  EXPECT_EQ(bank_placement(info, 3).flags, 0x40000U);
  EXPECT_EQ(bank_placement(info, 6).flags, 0x70000U);
  EXPECT_EQ(bank_placement(info, 7).flags, 0U) << "there is no eighth flag";
  EXPECT_FALSE(bank_placement(info, 0).needs_topology);
  EXPECT_EQ(bank_placement(fpga("Altera SDK for OpenCL"), 0).flags, 0x10000U);
}

// Recorded from XRT's CL/cl_ext_xilinx.h: CL_MEM_EXT_PTR_XILINX and XCL_MEM_TOPOLOGY are both 1 << 31.
TEST(BankPlacement, IsXilinxTopologyBehindTheHostPointer) {
  for (const int bank : {0, 1, 31}) {
    const BankPlacement placement = bank_placement(fpga("Xilinx"), bank);
    EXPECT_EQ(placement.flags, 0x80000000U);
    EXPECT_TRUE(placement.needs_topology);
    EXPECT_EQ(placement.topology, 0x80000000U | static_cast<unsigned>(bank));
  }
}

TEST(BankPlacement, IsLeftToTheRuntimeWhereBanksCannotBeChosen) {
  DeviceInfo cpu = fpga("Intel(R) OpenCL");
  cpu.device_class = DeviceClass::kCpu;
  DeviceInfo emulator = fpga("Intel(R) FPGA Emulation Platform for OpenCL(TM)");
  emulator.device_class = DeviceClass::kEmulator;
  for (const BankPlacement& placement :
       {bank_placement(cpu, 0), bank_placement(emulator, 0), bank_placement(fpga("Xilinx"), -1),
        bank_placement(fpga("Intel(R) FPGA SDK for OpenCL(TM)"), -1), bank_placement(fpga("Other"), 2)}) {
    EXPECT_EQ(placement.flags, 0U);
    EXPECT_FALSE(placement.needs_topology);
  }
}

TEST(HostArray, StartsAtAPage) {
  for (const std::size_t count : {1U, 7U, 1000U, 4096U, 100001U}) {
    HostArray<double> array(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % kPageBytes, 0U);
    array[0] = 1;
    array[count - 1] = 2;  // the sanitizers see it when the end is missing
    EXPECT_EQ(array.span().size(), count);
    EXPECT_EQ(array.span().back(), count == 1 ? 2 : array[count - 1]);
  }
}

TEST(HostArray, MayBeEmpty) {
  const HostArray<float> nothing;
  EXPECT_EQ(nothing.size(), 0U);
  const HostArray<float> none(0);
  EXPECT_EQ(none.span().size(), 0U);
}

}  // namespace

}  // namespace fabricmark::device
