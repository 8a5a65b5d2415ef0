#include "runtime/linked_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "runtime/kernel_spec.hpp"
#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

constexpr std::array kModes{"buffered", "streaming"};

/// Of every program that there is; of one that is added, too.
std::vector<KernelSpec> programs_with_dataflow() {
  std::vector<KernelSpec> found;
  for (const auto& folder : std::filesystem::directory_iterator(FABRICMARK_TEST_KERNELS)) {
    const std::filesystem::path file = folder.path() / "kernel.toml";
    if (!std::filesystem::exists(file)) continue;
    KernelSpec spec = load_kernel_spec(file);
    if (std::ranges::any_of(spec.variants, [](const VariantSpec& one) { return one.is_dataflow(); }) &&
        spec.find("transport") != nullptr)
      found.push_back(std::move(spec));
  }
  return found;
}

const VariantSpec& dataflow(const KernelSpec& spec) {
  return *std::ranges::find_if(spec.variants, [](const VariantSpec& one) { return one.is_dataflow(); });
}

Parameters run_over(const std::string& transport, const std::string& mode) {
  Parameters parameters;
  parameters.set("transport", transport);
  parameters.set("mode", mode);
  return parameters;
}

Overrides linked_for(const std::string& transport, const std::string& mode) {
  Overrides sidecar;
  sidecar.origin = "cards.toml";
  sidecar.engine = LinkedEngine{{transport}, {mode}};
  return sidecar;
}

TEST(LinkedEngine, IsThatOfTheRunInEveryProgramTransportAndMode) {
  const std::vector<std::string> transports = transports_between({Between::kEngines});
  ASSERT_GE(transports.size(), 3U);
  const std::vector<KernelSpec> programs = programs_with_dataflow();
  ASSERT_GE(programs.size(), 4U);
  for (const KernelSpec& program : programs) {
    for (const std::string& transport : transports) {
      for (const std::string& built : transports) {
        for (const std::string mode : kModes) {
          for (const std::string built_mode : kModes) {
            SCOPED_TRACE(program.benchmark + " " + transport + "/" + mode + " of " + built + "/" +
                         built_mode);
            const auto judge = [&] {
              require_linked_engine(linked_for(built, built_mode), dataflow(program),
                                    run_over(transport, mode));
            };
            if (transport == built && mode == built_mode) {
              EXPECT_NO_THROW(judge());
              continue;
            }
            const std::string message = message_of(judge);
            const bool is_network = transport != built;
            const std::string option = is_network ? "transport " : "mode ";
            const std::string& asked = is_network ? transport : mode;
            const std::string& had = is_network ? built : built_mode;
            EXPECT_TRUE(mentions(message, "linked for " + option + had + " ('cards.toml')")) << message;
            EXPECT_TRUE(mentions(message, "wants " + option + asked)) << message;
            EXPECT_TRUE(mentions(message, "use --" + option + had)) << message;
          }
        }
      }
    }
  }
}

TEST(LinkedEngine, OfWhichTheSidecarSaysNothingIsRefused) {
  const std::string over = transports_between({Between::kEngines}).front();
  for (const KernelSpec& program : programs_with_dataflow()) {
    Overrides sidecar = linked_for(over, "buffered");
    sidecar.engine.reset();
    const std::string message =
        message_of([&] { require_linked_engine(sidecar, dataflow(program), run_over(over, "buffered")); });
    EXPECT_TRUE(mentions(message, "'cards.toml' does not say what engine")) << message;
  }
}

TEST(LinkedEngine, IsNotAskedForWithoutOne) {
  for (const KernelSpec& program : programs_with_dataflow()) {
    for (const std::string& transport : transports_between({Between::kStreams, Between::kHosts}))
      EXPECT_NO_THROW(require_linked_engine({}, dataflow(program), run_over(transport, "buffered")));
  }
  const std::string over = transports_between({Between::kEngines}).front();
  for (const KernelSpec& program : programs_with_dataflow()) {
    for (const VariantSpec& variant : program.variants) {
      if (variant.is_dataflow()) continue;
      EXPECT_NO_THROW(require_linked_engine({}, variant, run_over(over, "buffered")));
    }
  }
}

}  // namespace

}  // namespace fabricmark::runtime
