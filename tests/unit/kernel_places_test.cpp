// What kernel.toml leaves to the device and to the transports: banks of arguments, and ways of messages.
#include <algorithm>
#include <tuple>

#include "runtime/kernel_spec.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

/// A shipped kernel.toml in which `from` became `to`.
KernelSpec shipped(const std::string& name, const std::string& from = {}, const std::string& to = {}) {
  const auto file = std::filesystem::path(FABRICMARK_TEST_KERNELS) / name / "kernel.toml";
  std::string text = test::content_of(file);
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return parse_kernel_spec(text, file);
}

TEST(Banks, FollowFromTheReplica) {
  const std::vector<std::tuple<std::string, int>> cases{
      {"", -1}, {", bank = \"shared\"", -1}, {", bank = \"2\"", 2}, {", bank = \"2 * replica + 1\"", 7}};
  for (const auto& [bank, expected] : cases) {
    const KernelSpec spec = shipped("stream", ", bank = \"replica\"", bank);
    EXPECT_EQ(bank_of(spec.variant("base"), {0, 3, "first"}), expected) << bank;
    EXPECT_EQ(bank_of(spec.variant("base"), {0, 3, "second"}), 3);
    EXPECT_THROW(bank_of(spec.variant("base"), {0, 3, "third"}), std::logic_error);
  }
  const std::string message =
      message_of([] { shipped("stream", "bank = \"replica\"", "bank = \"replication\""); });
  EXPECT_TRUE(mentions(message, "bank") && mentions(message, "replica + 1")) << message;
}

TEST(Banks, AreDifferentForTheReplicasOfShippedKernels) {
  const auto bank = [](const std::string& name, int replica, const std::string& argument) {
    return bank_of(shipped(name).variant("base"), {0, replica, argument});
  };
  EXPECT_EQ(bank("stream", 3, "result"), 3);
  EXPECT_EQ(bank("random_access", 2, "items"), 2);
  EXPECT_EQ(bank("gemm", 2, "a"), 2);
  EXPECT_EQ(bank("gemm", 2, "b"), -1) << "of all replicas, where it is one buffer";
  EXPECT_EQ(bank("fft", 2, "source"), 4);
  EXPECT_EQ(bank("fft", 2, "target"), 5);
  EXPECT_EQ(bank("hpl", 0, "a"), -1);
  EXPECT_EQ(bank("ptrans", 1, "a"), -1);
}

TEST(Banks, FollowFromThePartOfWhatIsSpread) {
  for (const auto& [name, argument] : {std::pair("gemm", "b"), std::pair("hpl", "a")})
    EXPECT_EQ(bank_of(shipped(name).variant("base"), {0, 0, argument, 5}), 5);
}

TEST(Transports, AndTheirOptionsComeFromTheirFolders) {
  const KernelSpec every = shipped("b_eff");
  const KernelSpec of_devices = shipped("hpl");
  for (const TransportSpec& transport : transport_specs()) {
    const auto names = [&](const KernelSpec& spec) {
      return std::ranges::count(spec.find("transport")->values, Value(transport.name));
    };
    const auto expects = [&](const KernelSpec& spec, bool is_of_memory) {
      const bool is_there = transport.is_between_memories()
                                ? is_of_memory
                                : std::ranges::any_of(spec.variants, &VariantSpec::is_dataflow);
      EXPECT_EQ(names(spec), is_there ? 1 : 0) << transport.name;
      EXPECT_EQ(mentions(spec.find("transport")->meaning, transport.summary), is_there);
      for (const ParameterSpec& option : transport.parameters)
        EXPECT_EQ(spec.find(option.name) != nullptr, is_there) << option.name;
    };
    expects(every, true);
    expects(of_devices, transport.between == Between::kDevices);
  }
  const std::string values = "values = \"transports\"";
  EXPECT_TRUE(mentions(message_of([&] { shipped("hpl", values, "values = \"transport\""); }), "values"));
  const std::string message = message_of([] { shipped("hpl", "\"device\"", "\"moon\""); });
  EXPECT_TRUE(mentions(message, "device or host")) << message;
}

TEST(Autorun, KernelsNeedADeviceOnWhichTheyStart) {
  const std::string entries = "entry_points = [\"touch\"]";
  const KernelSpec spec = shipped("b_eff", entries, entries + "\nautorun = [\"router\"]");
  EXPECT_EQ(spec.variant("base").autorun, std::vector<std::string>{"router"});
  using device::DeviceClass;
  for (const DeviceClass device_class :
       {DeviceClass::kCpu, DeviceClass::kGpu, DeviceClass::kFpga, DeviceClass::kEmulator}) {
    const auto resolved = [&] {
      Wanted wanted;
      wanted.variant = "base";
      return resolve(spec, {.device_class = device_class, .cores = 2}, wanted);
    };
    if (device_class == DeviceClass::kFpga || device_class == DeviceClass::kEmulator) {
      EXPECT_EQ(resolved().variant, "base");
    } else {
      EXPECT_TRUE(mentions(message_of(resolved), "router")) << device::class_name(device_class);
    }
  }
  const std::string message =
      message_of([&] { shipped("b_eff", entries, entries + "\nautorun = [\"touch\"]"); });
  EXPECT_TRUE(mentions(message, "autorun")) << message;
}

}  // namespace

}  // namespace fabricmark::runtime
