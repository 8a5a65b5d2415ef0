// Collective calls over transports between the host memories of ranks.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "runtime/communicator.hpp"
#include "support.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/faulty_transport.hpp"
#include "transport_caller_support.hpp"

namespace fabricmark::collectives {
namespace {

using runtime::Communicator;

constexpr double kTimeout = 60;  // s

class CpuCalls : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CpuCalls, testing::Values(1, 2, 3, 4));

TEST_P(CpuCalls, AllAlgorithmsDoTheirOperations) {
  const std::vector<Case> cases = cases_for(GetParam(), {0, 1, 7, 9000});
  std::set<Operation> met;
  for (const Case& one : cases) met.insert(one.call.operation);
  EXPECT_EQ(met.size(), kOperations.size());
  runtime::run_in_process(GetParam(), [&](Communicator& ranks) {
    transport::CpuTransport transport(ranks, kTimeout, runtime::Waiting::kYield);
    TransportCaller caller(transport);
    for (const Case& one : cases) call_over(caller, transport, one);
    return 0;
  });
}

TEST(CpuCalls, FindAMessageThatSentWhatWasThereBefore) {
  const std::vector<Case> cases = cases_for(2, {100});
  runtime::run_in_process(2, [&](Communicator& ranks) {
    transport::FaultyTransport transport(
        std::make_unique<transport::CpuTransport>(ranks, kTimeout, runtime::Waiting::kYield),
        runtime::Fault{.kind = runtime::Fault::Kind::kBlank});
    TransportCaller caller(transport);
    const Case& one = *std::ranges::find_if(
        cases, [](const Case& any) { return any.call.operation == Operation::kAllReduce; });
    Call call = one.call;
    call.own = caller.allocate(call.count, Type::kInt32);
    call.result = caller.allocate(call.count, Type::kInt32);
    fill_input(one.inputs, ranks.rank(), call.own);
    caller.run(*one.algorithm, call);
    EXPECT_GT(compare(one.inputs, call, ranks.rank(), 2).wrong, 0U);
    return 0;
  });
}

TEST(CpuCalls, RefuseElementsElsewhere) {
  const std::unique_ptr<Communicator> ranks = runtime::single_rank();
  transport::CpuTransport transport(*ranks, kTimeout);
  TransportCaller caller(transport);
  std::vector<std::byte> elsewhere(8);
  const View own{elsewhere.data(), 2, Type::kFloat32};
  const View result = caller.allocate(2, Type::kFloat32);
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.operation != Operation::kAllReduce) continue;
    const Call call{.operation = Operation::kAllReduce, .count = 2, .own = own, .result = result};
    const std::string message = test::message_of([&] { caller.run(algorithm, call); });
    EXPECT_TRUE(test::mentions(message, "memory of its transport")) << message;
  }
}

}  // namespace
}  // namespace fabricmark::collectives
