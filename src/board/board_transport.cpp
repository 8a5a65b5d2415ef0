#include "board/board_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "network/topology.hpp"

namespace fabricmark::board {

namespace {

using collectives::Call;
using collectives::View;

constexpr auto kType = collectives::Type::kInt32;  // what elements mean is the benchmark's matter
constexpr std::size_t kWord = sizeof(std::int32_t);
constexpr const char* kLanes = "exchanges";

std::size_t words_of(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }

device::Queue queue_of(const runtime::Context& context) {
  return context.device().exists() ? context.device().untimed_queue() : device::Queue();
}

}  // namespace

BoardTransport::BoardTransport(const runtime::Context& context)
    : Transport(context.ranks()),
      context_(context),
      name_(context.parameters().text("transport")),
      queue_(queue_of(context)),
      // Over direct links: those that the user names, else a ring, for which a board needs two ports whatever
      // their number.
      board_(context, Joining{.circuits = network::ring(context.ranks().size()), .needs_circuits = false}),
      caller_(board_.make_collective_caller()) {}

std::unique_ptr<transport::Memory> BoardTransport::allocate(std::size_t bytes) {
  if (!context_.device().exists()) return std::make_unique<transport::Memory>(bytes);
  return std::make_unique<transport::Memory>(context_.device(), bytes, context_.memory_kind());
}

device::Event BoardTransport::start(std::span<const transport::Message> /*sends*/,
                                    std::span<const transport::Message> /*receives*/,
                                    const device::Events& /*after*/) {
  throw bad_use(fmt::format("the transport {} has collectives of all ranks, and no single messages", name_),
                "choose another --transport");
}

device::Event BoardTransport::all_to_all(const transport::Region& outgoing, const transport::Region& incoming,
                                         const device::Events& after) {
  const auto parts = static_cast<std::size_t>(ranks().size());
  return run({.operation = collectives::Operation::kAllToAll}, {outgoing, parts}, {incoming, parts}, after);
}

device::Event BoardTransport::all_gather(const transport::Region& own, const transport::Region& all,
                                         const device::Events& after) {
  const auto parts = static_cast<std::size_t>(ranks().size());
  return run({.operation = collectives::Operation::kAllGather}, {own, 1}, {all, parts}, after);
}

device::Event BoardTransport::broadcast(const transport::Region& region, int root,
                                        const device::Events& after) {
  const bool is_root = ranks().rank() == root;
  return run({.operation = collectives::Operation::kBroadcast, .root = root}, {region, is_root ? 1U : 0U},
             {region, 1}, after);
}

device::Event BoardTransport::run(Call call, const Parts& own, const Parts& result,
                                  const device::Events& after) {
  for (const device::Event& event : after) event.wait();
  call.count = words_of(std::max(own.bytes(), result.bytes()));
  call.own = staged(own, own_);
  call.result = staged(result, result_);
  if (context_.computes()) read(own, call.own);
  SimulatedClock& clock = context_.simulated_clock();
  double begin = 0;
  board_.run([&] {
    begin = clock.seconds();  // of all ranks
    caller_->run(call);
  });
  if (ClockWitness* const witness = clock.witness()) {
    witness->took(CostKind::kMessage, kLanes, std::string(collectives::name_of(call.operation)), begin,
                  clock.seconds());
  }
  if (context_.computes()) write(result, call.result);
  return {};
}

View BoardTransport::staged(const Parts& parts, std::vector<std::byte>& memory) {
  const std::size_t words = parts.count * words_of(parts.bytes());
  if (memory.size() < words * kWord) memory.resize(words * kWord);
  return {memory.data(), words, kType};
}

void BoardTransport::read(const Parts& parts, const View& staged) const {
  const std::size_t bytes = parts.bytes();
  if (bytes == 0) return;
  transport::Memory& from = *parts.region.buffer;
  for (std::size_t part = 0; part < parts.count; ++part) {
    std::byte* const to = staged.data + part * words_of(bytes) * kWord;
    const std::size_t offset = parts.region.offset + part * bytes;
    if (device::is_on_host(from.space())) {
      std::ranges::copy(from.host().subspan(offset, bytes), to);
    } else {
      from.device().read(queue_, to, bytes, offset);
    }
  }
  if (!device::is_on_host(from.space())) queue_.finish();
}

void BoardTransport::write(const Parts& parts, const View& staged) const {
  const std::size_t bytes = parts.bytes();
  if (bytes == 0) return;
  transport::Memory& to = *parts.region.buffer;
  for (std::size_t part = 0; part < parts.count; ++part) {
    const std::byte* const from = staged.data + part * words_of(bytes) * kWord;
    const std::size_t offset = parts.region.offset + part * bytes;
    if (device::is_on_host(to.space())) {
      std::copy_n(from, bytes, to.host().subspan(offset).begin());
    } else {
      to.device().write(queue_, from, bytes, offset);
    }
  }
  if (!device::is_on_host(to.space())) queue_.finish();
}

std::string BoardTransport::path_of(std::size_t part_bytes) const {
  const auto ranks = static_cast<std::size_t>(this->ranks().size());
  const std::size_t words = words_of(part_bytes);
  const View any{nullptr, ranks * words, kType};
  const collectives::Choice choice = caller_->place().chosen(
      {.operation = collectives::Operation::kAllToAll, .count = words, .own = any, .result = any});
  return fmt::format("exchanges of all with all over {}: {} ({})", name_, choice.algorithm->name,
                     choice.reason);
}

std::unique_ptr<transport::Transport> make_transport(const runtime::Context& context,
                                                     const transport::TransportUse& use) {
  if (runtime::transport_spec(context.parameters().text("transport")).is_between_memories())
    return transport::make_transport(context, use);
  auto transport = std::make_unique<BoardTransport>(context);
  if (use.largest_bytes > 0) context.remark(transport->path_of(use.largest_bytes));
  return transport;
}

}  // namespace fabricmark::board
