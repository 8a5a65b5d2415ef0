#include "fabric/engine/engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fabric/collectives/elements.hpp"

namespace fabricmark::engine {

namespace {

/// Of an element as it travels.
std::size_t travelling_bytes(const Header& header) {
  return collectives::bytes_of(header.is_compressed ? Type::kFloat16 : header.type);
}

/// As it travels. What stays in its place until it has arrived is not copied.
Payload travelling(const Header& header, const View& elements, bool stays) {
  const std::size_t bytes = elements.count * travelling_bytes(header);
  if (bytes == 0) return {};
  if (header.is_compressed) {
    std::vector<std::byte> halves(bytes);
    collectives::float32_to_float16(elements.data, halves.data(), elements.count);
    return Payload(std::move(halves));
  }
  if (stays) return Payload(std::span(elements.data, bytes));
  return Payload(std::vector<std::byte>(elements.data, elements.data + bytes));
}

}  // namespace

Engine::Engine(dataflow::Fabric& fabric, int device, const EngineSettings& settings)
    : fabric_(fabric),
      worker_(fabric.worker(device)),
      device_(device),
      settings_(settings),
      timers_(worker_, device),
      free_buffers_(settings.rx_buffers) {
  fabric.network().attach(device, worker_, *this);
}

Engine::~Engine() = default;

bool Engine::is_rdma() const { return fabric_.settings().network->protocol == fabric::Protocol::kRdma; }

// Memory and its mover.

std::uint64_t Engine::register_memory(const View& memory) {
  memories_.push_back(memory);
  return memories_.size() - 1;
}

const View* Engine::memory(std::uint64_t number) const {
  return number < memories_.size() ? &memories_[number] : nullptr;
}

Time Engine::moved(Time at, double bytes) {
  mover_free_ = fabric::later(std::max(at, mover_free_), fabric::transfer_time(bytes, settings_.copy_rate));
  return fabric::later(mover_free_, fabric::from_seconds(settings_.copy_latency_seconds));
}

void Engine::move(dataflow::Kernel& kernel, double bytes) {
  kernel.worker().wait_until_known(kernel);
  kernel.clock = moved(kernel.clock, bytes);
}

// Tickets.

Engine::TicketId Engine::open_ticket(const std::string& what, std::uint32_t communicator) {
  const TicketId id = next_ticket_++;
  Ticket& ticket = tickets_[id];
  ticket.what = what;
  ticket.communicator = communicator;
  return id;
}

void Engine::end_ticket(TicketId id, Time at, Result result) {
  const auto found = tickets_.find(id);
  if (found == tickets_.end() || found->second.has_ended) return;
  Ticket& ticket = found->second;
  ticket.has_ended = true;
  ticket.end = at;
  ticket.result = std::move(result);
  if (ticket.waiter != nullptr) worker_.make_ready(*std::exchange(ticket.waiter, nullptr));
}

void Engine::wait(dataflow::Kernel& kernel, TicketId id, std::uint64_t& lost_bytes) {
  Ticket& ticket = tickets_.at(id);
  if (!ticket.has_ended) {
    if (settings_.timeout_seconds > 0) {
      const Time end = fabric::later(kernel.clock, fabric::from_seconds(settings_.timeout_seconds));
      timers_.at(end, [this, id](Time now) { time_out(id, now); });
    }
    ticket.waiter = &kernel;
    kernel.wait(dataflow::Kernel::Waits::kForMessage, nullptr);
  }
  kernel.clock = std::max(kernel.clock, ticket.end);
  Result result = std::move(ticket.result);
  tickets_.erase(id);
  if (result.code == Code::kPacketsLost) {
    lost_bytes += result.lost_bytes;
  } else if (!result.is_done()) {
    throw CallFailed{std::move(result)};
  }
}

void Engine::time_out(TicketId id, Time now) {
  const auto found = tickets_.find(id);
  if (found == tickets_.end() || found->second.has_ended) return;
  std::string others;
  const auto posted = std::ranges::find(posted_, id, &Posted::ticket);
  if (posted != posted_.end()) {
    for (const Message& message : unexpected_) {
      const bool is_from_there = message.header.from == posted->expected.from &&
                                 message.header.communicator == posted->expected.communicator;
      if (!is_from_there) continue;
      others = message.header.context == 0
                   ? fmt::format("; a message with tag {} came from there", message.header.tag)
                   : "; that rank is in a collective operation";
    }
    posted_.erase(posted);
  }
  announced_.erase(id);
  granted_.erase(id);
  end_ticket(id, now,
             {Code::kTimeOut, fmt::format("{} has waited {} s of modelled time in vain{}", found->second.what,
                                          settings_.timeout_seconds, others)});
}

// Sending.

std::uint64_t Engine::wire_bytes(std::size_t payload) const {
  const std::size_t segments =
      std::max<std::size_t>(1, (payload + settings_.rx_bytes - 1) / settings_.rx_bytes);
  return payload + segments * settings_.header_bytes;
}

void Engine::post(int to, const Header& header, Payload payload, Time at, std::optional<TicketId> completes) {
  const std::size_t bytes = payload.bytes.size();
  const std::uint64_t letter =
      fabric_.network().send({at, device_, to, 0, wire_bytes(bytes), bytes_of(header), std::move(payload)});
  if (completes) leaving_.emplace(letter, *completes);
}

Engine::TicketId Engine::start_send(dataflow::Kernel& kernel, int to, Header header, const View& elements,
                                    const std::string& what) {
  const TicketId id = open_ticket(what, header.communicator);
  header.from = device_;
  header.count = elements.count;
  header.type = elements.type;
  header.sender = id;
  if (const Result* const cause = broken(header.communicator)) {
    end_ticket(id, kernel.clock, *cause);
    return id;
  }
  // What goes to another process has left before this device goes on.
  Payload payload = travelling(header, elements, fabric_.is_elsewhere(to));
  const bool is_put = header.kind == MessageKind::kPut;
  if (!is_put && is_rdma() && payload.bytes.size() > settings_.eager_bytes) {
    header.kind = MessageKind::kRequest;
    post(to, header, {}, kernel.clock, std::nullopt);
    announced_.emplace(id, Outgoing{to, header, std::move(payload)});
    return id;
  }
  if (!is_put && payload.bytes.size() > settings_.rx_buffers * settings_.rx_bytes) {
    end_ticket(
        id, kernel.clock,
        {Code::kMessageTooLong,
         fmt::format("{}: {} bytes are more than {} receive buffers of {} bytes take; send less at once, or "
                     "use more or larger buffers",
                     what, payload.bytes.size(), settings_.rx_buffers, settings_.rx_bytes)});
    return id;
  }
  post(to, header, std::move(payload), kernel.clock, id);
  return id;
}

void Engine::send_words(dataflow::Kernel& kernel, int to, Header header, std::vector<std::byte> bytes) {
  header.kind = MessageKind::kWords;
  header.from = device_;
  post(to, header, Payload(std::move(bytes)), kernel.clock, std::nullopt);
}

void Engine::completed(const fabric::Stack::Completion& completion) {
  const auto found = leaving_.find(completion.id);
  if (found == leaving_.end()) return;
  const TicketId id = found->second;
  leaving_.erase(found);
  if (!completion.has_failed) {
    end_ticket(id, completion.time);
    return;
  }
  const auto ticket = tickets_.find(id);
  if (ticket == tickets_.end()) return;
  end_ticket(id, completion.time,
             {Code::kPeerDead, ticket->second.what + ": it does not answer; see what became of that device"});
}

// Receiving.

Engine::TicketId Engine::start_receive(dataflow::Kernel& kernel, const Expected& expected,
                                       Destination destination) {
  kernel.worker().wait_until_known(kernel);
  const TicketId id = open_ticket(expected.what, expected.communicator);
  if (const Result* const cause = broken(expected.communicator)) {
    end_ticket(id, kernel.clock, *cause);
    return id;
  }
  Posted posted{id, expected, std::move(destination)};
  const auto found = std::ranges::find_if(
      unexpected_, [&posted](const Message& message) { return posted.expected.is_for(message.header); });
  if (found == unexpected_.end()) {
    posted_.push_back(std::move(posted));
    return id;
  }
  const Message message = std::move(*found);
  unexpected_.erase(found);
  match(posted, message, kernel.clock);
  return id;
}

bool Expected::is_for(const Header& header) const {
  return header.communicator == communicator && header.from == from && header.context == context &&
         (tag == kAnyTag || header.tag == tag || header.tag == kAnyTag);
}

void Engine::begin_message(Message& message, std::size_t bytes) {
  const std::size_t needed = std::max<std::size_t>(1, (bytes + settings_.rx_bytes - 1) / settings_.rx_bytes);
  if (needed > free_buffers_) {
    message.was_refused = true;
    ++refusals_;
    return;
  }
  message.buffers = needed;
  free_buffers_ -= needed;
}

void Engine::release(std::size_t buffers, Time at) {
  if (buffers == 0) return;
  timers_.at(at, [this, buffers](Time) { free_buffers_ += buffers; });
}

std::span<std::byte> Engine::landing(const dataflow::Letter& letter) {
  const Header header = header_of(letter);
  const auto posted = granted_.find(header.receiver);
  const bool fits = header.kind == MessageKind::kData && !header.is_compressed && posted != granted_.end();
  if (!fits) return {};
  const Destination& destination = posted->second.destination;
  if (destination.own || destination.bytes) return {};
  return {destination.elements.data, destination.elements.bytes()};
}

void Engine::arrived(const fabric::Stack::Arrival& arrival, const dataflow::Letter& letter) {
  const auto [place, is_first] = coming_.try_emplace({arrival.from, arrival.id});
  Message& message = place->second;
  if (is_first) {
    message.header = header_of(letter);
    message.payload = letter.payload;
    if (message.header.kind == MessageKind::kEager) begin_message(message, letter.payload.bytes.size());
  }
  if (arrival.is_lost) {
    message.lost_bytes += arrival.bytes;
    message.holes.emplace_back(arrival.offset, arrival.bytes);
  }
  if (!arrival.is_last) return;
  const Message whole = std::move(message);
  coming_.erase(place);
  arrive(whole, arrival.time);
}

void Engine::arrive(const Message& message, Time at) {
  const Header& header = message.header;
  switch (header.kind) {
    case MessageKind::kEager:
      take(message, at);
      return;
    case MessageKind::kRequest:
      if (message.lost_bytes == 0) take(message, at);
      return;
    case MessageKind::kGrant: {
      auto outgoing = announced_.extract(header.sender);
      if (outgoing.empty()) return;  // its sender has given up
      Outgoing& letter = outgoing.mapped();
      letter.header.kind = MessageKind::kData;
      letter.header.receiver = header.receiver;
      post(letter.to, letter.header, std::move(letter.payload), at, header.sender);
      return;
    }
    case MessageKind::kData: {
      const auto posted = granted_.extract(header.receiver);
      if (!posted.empty()) deliver(posted.mapped(), message, at, false);
      return;
    }
    case MessageKind::kPut:
      take_put(message, at);
      return;
    case MessageKind::kWords: {
      lost_words_bytes_ += message.lost_bytes;
      const auto taker = takers_.find(header.stream);
      if (message.lost_bytes > 0 || taker == takers_.end()) return;
      taker->second(at, message.payload);
      return;
    }
    case MessageKind::kAbort:
      take_abort(message, at);
      return;
  }
}

void Engine::begin_collective(Time at, std::uint32_t communicator, const std::vector<int>& devices,
                              std::uint64_t context, std::uint64_t signature, const std::string& what) {
  constexpr std::uint64_t kKept = 64;  // calls for whose stragglers it looks
  begun_[{communicator, context}] = {&devices, signature, what};
  if (context > kKept) begun_.erase({communicator, context - kKept});
  const std::list<Message> waiting = unexpected_;
  for (const Message& message : waiting) compare_calls(message.header, at);
}

void Engine::compare_calls(const Header& header, Time at) {
  const auto found = begun_.find({header.communicator, header.context});
  if (header.context == 0 || found == begun_.end() || found->second.signature == header.signature) return;
  const Begun& own = found->second;
  const auto rank = [&own](int device) {
    return std::ranges::find(*own.devices, device) - own.devices->begin();
  };
  const Result result{
      Code::kCallsDiffer,
      fmt::format("{} on rank {}: rank {} calls it with another operation, root, count, type, reduction or "
                  "algorithm; let all ranks call the same",
                  own.what, rank(device_), rank(header.from))};
  spread(at, header.communicator, *own.devices, result);
}

void Engine::end_all(std::uint32_t communicator, Time at, const Result& result) {
  // Nothing that comes later may touch the memory of a call that has ended.
  std::erase_if(posted_, [&](const Posted& posted) { return posted.expected.communicator == communicator; });
  std::erase_if(granted_, [&](const auto& one) { return one.second.expected.communicator == communicator; });
  std::erase_if(announced_, [&](const auto& one) { return one.second.header.communicator == communicator; });
  std::erase_if(unexpected_, [&](const Message& message) {
    const bool is_of_it = message.header.communicator == communicator;
    if (is_of_it) release(message.buffers, at);
    return is_of_it;
  });
  for (auto& [id, ticket] : tickets_) {
    if (ticket.communicator == communicator && !ticket.has_ended) end_ticket(id, at, result);
  }
}

void Engine::take(const Message& message, Time at) {
  compare_calls(message.header, at);
  if (broken(message.header.communicator) != nullptr) {  // nobody will receive it
    release(message.buffers, at);
    return;
  }
  const auto found = std::ranges::find_if(
      posted_, [&message](const Posted& posted) { return posted.expected.is_for(message.header); });
  if (found == posted_.end()) {
    unexpected_.push_back(message);
    return;
  }
  const Posted posted = std::move(*found);
  posted_.erase(found);
  match(posted, message, at);
}

std::optional<Result> Engine::difference(const Posted& posted, const Header& header) {
  const Expected& expected = posted.expected;
  if (header.signature != expected.signature) {
    return Result{
        Code::kCallsDiffer,
        fmt::format("{}: that rank calls it with another operation, root, count, type, reduction or "
                    "algorithm; let all ranks call the same",
                    expected.what)};
  }
  if (header.count != expected.count || header.type != expected.type) {
    return Result{Code::kCallsDiffer,
                  fmt::format("{}: {} elements of {} came for {} of {}; let both ranks name the same",
                              expected.what, header.count, collectives::name_of(header.type), expected.count,
                              collectives::name_of(expected.type))};
  }
  return std::nullopt;
}

void Engine::match(const Posted& posted, const Message& message, Time at) {
  if (auto difference = Engine::difference(posted, message.header)) {
    release(message.buffers, at);
    end_ticket(posted.ticket, at, std::move(*difference));
    return;
  }
  if (message.was_refused) {
    end_ticket(
        posted.ticket, at,
        {Code::kPoolExhausted,
         fmt::format("{}: {} bytes came and no {} of {} receive buffers were free; receive earlier, or use "
                     "more buffers",
                     posted.expected.what, message.payload.bytes.size(),
                     (message.payload.bytes.size() + settings_.rx_bytes - 1) / settings_.rx_bytes,
                     settings_.rx_buffers)});
    return;
  }
  if (message.header.kind == MessageKind::kRequest) {
    Header grant = message.header;
    grant.kind = MessageKind::kGrant;
    grant.receiver = posted.ticket;
    grant.from = device_;
    granted_.emplace(posted.ticket, posted);
    post(message.header.from, grant, {}, at, std::nullopt);
    return;
  }
  deliver(posted, message, at, true);
}

void Engine::deliver(const Posted& posted, const Message& message, Time at, bool is_buffered) {
  const Destination& destination = posted.destination;
  const bool is_moved = !destination.bytes && (is_buffered || destination.own);
  const Time end = is_moved ? moved(at, static_cast<double>(destination.elements.bytes())) : at;
  store(destination, message);
  release(message.buffers, end);
  Result result;
  if (message.lost_bytes > 0) {
    result = {Code::kPacketsLost, "", message.lost_bytes};
  }
  end_ticket(posted.ticket, end, std::move(result));
}

void Engine::store(const Destination& destination, const Message& message) {
  const Header& header = message.header;
  std::vector<std::byte> whole(header.is_compressed ? header.count * collectives::bytes_of(header.type) : 0);
  if (header.is_compressed) {
    collectives::float16_to_float32(message.payload.bytes.data(), whole.data(), header.count);
  }
  const std::span<const std::byte> came = header.is_compressed ? whole : message.payload.bytes;
  if (destination.bytes) {
    destination.bytes->assign(came.begin(), came.end());
    return;
  }
  const View& to = destination.elements;
  const std::size_t element = collectives::bytes_of(header.type);
  const View& old = destination.own ? *destination.own : to;
  const auto put = [&](std::size_t first, std::size_t end) {
    if (first >= end) return;
    std::byte* const target = to.data + first * element;
    const std::byte* const source = came.data() + first * element;
    if (destination.own) {
      collectives::combine(header.type, destination.reduction, source, old.data + first * element, target,
                           end - first);
    } else if (target != source) {
      std::memcpy(target, source, (end - first) * element);
    }
  };
  std::size_t next = 0;
  for (const auto& [offset, bytes] : message.holes) {
    const std::size_t travelling = travelling_bytes(header);
    const std::size_t first = std::min<std::size_t>(offset / travelling, header.count);
    const std::size_t end =
        std::min<std::size_t>((offset + bytes + travelling - 1) / travelling, header.count);
    put(next, first);
    if (destination.own && to.data != old.data && end > first) {
      std::memcpy(to.data + first * element, old.data + first * element, (end - first) * element);
    }
    next = end;
  }
  put(next, header.count);
}

void Engine::take_put(const Message& message, Time at) {
  const Header& header = message.header;
  const View* const memory = this->memory(header.memory);
  const bool has_room =
      memory != nullptr && memory->type == header.type && header.first + header.count <= memory->count;
  if (!has_room) {
    spread(at, header.communicator, {header.from},
           {Code::kUnknownMemory,
            fmt::format(
                "put into memory {} of device {}: no such {} elements of {} were registered there; register "
                "them, and tell its number",
                header.memory, device_, header.first + header.count, collectives::name_of(header.type))});
    return;
  }
  store({memory->part(header.first, header.count)}, message);
}

// Failures.

const Result* Engine::broken(std::uint32_t communicator) const {
  const auto found = broken_.find(communicator);
  return found == broken_.end() ? nullptr : &found->second;
}

void Engine::spread(Time at, std::uint32_t communicator, const std::vector<int>& devices,
                    const Result& result) {
  if (!broken_.emplace(communicator, result).second) return;
  const auto* const text = reinterpret_cast<const std::byte*>(result.text.data());
  const Payload payload(std::vector<std::byte>(text, text + result.text.size()));
  Header header;
  header.kind = MessageKind::kAbort;
  header.from = device_;
  header.communicator = communicator;
  for (const int device : devices) {
    if (device != device_) post(device, header, payload, at, std::nullopt);
  }
  end_all(communicator, at, result);
}

void Engine::take_abort(const Message& message, Time at) {
  const std::string text(reinterpret_cast<const char*>(message.payload.bytes.data()),
                         message.payload.bytes.size());
  const Result result{Code::kPeerFailed, text};
  const std::uint32_t communicator = message.header.communicator;
  if (!broken_.emplace(communicator, result).second) return;
  end_all(communicator, at, result);
}

void Engine::on_words(int stream, std::function<void(Time, Payload)> take) {
  takers_[stream] = std::move(take);
}

std::vector<std::string> Engine::left_over() const {
  std::vector<std::string> found;
  for (const Message& message : unexpected_) {
    found.push_back(fmt::format("a message of {} elements with tag {} from device {}", message.header.count,
                                message.header.tag, message.header.from));
  }
  return found;
}

}  // namespace fabricmark::engine
