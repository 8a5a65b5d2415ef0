// What comes to an engine: messages and the receives that wait for them.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "board/accl/engine.hpp"
#include "collectives/elements.hpp"

namespace fabricmark::accl {

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
      unexpected_, [&posted](const MessagePtr& message) { return posted.expected.is_for(message->header); });
  if (found == unexpected_.end()) {
    posted_.push_back(std::move(posted));
    return id;
  }
  const MessagePtr message = std::move(*found);
  unexpected_.erase(found);
  if (message->is_complete) {
    match(posted, message, kernel.clock);
  } else {
    message->posted = std::move(posted);
  }
  return id;
}

bool Expected::is_for(const Header& header) const {
  return header.communicator == communicator && header.from == from && header.context == context &&
         (tag == kAnyTag || header.tag == tag || header.tag == kAnyTag);
}

void Engine::begin_message(const MessagePtr& message, std::size_t bytes) {
  const std::size_t needed = buffers_for(bytes);
  if (needed > free_buffers_) {
    message->room = Room::kLacks;
    lacking_.push_back(message);
    return;
  }
  message->buffers = needed;
  free_buffers_ -= needed;
}

/// Messages are matched in the order in which they begin to come.
void Engine::bind(const MessagePtr& message) {
  if (broken(message->header.communicator) != nullptr) return;  // nobody will receive it
  const auto found = std::ranges::find_if(
      posted_, [&message](const Posted& posted) { return posted.expected.is_for(message->header); });
  if (found == posted_.end()) {
    unexpected_.push_back(message);
    return;
  }
  message->posted = std::move(*found);
  posted_.erase(found);
}

std::span<std::byte> Engine::landing(const dataflow::Letter& letter) {
  const Header header = header_of(letter);
  const auto posted = granted_.find(header.receiver);
  const bool fits = header.kind == MessageKind::kData && header.piece == 0 && !header.is_compressed &&
                    posted != granted_.end();
  if (!fits) return {};
  const Destination& destination = posted->second.destination;
  if (destination.own || destination.words) return {};
  return {destination.elements.data, destination.elements.bytes()};
}

Engine::MessagePtr Engine::coming(const network::Stack::Arrival& arrival, const dataflow::Letter& letter) {
  const Header header = header_of(letter);
  if (header.kind == MessageKind::kAgain) return coming_again(arrival, header);
  const bool is_piece = header.piece > 0;
  const auto [place, is_first] =
      coming_.try_emplace({arrival.from, is_piece, is_piece ? header.sender : arrival.id});
  if (!is_first) return place->second;
  place->second = std::make_shared<Message>();
  const MessagePtr message = place->second;
  message->header = header;
  message->payload = letter.payload;
  if (is_piece) {
    message->pieces.resize(header.count * travelling_bytes(header));
    message->payload = Payload(std::span<const std::byte>(message->pieces));
  }
  if (header.kind == MessageKind::kEager) begin_message(message, message->payload.bytes.size());
  if (header.kind == MessageKind::kEager || header.kind == MessageKind::kRequest) bind(message);
  return message;
}

void Engine::arrived(const network::Stack::Arrival& arrival, const dataflow::Letter& letter) {
  const MessagePtr message = coming(arrival, letter);
  if (!message) return;
  const Header header = header_of(letter);
  // What comes again is here: only its way counts.
  const bool is_again = header.kind == MessageKind::kAgain;
  const std::size_t bytes = (is_again ? message->payload : letter.payload).bytes.size();
  const std::uint64_t before = header.piece > 0 ? header.first * travelling_bytes(header) : 0;
  if (arrival.is_lost) {
    message->lost_bytes += arrival.bytes;
    message->holes.emplace_back(before + arrival.offset, arrival.bytes);
  }
  if (header.piece > 0 && arrival.is_last && settings_.moves_elements) {
    std::ranges::copy(letter.payload.bytes, message->pieces.begin() + static_cast<std::ptrdiff_t>(before));
  }
  const bool is_complete = arrival.is_last && before + bytes == message->payload.bytes.size();
  if (!is_complete) {
    // Headers come first. A piece is there as a whole.
    const std::uint64_t headers = letter.wire_bytes - bytes;
    const std::uint64_t there = arrival.offset + arrival.bytes;
    const std::uint64_t of_letter = header.piece > 0 ? 0 : there - std::min(there, headers);
    give(*message, arrival.is_last ? before + bytes : before + of_letter, arrival.time);
    return;
  }
  message->is_complete = true;
  const bool is_piece = header.piece > 0;
  coming_.erase({arrival.from, is_piece, is_piece ? header.sender : arrival.id});
  arrive(message, arrival.time);
}

