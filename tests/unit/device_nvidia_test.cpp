#include "device/opencl/nvidia.hpp"

#include <map>

#include "device_support.hpp"

namespace fabricmark::device::opencl {

namespace {

using test::mentions;
using test::message_of;

std::string ptx(const std::string& target, const std::string& line) {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n\t// begin inline asm\n\t" + line +
         "\n\t// end inline asm\n";
}

TEST(Nvidia, UnitsAreThoseOfTheNextLowerCapabilityAndHopperHasItsOwn) {
  const std::map<std::uint64_t, std::uint64_t> expected{{70, 0},  {75, 0},   {80, 80},  {86, 80}, {89, 80},
                                                        {90, 91}, {100, 90}, {103, 90}, {120, 90}};
  for (const auto& [capability, units] : expected)
    EXPECT_EQ(matrix_units_of(capability), units) << capability;
}

TEST(Nvidia, CommentsOfHopperBecomeInstructionsAndTheTargetItsOwn) {
  const std::string rest = ", texmode_independent", line = "wgmma.fence.sync.aligned;";
  EXPECT_EQ(with_hopper_instructions(ptx("sm_90" + rest, "//@90a " + line) + "//@90a " + line),
            ptx("sm_90a" + rest, line) + line);
  EXPECT_EQ(with_hopper_instructions(ptx("sm_90", "//@90a " + line)), ptx("sm_90a", line));
}

TEST(Nvidia, OtherTextStaysAsItIs) {
  for (const std::string& text : {ptx("sm_90", "// @90a"), ptx("sm_86", "ret;"), std::string(),
                                  std::string("\x7f"
                                              "ELF")})
    EXPECT_EQ(with_hopper_instructions(text), text);
}

TEST(Nvidia, InstructionsOfHopperForAnotherTargetAreRefused) {
  for (const char* target : {"sm_86", "sm_90a", "sm_900", "sm_100, texmode_independent"}) {
    const std::string message =
        message_of([&] { (void)with_hopper_instructions(ptx(target, "//@90a wgmma.fence.sync.aligned;")); });
    EXPECT_TRUE(mentions(message, "not compiled for sm_90")) << message;
    EXPECT_TRUE(mentions(message, "--matrix-units 90")) << message;
  }
}

}  // namespace

}  // namespace fabricmark::device::opencl
