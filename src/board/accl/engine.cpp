#include "board/accl/engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "collectives/elements.hpp"

namespace fabricmark::accl {

/// What stays in its place until it has arrived is not copied.
Payload Engine::travelling(const Header& header, const View& elements, bool stays) const {
  const std::size_t bytes = elements.count * travelling_bytes(header);
  if (bytes == 0) return {};
  if (!settings_.moves_elements) return Payload(std::span(elements.data, bytes));  // only its size is used
  if (header.is_compressed) {
    std::vector<std::byte> halves(bytes);
    collectives::float32_to_float16(elements.data, halves.data(), elements.count);
    return Payload(std::move(halves));
  }
  if (stays) return Payload(std::span(elements.data, bytes));
  return Payload(std::vector<std::byte>(elements.data, elements.data + bytes));
}

Engine::Engine(dataflow::Fabric& fabric, int device, const EngineSettings& settings)
    : fabric_(fabric),
      worker_(fabric.worker(device)),
      device_(device),
      settings_(settings),
      longest_eager_(receive_buffers_of(settings, fabric.settings().network->protocol).longest),
      timers_(worker_, device),
      free_buffers_(settings.rx_buffers) {
  fabric.network().attach(device, worker_, *this);
}

Engine::~Engine() = default;

bool Engine::is_rdma() const { return fabric_.settings().network->protocol == network::Protocol::kRdma; }

// Memory and its mover.

Time Engine::moved(Time at, double bytes) {
  mover_free_ = network::later(std::max(at, mover_free_), network::transfer_time(bytes, settings_.copy_rate));
  return network::later(mover_free_, network::from_seconds(settings_.copy_latency_seconds));
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
  if (ticket.time_out) timers_.cancel(*ticket.time_out);
  if (ticket.waiter != nullptr) worker_.make_ready(*std::exchange(ticket.waiter, nullptr));
}

void Engine::wait(dataflow::Kernel& kernel, TicketId id, std::uint64_t& lost_bytes) {
  Ticket& ticket = tickets_.at(id);
  if (!ticket.has_ended) {
    if (settings_.timeout_seconds > 0) {
      const Time end = network::later(kernel.clock, network::from_seconds(settings_.timeout_seconds));
      ticket.time_out = timers_.alarm_at(end, [this, id](Time now) { time_out(id, now); });
    }
    ticket.waiter = &kernel;
    kernel.wait(dataflow::Kernel::Waits::kForMessage, nullptr);
  }
  kernel.wait_until(ticket.end, ticket.what);
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
    for (const MessagePtr& message : unexpected_) {
      const Header& header = message->header;
      const bool is_from_there =
          header.from == posted->expected.from && header.communicator == posted->expected.communicator;
      if (!is_from_there) continue;
      others = header.context == 0 ? fmt::format("; a message with tag {} came from there", header.tag)
                                   : "; that rank is in a collective operation";
    }
    posted_.erase(posted);
  }
  announced_.erase(id);
  granted_.erase(id);
  // Nothing that comes later may touch the memory of a call that has ended.
  const auto let_go = [&](const MessagePtr& message) {
    if (!message->posted || message->posted->ticket != id) return false;
    message->posted.reset();
    unexpected_.push_back(message);
    return true;
  };
  for (const auto& [key, message] : coming_) let_go(message);
  for (const auto& [number, message] : credits_) {
    if (let_go(message)) others = "; it had found no receive buffer free, got credit, and did not come again";
  }
  end_ticket(id, now,
             {Code::kTimeOut, fmt::format("{} has waited {} s of modelled time in vain{}", found->second.what,
                                          settings_.timeout_seconds, others)});
}

// Sending.

std::size_t Engine::buffers_for(std::size_t bytes) const {
  return std::max<std::size_t>(1, (bytes + settings_.rx_bytes - 1) / settings_.rx_bytes);
}

