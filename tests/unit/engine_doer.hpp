#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "engine_covering.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::accl::covering {

using dataflow::stream;

inline constexpr int kIn = 4;
inline constexpr int kOut = 7;

struct Bits {
  std::byte value[kWordBytes];
};

inline void feed(stream<Bits>& out, const std::byte* from, std::size_t bytes) {
  for (std::size_t first = 0; first < bytes; first += kWordBytes) {
    Bits word{};
    std::memcpy(word.value, from + first, std::min(kWordBytes, bytes - first));
    out.write(word);
  }
}

inline void drain(stream<Bits>& in, std::byte* to, std::size_t bytes) {
  for (std::size_t first = 0; first < bytes; first += kWordBytes) {
    const Bits word = in.read();
    std::memcpy(to + first, word.value, std::min(kWordBytes, bytes - first));
  }
}

inline void issue(stream<fm::accl_request>& commands, stream<Status>& statuses, const Command& command,
                  unsigned int* status) {
  fm::accl_issue(commands, command);
  *status = fm::accl_wait(statuses);
}

/// One rank that does cases, with kernels at all ends of its engine.
class Doer {
 public:
  explicit Doer(const Rank& rank) : rank_(rank), parts_(std::make_shared<Parts>()) {
    rank.accl.keep(parts_);
    rank.accl.connect_from_kernel(kIn, parts_->in);
    rank.accl.connect_to_kernel(kOut, parts_->out);
    rank.accl.connect_logic(parts_->commands, parts_->statuses);
  }

  /// What is wrong with it; empty: nothing.
  std::string run(const Case& of) {
    const collectives::Case whole = of.local();
    collectives::Local local(whole, rank_.host.device());
    device::Events ends;
    if (of.own_is_stream) {
      ends.push_back(
          rank_.host.start("feed", {}, feed, parts_->in, local.call.own.data, local.call.own.bytes()));
    }
    if (of.result_is_stream) {
      ends.push_back(rank_.host.start("drain", {}, drain, parts_->out, local.call.result.data,
                                      local.call.result.bytes()));
    }
    std::string failure = of.by_logic ? by_logic(of, local.call) : by_host(of, local.call);
    if (!failure.empty()) return failure;
    for (auto& end : ends) end.wait();
    const auto compared = collectives::compare(whole.inputs, local.call, rank_.host.device(), of.ranks);
    if (compared.wrong != 0) {
      return fmt::format("{} wrong elements of {}, the worst number {}: {} for {}", compared.wrong,
                         compared.checked, compared.worst_index, compared.actual, compared.expected);
    }
    if (!local.own.is_guarded() || !local.result.is_guarded()) return "written beyond an operand";
    if (local.is_own_kept && !std::equal(local.before.begin(), local.before.end(), local.call.own.data))
      return "its own elements are changed";
    return "";
  }
  /// Of the engine, of the last case.
  [[nodiscard]] const Result& result() const { return result_; }

 private:
  struct Parts {
    stream<Bits> in{"in"};
    stream<Bits> out{"out"};
    stream<fm::accl_request> commands{"commands"};
    stream<Status> statuses{"statuses"};
  };

  std::string by_host(const Case& of, const collectives::Call& call) {
    Call made{.kind = Kind::kCollective, .peer = call.root, .count = call.count, .type = of.type};
    made.reduction = call.reduction;
    made.collective = call;
    made.algorithm = of.algorithm->name;
    made.a = of.own_is_stream ? Operand{{}, kIn} : Operand{call.own};
    made.result = of.result_is_stream ? Operand{{}, kOut} : Operand{call.result};
    if (of.own_is_stream) made.collective.own = {};
    if (of.result_is_stream) made.collective.result = {};
    result_ = rank_.accl.start(made).wait();
    return result_.text;
  }

  std::string by_logic(const Case& of, const collectives::Call& call) {
    rank_.accl.set_algorithm(call.operation, std::string(of.algorithm->name));
    const auto operand = [&](const View& view, bool is_stream, int number) {
      if (is_stream) return fm::accl_stream(number);
      if (view.count == 0) return fm::accl_no_operand();
      return fm::accl_memory(rank_.accl.address_of(view));
    };
    Command command = fm::accl_collective(rank_.accl.use(of.type), function_of(call.operation), call.root,
                                          count_of(call.count), operand(call.own, of.own_is_stream, kIn),
                                          operand(call.result, of.result_is_stream, kOut));
    command.reduction = number_of(call.reduction);
    unsigned int status = ~0U;
    auto end = rank_.host.start("issue", {}, issue, parts_->commands, parts_->statuses, command, &status);
    end.wait();
    result_ = {};
    result_.code = code_of(status);
    return status == 0 ? "" : fmt::format("status {}: {}", status, rank_.accl.logic_failure());
  }

  const Rank& rank_;
  std::shared_ptr<Parts> parts_;
  Result result_;
};

}  // namespace fabricmark::accl::covering
