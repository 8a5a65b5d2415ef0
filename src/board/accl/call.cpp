#include "board/accl/call.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::accl {

namespace {

using collectives::Operation;

constexpr std::array<std::pair<Operation, unsigned int>, 9> kFunctions{{
    {Operation::kBroadcast, fm::accl_broadcast},
    {Operation::kScatter, fm::accl_scatter},
    {Operation::kGather, fm::accl_gather},
    {Operation::kAllGather, fm::accl_all_gather},
    {Operation::kReduce, fm::accl_reduce},
    {Operation::kAllReduce, fm::accl_all_reduce},
    {Operation::kReduceScatter, fm::accl_reduce_scatter},
    {Operation::kAllToAll, fm::accl_all_to_all},
    {Operation::kBarrier, fm::accl_barrier},
}};

}  // namespace

unsigned int function_of(Operation operation) {
  return std::ranges::find(kFunctions, operation, &std::pair<Operation, unsigned int>::first)->second;
}

std::optional<Operation> operation_of(unsigned int function) {
  const auto* const found =
      std::ranges::find(kFunctions, function, &std::pair<Operation, unsigned int>::second);
  return found == kFunctions.end() ? std::nullopt : std::optional(found->first);
}

unsigned int count_of(std::size_t elements) {
  if (elements > std::numeric_limits<unsigned int>::max()) {
    throw bad_use(fmt::format("a kernel's command for {} elements, which 32 bits do not count", elements),
                  "make calls for fewer at a time, or let the host call (--issuer host)");
  }
  return static_cast<unsigned int>(elements);
}

unsigned int number_of(collectives::Reduction reduction) {
  switch (reduction) {
    case collectives::Reduction::kSum:
      return fm::accl_sum;
    case collectives::Reduction::kMax:
      return fm::accl_max;
    case collectives::Reduction::kMin:
      break;
  }
  return fm::accl_min;
}

std::string Call::text() const {
  switch (kind) {
    case Kind::kNop:
      return "nop";
    case Kind::kSend:
      return fmt::format("send to rank {}", peer);
    case Kind::kRecv:
      return tag == kAnyTag ? fmt::format("receive from rank {}", peer)
                            : fmt::format("receive from rank {} with tag {}", peer, tag);
    case Kind::kPut:
      return fmt::format("put to rank {}", peer);
    case Kind::kStreamPut:
      return fmt::format("put into stream {} of rank {}", remote_stream, peer);
    case Kind::kCopy:
      return "copy";
    case Kind::kCombine:
      return "combine";
    case Kind::kCollective:
      return std::string(collectives::name_of(collective.operation));
  }
  return "";
}

}  // namespace fabricmark::accl
