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
  EXPECT_EQ(memory_kind("peer"), MemoryKind::kPeer);
}

TEST(MemoryKind, RefusesOtherNamesAndListsItsOwn) {
  for (const char* name : {"", "SVM", "host_pointer", "hbm"}) {
    const std::string message = message_of([&] { memory_kind(name); });
    EXPECT_TRUE(mentions(message, "buffer, host-pointer, svm or peer")) << message;
  }
}

constexpr const char* kIntel = "Intel(R) FPGA SDK for OpenCL(TM)";

/// A bank of a board with so many, of which the host chooses.
Placement in_bank(int bank, int banks = 0, int index_offset = 0) {
  return {.bank = bank,
          .is_spread = true,
          .memory = {.choice = BoardMemory::Choice::kHost, .banks = banks, .index_offset = index_offset}};
}

class NoKernel : public backend::Kernel {
 public:
  void set_memory(unsigned /*index*/, const backend::Memory& /*memory*/) override {}
  void set_number(unsigned /*index*/, const void* /*value*/, std::size_t /*bytes*/) override {}
  void start(backend::Queue& /*queue*/, const Geometry& /*geometry*/, const Events* /*after*/,
             Event* /*done*/) const override {}
  [[nodiscard]] std::optional<std::size_t> argument_count() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override { return std::nullopt; }
};

// Recorded from Intel's CL/cl_ext_intelfpga.h: CL_CHANNEL_n_INTELFPGA is n << 16, n from 1 to 7.
TEST(BankPlacement, IsIntelsChannelFlag) {
  const auto flags = [](int bank, int banks = 0) {
    return bank_placement(fpga(kIntel), in_bank(bank, banks)).flags;
  };
  EXPECT_EQ(flags(0), 0x10000U);
  EXPECT_EQ(flags(1), 0x20000U);
  EXPECT_EQ(flags(3), 0x40000U);
  EXPECT_EQ(flags(6), 0x70000U);
  EXPECT_EQ(flags(7), 0U) << "there is no eighth flag";
  EXPECT_EQ(flags(5, 4), 0x20000U) << "modulo what there is";
  EXPECT_FALSE(bank_placement(fpga(kIntel), in_bank(0)).needs_pointer);
  EXPECT_EQ(bank_placement(fpga("Altera SDK for OpenCL"), in_bank(0)).flags, 0x10000U);
}

// CL_MEM_HETEROGENEOUS_INTELFPGA is 1 << 19 there: the memory gets its place with a kernel's argument.
TEST(BankPlacement, IsTheArgumentsWhereIntelsKernelsChoose) {
  const NoKernel kernel;
  Placement placement = in_bank(9, 32);
  placement.memory.choice = BoardMemory::Choice::kKernel;
  EXPECT_EQ(bank_placement(fpga(kIntel), placement).flags, 0x80000U);
  EXPECT_FALSE(bank_placement(fpga(kIntel), placement).binds) << "no kernel is named";
  placement.kernel = &kernel;
  EXPECT_TRUE(bank_placement(fpga(kIntel), placement).binds);
}

// Recorded from XRT's CL/cl_ext_xilinx.h: CL_MEM_EXT_PTR_XILINX and XCL_MEM_TOPOLOGY are both 1 << 31.
TEST(BankPlacement, IsXilinxTopologyBehindTheHostPointer) {
  for (const int bank : {0, 1, 31}) {
    const BankPlacement placement = bank_placement(fpga("Xilinx"), in_bank(bank));
    EXPECT_EQ(placement.flags, 0x80000000U);
    EXPECT_TRUE(placement.needs_pointer && !placement.by_argument);
    EXPECT_EQ(placement.pointer_flags, 0x80000000U | static_cast<unsigned>(bank));
  }
  const auto index = [](int bank) {
    return bank_placement(fpga("Xilinx"), in_bank(bank, 2, 32)).pointer_flags & 0xFFFFU;
  };
  EXPECT_EQ(index(1), 33U) << "the banks of HBM stand before those of DDR memory";
  EXPECT_EQ(index(2), 32U) << "modulo what there is";
}

TEST(BankPlacement, IsWhatXilinxConnectedToTheArgument) {
  const NoKernel kernel;
  for (const int bank : {-1, 0, 5}) {
    Placement placement = in_bank(bank, 32);
    placement.kernel = &kernel;
    placement.argument = 3;
    EXPECT_FALSE(bank_placement(fpga("Xilinx"), placement).by_argument) << "one of several buffers";
    placement.is_spread = false;
    const BankPlacement found = bank_placement(fpga("Xilinx"), placement);
    EXPECT_TRUE(found.needs_pointer && found.by_argument);
    EXPECT_EQ(found.pointer_flags, 3U);
  }
}

TEST(BankPlacement, IsLeftToTheRuntimeWhereBanksCannotBeChosen) {
  DeviceInfo cpu = fpga("Intel(R) OpenCL");
  cpu.device_class = DeviceClass::kCpu;
  DeviceInfo emulator = fpga("Intel(R) FPGA Emulation Platform for OpenCL(TM)");
  emulator.device_class = DeviceClass::kEmulator;
  Placement on_host = in_bank(1, 2);
  on_host.memory.kind = BoardMemory::Kind::kHost;
  for (const BankPlacement& placement :
       {bank_placement(cpu, in_bank(0)), bank_placement(emulator, in_bank(0)),
        bank_placement(fpga("Xilinx"), in_bank(-1)), bank_placement(fpga(kIntel), in_bank(-1)),
        bank_placement(fpga("Other"), in_bank(2)), bank_placement(fpga(kIntel), on_host)}) {
    EXPECT_EQ(placement.flags, 0U);
    EXPECT_FALSE(placement.needs_pointer || placement.binds);
  }
}

// A board with eight banks of 1 MiB.
class BankRoom : public testing::Test {
 protected:
  static constexpr std::uint64_t kMebibyte = 1U << 20U;
  BankUse use_{{.kind = BoardMemory::Kind::kHbm, .banks = 8, .bank_bytes = kMebibyte}};
};

TEST_F(BankRoom, HoldWhatFits) {
  use_.take(0, kMebibyte);
  use_.take(9, kMebibyte / 2);
  EXPECT_EQ(use_.used(1), kMebibyte / 2) << "modulo what there is";
  EXPECT_EQ(use_.emptiest(), 2);
  use_.take(-1, kMebibyte);
  EXPECT_EQ(use_.note(),
            "HBM: 2 of 8 banks chosen, most in bank 0: 1 of 1 MiB; 1 MiB where the runtime chooses");
}

TEST_F(BankRoom, RefuseWhatDoesNot) {
  use_.take(3, kMebibyte);
  const std::string one = message_of([&] { use_.take(3, 1); });
  EXPECT_TRUE(mentions(one, "1 MiB are to lie in bank 3 of HBM, which holds 1 MiB")) << one;
  use_.take(-1, 7 * kMebibyte);
  const std::string all = message_of([&] { use_.take(4, 1); });
  EXPECT_TRUE(mentions(all, "in the 8 banks of HBM, which hold 8 MiB")) << all;
}

TEST_F(BankRoom, OfWhichNothingIsKnownHoldAll) {
  for (const BoardMemory& memory :
       {BoardMemory{}, BoardMemory{.kind = BoardMemory::Kind::kHost, .banks = 2, .bank_bytes = 1}}) {
    BankUse use(memory);
    use.take(0, std::uint64_t{1} << 60U);
    EXPECT_EQ(use.emptiest(), -1);
    EXPECT_EQ(use.note(), "");
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
