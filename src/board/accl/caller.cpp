#include "board/accl/caller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "board/accl/call_moves.hpp"
#include "collectives/elements.hpp"

namespace fabricmark::accl {

namespace {

/// Equal where all ranks call the same (FNV-1a).
std::uint64_t signature_of(const collectives::Call& call, Type type, bool is_compressed,
                           std::string_view algorithm) {
  constexpr std::uint64_t kBasis = 14695981039346656037U;
  constexpr std::uint64_t kPrime = 1099511628211U;
  std::uint64_t hash = kBasis;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * kPrime; };
  add(static_cast<std::uint64_t>(call.operation));
  add(collectives::has_root(call.operation) ? static_cast<std::uint64_t>(call.root) : 0);
  add(call.count);
  add(collectives::reduces(call.operation) ? static_cast<std::uint64_t>(call.reduction) : 0);
  add(call.operation == collectives::Operation::kBarrier ? 0 : static_cast<std::uint64_t>(type));
  add(is_compressed ? 1 : 0);
  for (const char letter : algorithm) add(static_cast<unsigned char>(letter));
  return hash;
}

}  // namespace

Caller::Caller(dataflow::Fabric& fabric, Engine& engine, Streams& streams)
    : fabric_(fabric), engine_(engine), streams_(streams), exchange_(engine.settings().rx_buffers) {
  std::vector<int> all(static_cast<std::size_t>(fabric.settings().topology->devices()));
  for (std::size_t device = 0; device < all.size(); ++device) all[device] = static_cast<int>(device);
  add_group(all);
  groups_.front().shape = collectives::shape_of_engines(*fabric.settings().topology);
}

int Caller::add_group(const std::vector<int>& devices) {
  const int all = fabric_.settings().topology->devices();
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (*device < 0 || *device >= all || std::find(devices.begin(), device, *device) != device) {
      throw bad_use(
          fmt::format("a communicator names device {}, which is not there or named before", *device),
          fmt::format("name each of devices 0 to {} once", all - 1));
    }
  }
  const auto own = std::ranges::find(devices, engine_.device());
  if (own == devices.end()) {
    throw bad_use(fmt::format("device {} makes a communicator without itself", engine_.device()),
                  "let its members make it");
  }
  groups_.push_back({devices, static_cast<int>(own - devices.begin())});
  exchange_.add_communicator(devices.size());
  return static_cast<int>(groups_.size()) - 1;
}

const Group& Caller::group(int communicator) const {
  if (!is_group(communicator)) {
    throw bad_use(fmt::format("there is no communicator {}", communicator), "make it on all its members");
  }
  return groups_[static_cast<std::size_t>(communicator)];
}

Result Caller::run(dataflow::Kernel& kernel, const Call& call) {
  kernel.worker().wait_until_known(kernel);
  if (!is_group(call.communicator))
    return {Code::kUnknownRank, fmt::format("{}: no communicator {}", call.text(), call.communicator)};
  Running running{kernel, call, groups_[static_cast<std::size_t>(call.communicator)]};
  try {
    carry_out(running);
    running.result.lost_bytes = running.lost_bytes;
    if (running.lost_bytes > 0) {
      running.result.code = Code::kPacketsLost;
      running.result.text = fmt::format(
          "{}: {} bytes were lost on the way, and UDP does not send them again; use TCP "
          "or RDMA, or see what drops packets",
          call.text(), running.lost_bytes);
    }
  } catch (const CallFailed& failed) {
    running.result = failed.result;
  } catch (const Error& error) {
    running.result.code = Code::kNoAlgorithm;
    running.result.text = fmt::format("{}: {}", call.text(), error.what());
  }
  tell_others(kernel, call.communicator, running.result);
  return running.result;
}

void Caller::tell_others(dataflow::Kernel& kernel, int communicator, const Result& result) {
  const Code code = result.code;
  if (code == Code::kDone || code == Code::kPacketsLost || code == Code::kPeerFailed) return;
  kernel.worker().wait_until_known(kernel);  // what came before may have ended the other calls
  const Group& group = this->group(communicator);
  Result told = result;
  told.text = fmt::format("rank {} of communicator {}: {}", group.rank, communicator, told.text);
  engine_.spread(kernel.clock, static_cast<std::uint32_t>(communicator), group.devices, told);
}

