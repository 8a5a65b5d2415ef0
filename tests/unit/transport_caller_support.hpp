#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "collectives_support.hpp"
#include "transport/transport_caller.hpp"

namespace fabricmark::collectives {

/// This rank's part of a case over a transport; its result is compared with what it has to be.
inline void call_over(TransportCaller& caller, transport::Transport& transport, const Case& of) {
  const int rank = transport.ranks().rank();
  const std::size_t own = own_count(of.call.operation, rank, of.call.root, of.ranks, of.call.count);
  const std::size_t results = result_count(of.call.operation, rank, of.call.root, of.ranks, of.call.count);
  Call call = of.call;
  call.own = caller.allocate(own, of.type);
  call.result = caller.allocate(results, of.type);
  const std::vector<View> allocated{call.own, call.result};
  const auto place = place_in_larger(of.call.operation, rank, of.call.root);
  if (of.is_in_place && place) {
    const std::size_t first = static_cast<std::size_t>(*place) * call.count;
    if (own > results) {
      call.result = call.own.part(first, call.count);
    } else {
      call.own = call.result.part(first, own);
    }
  } else {
    std::fill_n(call.result.data, call.result.bytes(), kGuard);
    caller.write(call.result);
  }
  fill_input(of.inputs, rank, call.own);
  caller.write(call.own);
  caller.run(*of.algorithm, call);
  // What the host sees is not what the device has before it reads that.
  caller.read(call.result);
  const Comparison compared = compare(of.inputs, call, rank, of.ranks);
  EXPECT_EQ(compared.wrong, 0U) << of.text() << ", rank " << rank << ", element " << compared.worst_index;
  for (const View& one : allocated) caller.release(one);
}

/// All algorithms on so many ranks, the same cases on each.
inline std::vector<Case> cases_for(int ranks, const std::vector<std::size_t>& counts) {
  std::vector<Case> cases;
  with_cases({ranks}, counts, [&](const Case& one) {
    if (one.settings.sends == Sends::kEager) cases.push_back(one);
  });
  return cases;
}

}  // namespace fabricmark::collectives
