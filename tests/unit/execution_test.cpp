#include "runtime/execution.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

const ExecutionTable kTable{{"base", Between::kHosts, {}, false},
                            {"base", Between::kStreams, {}},
                            {"throughput", Between::kStreams, {}}};

TEST(Execution, IsThatOfVariantAndTransport) {
  EXPECT_EQ(&choose(kTable, "base", "channels"), &kTable[1]);
  EXPECT_EQ(&choose(kTable, "throughput", "channels"), &kTable[2]);
  EXPECT_FALSE(choose(kTable, "base", "cpu").needs_device);
}

TEST(Execution, ThatIsNotThereIsRefusedWithThosePairsThatAre) {
  for (const auto& [variant, transport] :
       {std::pair{"throughput", "cpu"}, {"new", "channels"}, {"base", ""}}) {
    const std::string message = message_of([&] { choose(kTable, variant, transport); });
    EXPECT_TRUE(mentions(message, variant)) << message;
    EXPECT_TRUE(mentions(message, "base with cpu, base with channels, throughput with channels")) << message;
  }
}

TEST(Execution, WithoutAVariantIsForAll) {
  const ExecutionTable table{{}};
  EXPECT_EQ(&choose(table, "base", ""), table.data());
  EXPECT_EQ(&choose(table, "new", "host"), table.data());
}

}  // namespace

}  // namespace fabricmark::runtime