void Caller::carry_out(Running& running) {
  check_type(running);
  check_operands(running);
  switch (running.call.kind) {
    case Kind::kNop:
      return;
    case Kind::kSend:
      return send(running);
    case Kind::kRecv:
      return receive(running);
    case Kind::kPut:
      return put(running);
    case Kind::kStreamPut:
      return stream_put(running);
    case Kind::kCopy:
      return copy(running);
    case Kind::kCombine:
      return combine(running);
    case Kind::kCollective:
      return collective(running);
  }
}

int Caller::device_of(const Running& running) const {
  const int peer = running.call.peer;
  if (peer < 0 || peer >= std::ssize(running.group.devices)) {
    throw failed(running.call, Code::kUnknownRank, "the communicator has ranks 0 to {}",
                 running.group.devices.size() - 1);
  }
  return running.group.devices[static_cast<std::size_t>(peer)];
}

// Calls.

void Caller::send(Running& running) {
  const Call& call = running.call;
  const int to = device_of(running);
  Header header;
  header.communicator = static_cast<std::uint32_t>(call.communicator);
  header.tag = call.tag;
  header.is_compressed = call.is_compressed;
  leave(running, to, header);
}

void Caller::leave(Running& running, int to, const Header& header) {
  const Call& call = running.call;
  const std::shared_ptr<Arriving> coming = arriving(running, call.a, call.count);
  const View elements = coming ? coming->elements() : room(running, call.a, call.count);
  engine_.wait(running.kernel, engine_.start_send(running.kernel, to, header, elements, call.text(), coming),
               running.lost_bytes);
}

void Caller::receive(Running& running) {
  const Call& call = running.call;
  const Expected expected{.communicator = static_cast<std::uint32_t>(call.communicator),
                          .from = device_of(running),
                          .tag = call.tag,
                          .count = call.count,
                          .type = call.type,
                          .what = call.text()};
  if (!call.result.stream) {
    const View elements = room(running, call.result, call.count);
    engine_.wait(running.kernel, engine_.start_receive(running.kernel, expected, {.elements = elements}),
                 running.lost_bytes);
    return;
  }
  receive_into_stream(running, expected);
}

void Caller::receive_into_stream(Running& running, const Expected& expected) {
  const Call& call = running.call;
  StreamEnd& end = sink(running, *call.result.stream);
  const auto feed = std::make_shared<StreamEnd::Feed>();
  const Engine::TicketId taken = engine_.open_ticket(call.text(), expected.communicator);
  // The stream is this call's alone from its first words to its last ones.
  const auto words = [this, &end, feed, taken, has_begun = false](Time at, std::vector<std::byte> bytes,
                                                                  bool is_last) mutable {
    if (!std::exchange(has_begun, true)) {
      end.add({.at = at, .feed = feed, .ended = [this, taken](Time now) { engine_.end_ticket(taken, now); }});
    }
    feed->add(at, std::move(bytes));
    if (is_last) feed->close();
  };
  try {
    engine_.wait(running.kernel, engine_.start_receive(running.kernel, expected, {.words = words}),
                 running.lost_bytes);
  } catch (const CallFailed&) {
    feed->close();  // so that others may use the stream
    throw;
  }
  engine_.wait(running.kernel, taken, running.lost_bytes);
}

void Caller::put(Running& running) {
  const Call& call = running.call;
  if (!engine_.is_rdma()) {
    throw failed(call, Code::kNotSupported,
                 "only RDMA writes into the memory of another device; use "
                 "accl-rdma, or send and receive");
  }
  Header header;
  header.kind = MessageKind::kPut;
  header.communicator = static_cast<std::uint32_t>(call.communicator);
  header.is_compressed = call.is_compressed;
  header.memory = call.remote_memory;
  header.first = call.remote_first;
  const int to = device_of(running);
  leave(running, to, header);
}

void Caller::stream_put(Running& running) {
  const Call& call = running.call;
  const int to = device_of(running);
  Header header;
  header.communicator = static_cast<std::uint32_t>(call.communicator);
  header.type = call.type;
  header.stream = call.remote_stream;
  const std::size_t bytes = call.count * collectives::bytes_of(call.type);
  const std::size_t piece = engine_.piece_bytes(/*has_header=*/true);
  if (!call.a.stream) {
    const std::byte* const data = call.a.memory.data;
    for (std::size_t first = 0; first < bytes; first += piece) {
      const std::size_t end = std::min(first + piece, bytes);
      engine_.send_words(running.kernel, to, header, {data + first, data + end});
    }
    return;
  }
  do_job(running, source(running, *call.a.stream),
         {.wanted = bytes,
          .piece = piece,
          .came = [this, to, header](dataflow::Kernel& kernel, std::vector<std::byte> words) {
            engine_.send_words(kernel, to, header, std::move(words));
          }});
}

