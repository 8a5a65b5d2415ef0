// What the words of a kernel's command say (kernels/common/accl_words.hpp), as a call. What cannot be is told
// by the number and the name of its word.
#include <fmt/core.h>

#include <array>
#include <iterator>
#include <string>

#include "board/accl/caller.hpp"
#include "collectives/elements.hpp"

namespace fabricmark::accl {

namespace {

// By place. Of an address the two halves are told apart: one may be left out, or both swapped.
constexpr std::array<const char*, fm::accl_words_of_command> kWords{"function",
                                                                    "count",
                                                                    "communicator",
                                                                    "root, source or destination",
                                                                    "reduction",
                                                                    "tag",
                                                                    "datapath",
                                                                    "compression flags",
                                                                    "stream flags",
                                                                    "first operand's address, low half",
                                                                    "first operand's address, high half",
                                                                    "second operand's address, low half",
                                                                    "second operand's address, high half",
                                                                    "result's address, low half",
                                                                    "result's address, high half"};
constexpr int kFunction = 0, kCommunicator = 2, kPeer = 3, kReduction = 4, kTag = 5, kDatapath = 6,
              kCompression = 7, kStreams = 8, kA = 9, kB = 11, kResult = 13;
constexpr std::uint64_t kNumberedStreams = 256;

/// `place`: of the word, from 0.
CallFailed refused(int place, Code code, const std::string& what) {
  return {{code, fmt::format("a kernel's command, word {} ({}): {}; see kernels/common/accl_words.hpp",
                             place + 1, kWords.at(static_cast<std::size_t>(place)), what)}};
}

std::uint64_t address_at(std::span<const fm::accl_word> words, int low) {
  const auto place = static_cast<std::size_t>(low);
  return std::uint64_t{words[place + 1].data} << 32 | words[place].data;
}

std::optional<Kind> kind_of(unsigned int function, bool has_result_stream) {
  switch (function) {
    case fm::accl_function_copy:
      return Kind::kCopy;
    case fm::accl_function_combine:
      return Kind::kCombine;
    case fm::accl_function_send:
      return has_result_stream ? Kind::kStreamPut : Kind::kSend;
    case fm::accl_function_recv:
      return Kind::kRecv;
    case fm::accl_function_put:
      return Kind::kPut;
    case fm::accl_function_nop:
      return Kind::kNop;
    default:
      return operation_of(function) ? std::optional(Kind::kCollective) : std::nullopt;
  }
}

/// A stream as the emulated engine numbers it, else the one that ACCL has.
int stream_of(std::uint64_t address, int of_accl) {
  return address >= 1 && address <= kNumberedStreams ? static_cast<int>(address - 1) : of_accl;
}

collectives::Reduction reduction_of(unsigned int number) {
  for (const auto reduction :
       {collectives::Reduction::kSum, collectives::Reduction::kMin, collectives::Reduction::kMax}) {
    if (number_of(reduction) == number) return reduction;
  }
  throw refused(kReduction, Code::kNotSupported, fmt::format("there is no reduction {}", number));
}

void check_streams(unsigned int flags) {
  const unsigned both = fm::accl_stream_a | fm::accl_stream_result;
  if ((flags & ~both) == 0) return;
  throw refused(
      kStreams, Code::kNotSupported,
      fmt::format("{:#x}, and the emulated engine has streams for the first operand and the result, "
                  "{:#x}, and no memory of the host",
                  flags, both));
}

}  // namespace

Command Caller::arguments(std::span<const fm::accl_word> words) {
  const auto last = static_cast<int>(kWords.size()) - 1;
  for (int place = 0; place <= last; ++place) {
    if (place >= std::ssize(words)) {
      throw refused(place, Code::kNotSupported, fmt::format("is missing of the {}", kWords.size()));
    }
    const fm::accl_word& word = words[static_cast<std::size_t>(place)];
    if (word.keep != fm::accl_keep_word) {
      throw refused(
          place, Code::kNotSupported,
          fmt::format("keep is {:#x}, and a word has 4 bytes, {:#x}", word.keep, fm::accl_keep_word));
    }
    if (word.last && place < last) {
      throw refused(place, Code::kNotSupported,
                    fmt::format("is the last one, and a command has {}", kWords.size()));
    }
    if (!word.last && place == last)
      throw refused(place, Code::kNotSupported, "is not marked as the last one");
  }
  const auto at = [&](int place) { return words[static_cast<std::size_t>(place)].data; };
  return {at(kFunction),         at(1),
          at(kCommunicator),     at(kPeer),
          at(kReduction),        at(kTag),
          at(kDatapath),         at(kCompression),
          at(kStreams),          address_at(words, kA),
          address_at(words, kB), address_at(words, kResult)};
}

std::optional<int> Caller::communicator_of(std::span<const fm::accl_word> words) const {
  if (words.size() <= kCommunicator) return std::nullopt;
  return exchange_.communicator_at(words[kCommunicator].data);
}

Call Caller::numbers_of(const Command& command) const {
  Call call;
  const bool has_result_stream = (command.streams & fm::accl_stream_result) != 0;
  const std::optional<Kind> kind = kind_of(command.function, has_result_stream);
  if (!kind) {
    throw refused(kFunction, Code::kNotSupported, fmt::format("there is no function {}", command.function));
  }
  call.kind = *kind;
  // ACCL's header passes 0 for what does not leave the device.
  const bool is_local = call.kind == Kind::kCopy || call.kind == Kind::kCombine || call.kind == Kind::kNop;
  const std::optional<int> communicator = is_local && command.communicator == 0
                                              ? std::optional(0)
                                              : exchange_.communicator_at(command.communicator);
  if (!communicator) {
    throw refused(kCommunicator, Code::kUnknownRank,
                  fmt::format("at {:#x} is no communicator that the host made", command.communicator));
  }
  call.communicator = *communicator;
  const std::size_t ranks = group(*communicator).devices.size();
  if (command.peer >= ranks) {
    throw refused(kPeer, Code::kUnknownRank,
                  fmt::format("{}, and the communicator has ranks 0 to {}", command.peer, ranks - 1));
  }
  call.peer = static_cast<int>(command.peer);
  call.reduction = reduction_of(command.reduction);
  call.tag = static_cast<int>(command.tag);
  if (call.kind == Kind::kStreamPut && command.tag > fm::accl_last_stream) {
    throw refused(kTag, Code::kUnknownStream,
                  fmt::format("stream {}, and ACCL keeps those above {} for itself", command.tag,
                              fm::accl_last_stream));
  }
  call.remote_stream = call.tag;
  call.count = command.count;
  const std::optional<ExchangeMemory::Datapath> datapath = exchange_.datapath_at(command.datapath);
  if (!datapath && (call.kind != Kind::kNop || command.datapath != 0)) {
    throw refused(kDatapath, Code::kNotSupported,
                  fmt::format("at {:#x} is no datapath that the host described", command.datapath));
  }
  if (datapath) call.type = datapath->type;
  if ((command.compression & ~unsigned{fm::accl_compressed_wire}) != 0) {
    throw refused(kCompression, Code::kNotSupported,
                  fmt::format("{:#x}, and the emulated engine has that of the wire ({:#x})",
                              command.compression, unsigned{fm::accl_compressed_wire}));
  }
  call.is_compressed = command.compression != 0;
  if (call.is_compressed && call.type == Type::kFloat32 && datapath && !datapath->has_compression) {
    throw refused(kCompression, Code::kNotSupported, "float32 has to become float16, which word 7 must say");
  }
  check_streams(command.streams);
  return call;
}

Operand Caller::operand_of(const Call& call, int place, std::uint64_t address, std::size_t count) const {
  if (count == 0) return {};
  if (address == 0) {
    throw refused(place, Code::kUnknownMemory,
                  fmt::format("there is none, and {} elements are called for", count));
  }
  const std::optional<View> memory = engine_.memory().at(address, call.type);
  if (!memory) {
    throw refused(place, Code::kUnknownMemory,
                  fmt::format("{:#x} is not the place of an element in memory that was registered", address));
  }
  if (memory->count < count) {
    throw refused(place, Code::kUnknownMemory,
                  fmt::format("{} elements of {} are called for, and from {:#x} on {} are registered", count,
                              collectives::name_of(call.type), address, memory->count));
  }
  return {*memory};
}

Call Caller::call_of(const Command& command) const {
  Call call = numbers_of(command);
  const bool has_stream_a = (command.streams & fm::accl_stream_a) != 0;
  const bool has_stream_result = (command.streams & fm::accl_stream_result) != 0;
  if (call.kind == Kind::kNop) return call;
  if (call.kind == Kind::kCollective) {
    set_collective(command, call);
    return call;
  }
  if (has_stream_a) {
    call.a = {{}, stream_of(command.a, 0)};
  } else if (call.kind != Kind::kRecv) {
    call.a = operand_of(call, kA, command.a, call.count);
  }
  if (call.kind == Kind::kCombine) call.b = operand_of(call, kB, command.b, call.count);
  if (call.kind == Kind::kPut) {
    if (command.result < DeviceMemory::kFirstAddress)
      throw refused(kResult, Code::kUnknownMemory,
                    fmt::format("{:#x} is no address of memory", command.result));
    call.remote_memory = command.result;
  } else if (call.kind == Kind::kSend || call.kind == Kind::kStreamPut) {
    return call;
  } else if (has_stream_result) {
    // What is received into a stream goes to that of its tag, all else to the first one.
    const bool is_tagged = call.kind == Kind::kRecv && command.tag <= fm::accl_last_stream;
    call.result = {{}, stream_of(command.result, is_tagged ? call.tag : 0)};
  } else {
    const bool is_second = call.kind == Kind::kRecv && command.result == 0;  // as accl_hls.h has it
    call.result =
        operand_of(call, is_second ? kB : kResult, is_second ? command.b : command.result, call.count);
  }
  return call;
}

void Caller::set_collective(const Command& command, Call& call) const {
  const Group& group = this->group(call.communicator);
  const int ranks = static_cast<int>(group.devices.size());
  collectives::Call& own = call.collective;
  own.operation = operation_of(command.function).value();
  own.root = call.peer;
  own.count = call.count;
  own.reduction = call.reduction;
  const std::size_t own_count = collectives::own_count(own.operation, group.rank, own.root, ranks, own.count);
  const std::size_t result_count =
      collectives::result_count(own.operation, group.rank, own.root, ranks, own.count);
  if ((command.streams & fm::accl_stream_a) != 0) {
    call.a = {{}, stream_of(command.a, 0)};
  } else if (own_count > 0) {
    call.a = operand_of(call, kA, command.a, own_count);
    own.own = call.a.memory.part(0, own_count);
  }
  if ((command.streams & fm::accl_stream_result) != 0) {
    call.result = {{}, stream_of(command.result, 0)};
  } else if (result_count > 0) {
    // ACCL broadcasts into its first operand.
    const bool is_first = own.operation == collectives::Operation::kBroadcast && command.result == 0;
    const std::uint64_t address = is_first ? command.a : command.result;
    call.result = operand_of(call, is_first ? kA : kResult, address, result_count);
    own.result = call.result.memory.part(0, result_count);
  }
}

}  // namespace fabricmark::accl