void Engine::arrive(const MessagePtr& arrived, Time at) {
  const Message& message = *arrived;
  const Header& header = message.header;
  switch (header.kind) {
    case MessageKind::kEager:
      take(arrived, at);
      return;
    case MessageKind::kRequest:
      if (message.lost_bytes == 0) take(arrived, at);
      return;
    case MessageKind::kGrant: {
      auto outgoing = announced_.extract(header.sender);
      if (outgoing.empty()) return;  // its sender has given up
      Outgoing& letter = outgoing.mapped();
      letter.header.kind = MessageKind::kData;
      letter.header.receiver = header.receiver;
      if (letter.leave) {
        letter.leave(at, letter.header);
      } else {
        post(letter.to, letter.header, std::move(letter.payload), at, header.sender);
      }
      return;
    }
    case MessageKind::kData: {
      const auto posted = granted_.extract(header.receiver);
      if (!posted.empty()) deliver(posted.mapped(), *arrived, at, false);
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
    case MessageKind::kCredit:
      send_again(message, at);
      return;
    case MessageKind::kAgain:  // its header is that of the message
      return;
  }
}

void Engine::take(const MessagePtr& message, Time at) {
  compare_calls(message->header, at);
  if (broken(message->header.communicator) != nullptr) {  // nobody will receive it
    std::erase(unexpected_, message);
    std::erase(lacking_, message);
    release(*message, at);
    return;
  }
  if (message->posted) {
    match(*message->posted, message, at);
  } else if (message->room == Room::kLacks) {
    give_free_buffers(at);
  }  // else it waits for its receive
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

void Engine::match(const Posted& posted, const MessagePtr& message, Time at) {
  if (auto difference = Engine::difference(posted, message->header)) {
    std::erase(lacking_, message);
    release(*message, at);
    end_ticket(posted.ticket, at, std::move(*difference));
    return;
  }
  if (message->room == Room::kLacks) {
    message->posted = posted;
    give_credit(message, at);
    return;
  }
  if (message->header.kind == MessageKind::kRequest) {
    Header grant = message->header;
    grant.kind = MessageKind::kGrant;
    grant.receiver = posted.ticket;
    grant.from = device_;
    granted_.emplace(posted.ticket, posted);
    post(message->header.from, grant, {}, at, std::nullopt);
    return;
  }
  deliver(posted, *message, at, true);
}

void Engine::deliver(const Posted& posted, Message& message, Time at, bool is_buffered) {
  const Destination& destination = posted.destination;
  const bool is_moved = !destination.words && (is_buffered || destination.own);
  const Time end = is_moved ? moved(at, static_cast<double>(destination.elements.bytes())) : at;
  if (destination.words) {
    destination.words(at, words_of(message, message.given, message.header.count), /*is_last=*/true);
  } else {
    store(destination, message);
  }
  release(message, end);
  Result result;
  if (message.lost_bytes > 0) {
    result = {Code::kPacketsLost, "", message.lost_bytes};
  }
  end_ticket(posted.ticket, end, std::move(result));
}

void Engine::store(const Destination& destination, const Message& message) {
  if (!settings_.moves_elements) return;
  const Header& header = message.header;
  std::vector<std::byte> whole(header.is_compressed ? header.count * collectives::bytes_of(header.type) : 0);
  if (header.is_compressed) {
    collectives::float16_to_float32(message.payload.bytes.data(), whole.data(), header.count);
  }
  const std::span<const std::byte> came = header.is_compressed ? whole : message.payload.bytes;
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
  const bool is_address = header.memory >= DeviceMemory::kFirstAddress;
  const View* const numbered = memory_.view(header.memory);
  const std::optional<View> memory = is_address            ? memory_.at(header.memory, header.type)
                                     : numbered != nullptr ? std::optional(*numbered)
                                                           : std::nullopt;
  const bool has_room = memory && memory->type == header.type && header.first + header.count <= memory->count;
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

}  // namespace fabricmark::accl