void Caller::copy(Running& running) {
  const Call& call = running.call;
  const View from = loaded(running, call.a, call.count);
  const View to = room(running, call.result, call.count);
  if (from.data != to.data && call.count > 0) std::memcpy(to.data, from.data, from.bytes());
  const bool is_in_memory = !call.a.stream && !call.result.stream;
  // A stream takes the time of its words; memory adds its latency.
  engine_.move(running.kernel, is_in_memory ? static_cast<double>(from.bytes()) : 0);
  store(running, call.result, to);
}

void Caller::combine(Running& running) {
  const Call& call = running.call;
  check_arithmetic(running);
  const View a = loaded(running, call.a, call.count);
  const View b = loaded(running, call.b, call.count);
  const View to = room(running, call.result, call.count);
  engine_.move(running.kernel, static_cast<double>(to.bytes()));
  collectives::combine(call.type, call.reduction, a.data, b.data, to.data, call.count);
  store(running, call.result, to);
}

collectives::Place Caller::place(const Group& group) const {
  const network::StackSettings& network = *fabric_.settings().network;
  return {.rank = group.rank,
          .ranks = static_cast<int>(group.devices.size()),
          .shape = group.shape,
          .buffers = receive_buffers_of(engine_.settings(), network.protocol),
          .costs = costs_of_engine(engine_.settings(), network, group.shape)};
}

void Caller::collective(Running& running) {
  const Call& call = running.call;
  collectives::Call own = call.collective;
  const int ranks = static_cast<int>(running.group.devices.size());
  const int rank = running.group.rank;
  if (collectives::reduces(own.operation)) check_arithmetic(running);
  if (collectives::has_root(own.operation) && (own.root < 0 || own.root >= ranks)) {
    throw failed(call, Code::kUnknownRank, "root {} is not one of ranks 0 to {}", own.root, ranks - 1);
  }
  const collectives::Place place = this->place(running.group);
  own.shape = place.shape;
  own.buffers = place.buffers;
  const std::shared_ptr<Arriving> coming =
      arriving(running, call.a, collectives::own_count(own.operation, rank, own.root, ranks, own.count));
  if (call.a.stream) own.own = coming ? coming->elements() : View{nullptr, 0, call.type};
  if (call.result.stream) {
    own.result = room(running, call.result,
                      collectives::result_count(own.operation, rank, own.root, ranks, own.count));
  }
  const bool has_elements = own.operation != collectives::Operation::kBarrier && own.count > 0;
  if (const Type type = collectives::type_of(own, rank, ranks); has_elements && type != call.type) {
    throw failed(call, Code::kUnknownMemory, "its elements are {}, and those of its memory {}; name one type",
                 collectives::name_of(call.type), collectives::name_of(type));
  }
  const auto set = algorithms_.find(own.operation);
  const std::string& algorithm =
      call.algorithm.empty() && set != algorithms_.end() ? set->second : call.algorithm;
  const collectives::Choice choice = place.chosen(own, algorithm);
  running.result.algorithm = std::string(choice.algorithm->name);
  Header header;
  header.communicator = static_cast<std::uint32_t>(call.communicator);
  header.context = ++running.group.contexts;
  header.is_compressed = call.is_compressed;
  header.signature = signature_of(own, call.type, call.is_compressed, choice.algorithm->name);
  engine_.begin_collective(running.kernel.clock, header.communicator, running.group.devices, header.context,
                           header.signature, call.text());
  CallMoves moves(engine_, running.kernel, running.group.devices, rank, header, call.type, own.reduction,
                  call.text(), coming);
  // Ranks that begin one after the other, as parts come, would meet at the ports of third ones.
  if (coming && own.operation == collectives::Operation::kAllToAll) moves.need(coming->elements());
  collectives::run(*choice.algorithm, moves, own);
  if (coming) moves.need(coming->elements());
  running.lost_bytes += moves.lost_bytes();
  store(running, call.result, own.result);
}

Result Caller::run(dataflow::Kernel& kernel, std::span<const fm::accl_word> words) {
  try {
    return run(kernel, call_of(arguments(words)));
  } catch (const CallFailed& failed) {
    if (const std::optional<int> known = communicator_of(words)) tell_others(kernel, *known, failed.result);
    return failed.result;
  }
}

}  // namespace fabricmark::accl