bool Engine::is_corrupted(Payload& payload, Time at) {
  if (payload.bytes.empty()) return false;
  std::vector<std::byte> bytes(payload.bytes.begin(), payload.bytes.end());
  const std::optional<network::MessageFault> fault = fault_.strike(bytes);
  if (!fault) return false;
  if (*fault == network::MessageFault::kLost) return true;
  if (*fault == network::MessageFault::kDead) {
    // As the message leaves: until then packets may have been advanced.
    network::Stack& stack = fabric_.network().stack();
    stack.kill(network::later(at, stack.lookahead()), device_);
    return false;
  }
  payload = Payload(std::move(bytes));
  return false;
}

void Engine::post(int to, const Header& header, Payload payload, Time at, std::optional<TicketId> completes,
                  std::optional<std::size_t> segments) {
  if (is_watched_ && is_corrupted(payload, at)) {
    if (completes) end_ticket(*completes, at);
    return;
  }
  const std::size_t bytes = payload.bytes.size();
  const std::uint64_t wire_bytes = bytes + segments.value_or(buffers_for(bytes)) * settings_.header_bytes;
  const std::uint64_t letter =
      fabric_.network().send({at, device_, to, 0, wire_bytes, bytes_of(header), std::move(payload)});
  if (completes) leaving_.emplace(letter, *completes);
}

Engine::TicketId Engine::start_send(dataflow::Kernel& kernel, int to, Header header, const View& elements,
                                    const std::string& what, const std::shared_ptr<Arriving>& arriving) {
  const TicketId id = open_ticket(what, header.communicator);
  header.from = device_;
  header.count = elements.count;
  header.type = elements.type;
  header.sender = id;
  if (const Result* const cause = broken(header.communicator)) {
    end_ticket(id, kernel.clock, *cause);
    return id;
  }
  const std::size_t bytes = elements.count * travelling_bytes(header);
  const bool is_there =
      arriving == nullptr || arriving->since(elements).value_or(network::kEndOfTime) <= kernel.clock;
  // What goes to another process has left before this device goes on.
  Payload payload = is_there ? travelling(header, elements, fabric_.is_elsewhere(to)) : Payload();
  const bool is_put = header.kind == MessageKind::kPut;
  if (!is_put && bytes > longest_eager_) {
    header.kind = MessageKind::kRequest;
    post(to, header, {}, kernel.clock, std::nullopt);
    Outgoing outgoing{to, header, std::move(payload)};
    if (!is_there) {
      outgoing.leave = [this, to, elements, arriving](Time at, const Header& granted) {
        leave(to, granted, elements, at, arriving);
      };
    }
    announced_.emplace(id, std::move(outgoing));
    return id;
  }
  if (!is_put && bytes > settings_.rx_buffers * settings_.rx_bytes) {
    end_ticket(
        id, kernel.clock,
        {Code::kMessageTooLong,
         fmt::format("{}: {} bytes are more than {} receive buffers of {} bytes take; send less at once, or "
                     "use more or larger buffers",
                     what, bytes, settings_.rx_buffers, settings_.rx_bytes)});
    return id;
  }
  if (!is_there) {
    leave(to, header, elements, kernel.clock, arriving);
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

void Engine::completed(const network::Stack::Completion& completion) {
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

void Engine::on_words(int stream, std::function<void(Time, Payload)> take) {
  takers_[stream] = std::move(take);
}

std::vector<std::string> Engine::left_over() const {
  std::vector<std::string> found;
  for (const MessagePtr& message : unexpected_) {
    if (!message->is_complete) continue;
    found.push_back(fmt::format("a message of {} elements with tag {} from device {}", message->header.count,
                                message->header.tag, message->header.from));
  }
  if (found.empty() && free_buffers_ != settings_.rx_buffers && broken_.empty()) {
    found.push_back(
        fmt::format("what {} receive buffers are kept for", settings_.rx_buffers - free_buffers_));
  }
  return found;
}

}  // namespace fabricmark::accl
