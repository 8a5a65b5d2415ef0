#include "microbench/common/calls/rank_case.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::microbench {

/// How the calls of a kernel went.
struct Asked {
  RankCase::Times times{};
  unsigned int status = 0;
};

namespace {

using accl::Command;
using accl::Kind;
using accl::Operand;
using accl::Status;
using Requests = dataflow::stream<fm::accl_request>;
using collectives::Operation;
using Words = dataflow::stream<Word, 64>;

// Streams between kernels and the engine, by their numbers.
constexpr int kFromKernel = 0;
constexpr int kToKernel = 1;

double now_of_kernel() { return network::seconds(dataflow::current_kernel().clock); }

/// A kernel that has its elements from nowhere: the engine is what takes time.
void make_words(Words& out, const std::vector<std::byte>* bytes) {
  for (std::size_t first = 0; first < bytes->size(); first += sizeof(Word)) {
    Word word{};
    std::memcpy(word.bytes, bytes->data() + first, std::min(sizeof word, bytes->size() - first));
    out.write(word);
  }
}

void take_words(Words& in, std::vector<std::byte>* bytes, std::optional<double>* ended) {
  for (std::size_t first = 0; first < bytes->size(); first += sizeof(Word)) {
    const Word word = in.read();
    std::memcpy(bytes->data() + first, word.bytes, std::min(sizeof word, bytes->size() - first));
  }
  *ended = now_of_kernel();
}

void ask(Requests& commands, dataflow::stream<Status>& statuses, const std::vector<Command>& calls,
         bool is_at_once, Asked* asked) {
  asked->times.started = now_of_kernel();
  const std::size_t lead = is_at_once ? calls.size() : 1;  // of commands over statuses
  std::size_t made = 0;
  for (std::size_t answered = 0; answered < calls.size() && asked->status == 0; ++answered) {
    for (; made < std::min(calls.size(), answered + lead); ++made) fm::accl_issue(commands, calls[made]);
    asked->status = fm::accl_wait(statuses);
  }
  asked->times.ended = now_of_kernel();
}

[[noreturn]] void throw_failure(const std::string& text) {
  const std::size_t remedy = text.find("; ");
  throw remedy == std::string::npos
      ? Error(ExitCode::kInvalidResult, text, "see docs/collectives.md for what calls end with")
      : Error(ExitCode::kInvalidResult, text.substr(0, remedy), text.substr(remedy + 2));
}

/// Addresses of memory as its host has registered it, by what it holds.
struct Registered {
  std::uint64_t own = 0;
  std::uint64_t result = 0;
};

Command command_of(const accl::Call& call, const Registered& memory, fm::accl_use use) {
  const auto operand = [](const Operand& one, std::uint64_t address) {
    if (one.stream) return fm::accl_stream(*one.stream);
    return one.memory.data == nullptr ? fm::accl_no_operand() : fm::accl_memory(address);
  };
  const fm::accl_operand own = operand(call.a, memory.own);
  const fm::accl_operand result = operand(call.result, memory.result);
  const unsigned int count = accl::count_of(call.count);
  const auto tag = static_cast<unsigned int>(call.tag);
  Command command = fm::accl_nop(use);
  switch (call.kind) {
    case Kind::kSend:
      command = fm::accl_send(use, own, count, call.peer, tag);
      break;
    case Kind::kRecv:
      command = fm::accl_recv(use, result, count, call.peer, tag);
      break;
    case Kind::kPut:
      command = fm::accl_put(use, own, count, call.peer, call.remote_memory);
      break;
    case Kind::kStreamPut:
      command =
          fm::accl_stream_put(use, own, count, call.peer, static_cast<unsigned int>(call.remote_stream));
      break;
    default:
      command = fm::accl_collective(use, accl::function_of(call.collective.operation), call.peer, count, own,
                                    result);
      command.reduction = accl::number_of(call.reduction);
  }
  return command;
}

/// The sender whose elements a rank gets; -1: nobody's.
int sender_to(Act act, int rank) {
  if (act == Act::kSend || act == Act::kPingPong || act == Act::kBothWays) return rank < 2 ? 1 - rank : -1;
  return rank == 1 ? 0 : -1;
}

}  // namespace

struct RankCase::State {
  std::vector<std::byte> own;
  std::vector<std::byte> result;
  Words from_kernel{"operand"};
  Words to_kernel{"result"};
  Requests commands{"commands"};
  dataflow::stream<Status> statuses{"statuses"};
  Asked asked{};
  std::optional<double> taken{};
};

RankCase::RankCase(const Options& options, std::size_t count, int rank, int ranks, bool is_at_once)
    : options_(options),
      rank_(rank),
      ranks_(ranks),
      count_(count),
      is_at_once_(is_at_once),
      state_(std::make_shared<State>()) {
  std::size_t own = 0;
  std::size_t result = 0;
  call_ = {.operation = options.operation, .root = options.root, .count = count};
  call_.reduction = options.reduction;
  if (options.act == Act::kCollective) {
    own = collectives::own_count(call_.operation, rank, call_.root, ranks, count);
    result = collectives::result_count(call_.operation, rank, call_.root, ranks, count);
  } else {
    const int sender = sender_to(options.act, rank);
    const bool sends = rank == 0 || (rank == 1 && sender_to(options.act, 0) == 1);
    own = sends ? count : 0;
    result = sender >= 0 ? count : 0;
    call_.operation = Operation::kBroadcast;
    call_.root = std::max(sender, 0);
  }
  const std::size_t width = collectives::bytes_of(options.type);
  state_->own.resize(own * width);
  // What nobody writes must not pass for a result.
  state_->result.assign(result * width, std::byte{0xa5});
  call_.own = {own == 0 ? nullptr : state_->own.data(), own, options.type};
  call_.result = {result == 0 ? nullptr : state_->result.data(), result, options.type};
  collectives::fill_input({}, rank, call_.own);
}

