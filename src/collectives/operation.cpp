#include "collectives/operation.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "collectives/elements.hpp"
#include "collectives/operation_kind.hpp"

namespace fabricmark::collectives {

namespace {

std::size_t elements(Has has, bool is_root, int ranks, std::size_t count) {
  switch (has) {
    case Has::kNothing:
      return 0;
    case Has::kCount:
      return count;
    case Has::kCountOnRoot:
      return is_root ? count : 0;
    case Has::kAll:
      return static_cast<std::size_t>(ranks) * count;
    case Has::kAllOnRoot:
      return is_root ? static_cast<std::size_t>(ranks) * count : 0;
  }
  return 0;
}

void check_operand(const Call& call, const char* what, const View& view, std::size_t count, Type type) {
  if (count == 0) return;
  if (view.count != count) {
    throw bad_use(fmt::format("{} of {} has {} elements", what, name_of(call.operation), view.count),
                  fmt::format("give it {}", count));
  }
  if (view.type != type) {
    throw bad_use(fmt::format("{} of {} has elements of {}, its result of {}", what, name_of(call.operation),
                              name_of(view.type), name_of(type)),
                  "give both the same type");
  }
}

}  // namespace

const OperationKind& kind_of(Operation operation) {
  // By the number of the operation.
  constexpr std::array<const OperationKind*, kOperations.size()> kKinds{
      &kinds::broadcast,  &kinds::scatter,        &kinds::gather,     &kinds::all_gather, &kinds::reduce,
      &kinds::all_reduce, &kinds::reduce_scatter, &kinds::all_to_all, &kinds::barrier};
  return *kKinds.at(static_cast<std::size_t>(operation));
}

std::string_view name_of(Operation operation) { return kind_of(operation).name; }

Operation operation_named(const std::string& name) {
  return kind_named(kOperations, name, "collective operation");
}

bool has_root(Operation operation) {
  const OperationKind& row = kind_of(operation);
  const auto on_root = [](Has has) { return has == Has::kCountOnRoot || has == Has::kAllOnRoot; };
  return on_root(row.own) || on_root(row.result);
}

bool reduces(Operation operation) { return kind_of(operation).reduces; }

std::size_t own_count(Operation operation, int rank, int root, int ranks, std::size_t count) {
  return elements(kind_of(operation).own, rank == root, ranks, count);
}

std::size_t result_count(Operation operation, int rank, int root, int ranks, std::size_t count) {
  return elements(kind_of(operation).result, rank == root, ranks, count);
}

Type type_of(const Call& call, int rank, int ranks) {
  const bool has_result = result_count(call.operation, rank, call.root, ranks, 1) != 0;
  return has_result ? call.result.type : call.own.type;
}

void check(const Call& call, int rank, int ranks) {
  if (has_root(call.operation) && (call.root < 0 || call.root >= ranks)) {
    throw bad_use(fmt::format("{} has the root {}", name_of(call.operation), call.root),
                  fmt::format("use a rank from 0 to {}", ranks - 1));
  }
  const Type type = type_of(call, rank, ranks);
  check_operand(call, "own", call.own, own_count(call.operation, rank, call.root, ranks, call.count), type);
  check_operand(call, "result", call.result, result_count(call.operation, rank, call.root, ranks, call.count),
                type);
}

double bus_bytes(Operation operation, int ranks, std::size_t bytes) {
  return kind_of(operation).bus_bytes(static_cast<double>(bytes), ranks);
}

}  // namespace fabricmark::collectives
