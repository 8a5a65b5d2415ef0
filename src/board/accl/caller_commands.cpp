// What a kernel's command says, as a call.
#include <fmt/core.h>

#include <algorithm>

#include "board/accl/caller.hpp"

namespace fabricmark::accl {

Result Caller::run(dataflow::Kernel& kernel, const Command& command) {
  try {
    return run(kernel, call_of(command));
  } catch (const CallFailed& failed) {
    if (is_group(command.communicator)) tell_others(kernel, command.communicator, failed.result);
    return failed.result;
  }
}

void Caller::check_numbers(const Command& command) const {
  const auto is_of = [](int number, auto most) { return number >= 0 && number <= static_cast<int>(most); };
  const char* const wrong = !is_of(command.kind, Kind::kCollective)                       ? "kind"
                            : !is_of(command.type, Type::kInt8)                           ? "type"
                            : !is_of(command.reduction, collectives::Reduction::kMax)     ? "reduction"
                            : !is_of(command.operation, collectives::Operation::kBarrier) ? "operation"
                                                                                          : nullptr;
  if (wrong != nullptr) {
    throw CallFailed{{Code::kNotSupported,
                      fmt::format("a kernel's command has no such {}; see kernels/common/accl.hpp", wrong)}};
  }
  if (!is_group(command.communicator)) {
    throw CallFailed{
        {Code::kUnknownRank,
         fmt::format("a kernel names communicator {}, which its host did not make", command.communicator)}};
  }
}

Call Caller::call_of(const Command& command) const {
  check_numbers(command);
  Call call;
  call.kind = static_cast<Kind>(command.kind);
  call.communicator = command.communicator;
  call.peer = command.peer;
  call.tag = command.tag;
  call.count = command.count;
  call.type = static_cast<Type>(command.type);
  call.reduction = static_cast<collectives::Reduction>(command.reduction);
  call.remote_memory = static_cast<std::uint64_t>(command.remote);
  call.remote_stream = command.remote;
  call.remote_first = command.remote_first;
  call.is_compressed = command.compress != 0;
  const auto operand = [&](const fm::accl_operand& named) -> Operand {
    if (named.stream != fm::accl_none) return {{}, named.stream};
    if (named.memory == fm::accl_none) return {};
    const View* const memory = engine_.memory(static_cast<std::uint64_t>(named.memory));
    if (memory == nullptr || named.first > memory->count) {
      throw CallFailed{
          {Code::kUnknownMemory,
           fmt::format("{}: a kernel names memory {} from element {} on, which was not registered",
                       call.text(), named.memory, named.first)}};
    }
    return {memory->part(named.first, memory->count - named.first)};
  };
  call.a = operand(command.a);
  call.b = operand(command.b);
  call.result = operand(command.result);
  if (call.kind == Kind::kCollective) {
    const Group& group = this->group(call.communicator);
    const int ranks = static_cast<int>(group.devices.size());
    collectives::Call& own = call.collective;
    own.operation = static_cast<collectives::Operation>(command.operation);
    own.root = command.peer;
    own.count = command.count;
    own.reduction = call.reduction;
    own.own = call.a.memory;
    own.own.count = std::min(own.own.count,
                             collectives::own_count(own.operation, group.rank, own.root, ranks, own.count));
    own.result = call.result.memory;
    own.result.count = std::min(
        own.result.count, collectives::result_count(own.operation, group.rank, own.root, ranks, own.count));
  }
  return call;
}

}  // namespace fabricmark::accl