bool RankCase::reads_stream() const {
  if (call_.result.count == 0 || options_.act == Act::kPut) return false;
  return options_.uses_streams || options_.act == Act::kStreamPut;
}

std::vector<accl::Call> RankCase::calls(std::uint64_t remote) const {
  accl::Call call{.count = count_,
                  .type = options_.type,
                  .reduction = options_.reduction,
                  .is_compressed = options_.is_compressed,
                  .algorithm = options_.algorithm};
  const Operand own =
      options_.uses_streams && call_.own.count > 0 ? Operand{{}, kFromKernel} : Operand{call_.own};
  const Operand result = reads_stream() ? Operand{{}, kToKernel} : Operand{call_.result};
  std::vector<accl::Call> found;
  const auto add = [&](Kind kind, int peer) -> accl::Call& {
    call.kind = kind;
    call.peer = peer;
    return found.emplace_back(call);
  };
  if (options_.act == Act::kCollective) {
    accl::Call& whole = add(Kind::kCollective, options_.root);
    whole.a = own;
    whole.result = result;
    whole.collective = call_;
  } else if (options_.act == Act::kSend && rank_ < 2) {
    add(Kind::kSend, 1 - rank_).a = own;
    add(Kind::kRecv, 1 - rank_).result = result;
  } else if (options_.act == Act::kPingPong && rank_ < 2) {
    for (const bool is_send : {rank_ == 0, rank_ == 1}) {
      if (is_send) add(Kind::kSend, 1 - rank_).a = own;
      if (!is_send) add(Kind::kRecv, 1 - rank_).result = result;
    }
  } else if (rank_ < 2 && (options_.act == Act::kOneWay || options_.act == Act::kBothWays)) {
    for (int message = 0; message < options_.window; ++message) {
      if (call_.result.count > 0) add(Kind::kRecv, 1 - rank_).result = result;
      if (call_.own.count > 0) add(Kind::kSend, 1 - rank_).a = own;
    }
  } else if (options_.act == Act::kPut && rank_ == 0) {
    accl::Call& put = add(Kind::kPut, 1);
    put.a = own;
    put.remote_memory = remote;
  } else if (options_.act == Act::kStreamPut && rank_ == 0) {
    accl::Call& put = add(Kind::kStreamPut, 1);
    put.a = own;
    put.remote_stream = kToKernel;
  }
  return found;
}

std::uint64_t RankCase::offer(accl::Accl& accl) const {
  return options_.act == Act::kPut && rank_ == 1 ? accl.address_of(call_.result) : 0;
}

void RankCase::connect_streams(accl::Accl& accl, dataflow::Host& host) {
  accl.keep(state_);
  if (options_.uses_streams && call_.own.count > 0) {
    accl.connect_from_kernel(kFromKernel, state_->from_kernel);
    host.start("make_words", {}, make_words, state_->from_kernel, &state_->own);
  }
  if (!reads_stream()) return;
  accl.connect_to_kernel(kToKernel, state_->to_kernel);
  taking_ = host.start("take_words", {}, take_words, state_->to_kernel, &state_->result, &state_->taken);
}

RankCase::Times RankCase::call_from_host(accl::Accl& accl, std::uint64_t remote) const {
  std::vector<accl::Request> started;
  for (const accl::Call& call : calls(remote)) {
    accl::Request& request = started.emplace_back(accl.start(call));
    if (!is_at_once_) request.wait();
  }
  Times times;
  for (accl::Request& request : started) {
    const accl::Result& result = request.wait();
    if (!result.is_done()) throw_failure(result.text);
    if (!times.started) times.started = result.started;
    times.ended = std::max(times.ended.value_or(0), result.ended);
  }
  return times;
}

RankCase::Times RankCase::call_from_logic(accl::Accl& accl, dataflow::Host& host, std::uint64_t remote) {
  const std::vector<accl::Call> all = calls(remote);
  if (all.empty()) return {};
  Registered memory;
  if (call_.own.count > 0) memory.own = accl.address_of(call_.own);
  if (call_.result.count > 0) memory.result = accl.address_of(call_.result);
  std::vector<Command> commands;
  const fm::accl_use use = accl.use(options_.type, 0, options_.is_compressed);
  for (const accl::Call& call : all) commands.push_back(command_of(call, memory, use));
  accl.connect_logic(state_->commands, state_->statuses);
  host.start("ask", {}, ask, state_->commands, state_->statuses, commands, is_at_once_, &state_->asked)
      .wait();
  if (state_->asked.status != 0) {
    throw_failure(fmt::format("rank {}: a call of {} from a kernel ended: {} ({})", rank_, options_.name,
                              accl::name_of(accl::code_of(state_->asked.status)), accl.logic_failure()));
  }
  return state_->asked.times;
}

RankCase::Times RankCase::run(accl::Accl& accl, dataflow::Host& host, std::uint64_t remote) {
  connect_streams(accl, host);
  Times times = options_.is_from_logic ? call_from_logic(accl, host, remote) : call_from_host(accl, remote);
  if (taking_) {
    taking_->wait();
    times.ended = std::max(times.ended.value_or(0), state_->taken.value_or(0));
  }
  return times;
}

collectives::Comparison RankCase::check(bool with_fault) {
  if (with_fault && !state_->result.empty()) state_->result.back() ^= std::byte{0x40};
  if (call_.result.count == 0) return {};
  if (options_.is_compressed) {
    return collectives::compare({}, call_, rank_, ranks_, collectives::Type::kFloat16);
  }
  return collectives::compare({}, call_, rank_, ranks_);
}

}  // namespace fabricmark::microbench
