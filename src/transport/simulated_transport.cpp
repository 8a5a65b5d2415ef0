#include "transport/simulated_transport.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/system_costs.hpp"

namespace fabricmark::transport {

namespace {

constexpr std::size_t kShortestPiece = std::size_t{64} << 10;  // that the path over the host tries

/// The times at which the pieces of a message arrive.
using Stamps = std::vector<double>;

double bytes_of(const Message& message) { return static_cast<double>(message.bytes); }

double pieces_of(double bytes, double piece) { return piece == 0 ? 0 : std::ceil(bytes / piece); }

}  // namespace

/// Messages in flight: those below that move data, and the times of arrival of all.
class SimulatedTransfer : public device::Event::State {
 public:
  explicit SimulatedTransfer(SimulatedTransport& transport)
      : transport_(transport), messages_(*transport.stamps_, transport.timeout_, transport.waiting_) {}

  void start(std::span<const Message> sends, std::span<const Message> receives, const device::Events& after) {
    const auto not_empty = [](std::span<const Message> all, std::vector<Message>& found) {
      std::ranges::copy_if(all, std::back_inserter(found), [](const Message& one) { return one.bytes > 0; });
    };
    not_empty(sends, sends_);
    not_empty(receives, receives_);
    begin_ = transport_.clock_.seconds();
    for (const device::Event& event : after) {
      auto* const other = dynamic_cast<SimulatedTransfer*>(event.state());
      if (other != nullptr && other->stage_ != Stage::kEnded) {
        before_.push_back(event);
      } else {
        begin_ = std::max(begin_, event.modelled_end());
      }
    }
    if (transport_.moves_data_) moved_ = transport_.transport_->start(sends, receives, after);
    if (before_.empty()) leave(/*is_in_order=*/true);
  }

  [[nodiscard]] bool has_ended() override {
    if (stage_ == Stage::kBefore) {
      if (!std::ranges::all_of(before_, [](const device::Event& event) { return event.has_ended(); }))
        return false;
      leave_after();
    }
    if (stage_ == Stage::kInFlight) {
      if (!moved_.has_ended()) return false;
      for (std::size_t i = 0; i < messages_.count(); ++i) {
        if (!messages_.is_done(i)) return false;
      }
      arrive();
    }
    return true;
  }
  void wait() override {
    for (const device::Event& event : before_) event.wait();
    if (stage_ == Stage::kBefore) leave_after();
    if (stage_ == Stage::kInFlight) {
      transport_.look(this);
      moved_.wait();
      messages_.wait_all();
      arrive();
    }
    transport_.clock_.advance_to(end_);
  }
  bool cancel() override {
    messages_.clear();
    stage_ = Stage::kEnded;
    before_.clear();
    return moved_.cancel();
  }
  [[nodiscard]] device::CommandTimes times() override { return moved_.times(); }
  [[nodiscard]] double modelled_end() const override { return transport_.clock_.seconds_of(end_); }

 private:
  enum class Stage { kBefore, kInFlight, kEnded };

  void leave_after() {
    for (const device::Event& event : before_) begin_ = std::max(begin_, event.modelled_end());
    before_.clear();
    // When others are looked at depends on the machine: only what is known at the start is put in an order.
    leave(/*is_in_order=*/false);
  }

  /// The first pieces of all messages leave before the second ones.
  void leave(bool is_in_order) {
    stage_ = Stage::kInFlight;
    outgoing_.resize(sends_.size());
    incoming_.resize(receives_.size());
    double read = begin_;
    left_ = is_in_order ? std::max(begin_, transport_.clock_.seconds_of(transport_.free_)) : begin_;
    each_round(
        sends_,
        [&](std::size_t, double bytes) {
          read = transport_.tell_copy(false, read, transport_.times(bytes).read);
        },
        [&](std::size_t i, double bytes) {
          left_ = transport_.tell_message(sends_[i].peer, std::max(left_, read), bytes);
          outgoing_[i].push_back(left_);
        });
    if (is_in_order) transport_.free_ = transport_.clock_.at(left_);
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      const double bytes = bytes_of(receives_[i]);
      incoming_[i].resize(static_cast<std::size_t>(pieces_of(bytes, transport_.piece_bytes(bytes))));
      messages_.receive(receives_[i].peer, std::as_writable_bytes(std::span(incoming_[i])), receives_[i].tag);
    }
    for (std::size_t i = 0; i < sends_.size(); ++i)
      messages_.send(sends_[i].peer, std::as_writable_bytes(std::span(outgoing_[i])), sends_[i].tag);
  }

  void arrive() {
    double written = begin_;
    std::vector<std::size_t> round(receives_.size());
    each_round(
        receives_, [&](std::size_t i, double) { written = std::max(written, incoming_[i].at(round[i]++)); },
        [&](std::size_t, double bytes) {
          written = transport_.tell_copy(true, written, transport_.times(bytes).write);
        });
    end_ = transport_.clock_.at(std::max(written, left_));
    messages_.clear();
    stage_ = Stage::kEnded;
  }

  /// Of each round of pieces, first one and then the other for all messages that have so many.
  template <typename First, typename Second>
  void each_round(std::span<const Message> messages, First&& first, Second&& second) const {
    bool goes_on = true;
    for (double round = 0; goes_on; ++round) {
      goes_on = false;
      const auto each = [&](auto&& action) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
          const double bytes = bytes_of(messages[i]);
          const double piece = transport_.piece_bytes(bytes);
          if (round * piece >= bytes) continue;
          goes_on = true;
          action(i, std::min(piece, bytes - round * piece));
        }
      };
      each(first);
      each(second);
    }
  }

  SimulatedTransport& transport_;
  Messages messages_;
  std::vector<Message> sends_, receives_;
  std::vector<Stamps> outgoing_, incoming_;
  device::Events before_;  // transfers whose ends are not known yet
  device::Event moved_;
  Stage stage_ = Stage::kBefore;
  double begin_ = 0;
  double left_ = 0;  // when its last message has left
  SimulatedClock::Moment end_{};
};

/// The steps of an exchange, each simulated by itself.
class SimulatedSteps : public Steps {
 public:
  SimulatedSteps(SimulatedTransport& transport, std::unique_ptr<Steps> steps)
      : transport_(transport), steps_(std::move(steps)) {}
  [[nodiscard]] std::vector<Step> steps() const override { return steps_->steps(); }
  [[nodiscard]] std::span<std::byte> staged(Place place, std::size_t bytes) override {
    return steps_->staged(place, bytes);
  }
  void take(std::size_t step, std::span<const Message> sends, std::span<const Message> receives,
            std::size_t staged) override {
    if (transport_.moves_data_) steps_->take(step, sends, receives, staged);
    const Place place = steps_->steps().at(step).place;
    double now = transport_.clock_.seconds();
    if (place == Place::kSent) {
      for (const Message& message : sends)
        now = transport_.tell_copy(false, now, transport_.times(bytes_of(message)).read);
    } else if (place == Place::kArrived) {
      for (const Message& message : receives)
        now = transport_.tell_copy(true, now, transport_.times(bytes_of(message)).write);
    } else {
      now = exchange(now, sends, receives);
    }
    transport_.clock_.advance_to(now);
  }

 private:
  [[nodiscard]] double exchange(double now, std::span<const Message> sends,
                                std::span<const Message> receives) const {
    Messages messages(*transport_.stamps_, transport_.timeout_, transport_.waiting_);
    std::vector<double> leaving(sends.size());
    std::vector<double> arriving(receives.size());
    for (std::size_t i = 0; i < receives.size(); ++i)
      messages.receive(receives[i].peer, std::as_writable_bytes(std::span(&arriving[i], 1)), receives[i].tag);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      leaving[i] = now = transport_.tell_message(sends[i].peer, now, bytes_of(sends[i]));
      messages.send(sends[i].peer, std::as_writable_bytes(std::span(&leaving[i], 1)), sends[i].tag);
    }
    messages.wait_all();
    for (const double arrived : arriving) now = std::max(now, arrived);
    return now;
  }

  SimulatedTransport& transport_;
  std::unique_ptr<Steps> steps_;
};

SimulatedTransport::SimulatedTransport(std::unique_ptr<Transport> transport, const runtime::Context& context,
                                       Waiting waiting)
    : Transport(transport->ranks()),
      transport_(std::move(transport)),
      costs_(*context.costs()),
      clock_(context.simulated_clock()),
      stamps_(ranks().split(0, ranks().rank())),
      timeout_(context.timeout_seconds()),
      waiting_(waiting),
      moves_data_(context.computes()),
      is_of_devices_(transport_->supports(device::MemorySpace::kDeviceBank, device::MemorySpace::kDeviceBank,
                                          Operation::kMessage)),
      chunk_bytes_(is_of_devices_ && context.parameters().has("chunk_bytes")
                       ? context.parameters().integer("chunk_bytes")
                       : 0) {
  static_cast<void>(times(1));  // refuses a system without a network before anything runs
}

const SimulatedTransport::StepTimes& SimulatedTransport::times(double bytes) const {
  const auto [found, is_new] = times_.try_emplace(bytes);
  if (is_new) {
    StepTimes& known = found->second;
    known.message = costs_.message_seconds(transport_->name(), bytes);
    if (is_of_devices_) {
      known.read = costs_.message_copy_seconds(/*is_to_device=*/false, bytes);
      known.write = costs_.message_copy_seconds(/*is_to_device=*/true, bytes);
    }
  }
  return found->second;
}

double SimulatedTransport::message_seconds(int peer, double bytes) const {
  // One rank has a network to itself; of several none uses it for itself.
  return peer == ranks().rank() && ranks().size() > 1 ? 0 : times(bytes).message;
}

double SimulatedTransport::tell_copy(bool is_to_device, double from, double seconds) const {
  if (ClockWitness* const witness = clock_.witness()) {
    witness->took(CostKind::kCopy, is_to_device ? "copies of what arrives" : "copies of what leaves", "",
                  from, from + seconds);
  }
  return from + seconds;
}

double SimulatedTransport::tell_message(int peer, double from, double bytes) const {
  const double to = from + message_seconds(peer, bytes);
  if (ClockWitness* const witness = clock_.witness()) {
    witness->took(CostKind::kMessage, "messages", fmt::format("to rank {}", peer), from, to);
  }
  return to;
}

double SimulatedTransport::seconds_in(double bytes, double pieces) const {
  const StepTimes& of_piece = times(std::ceil(bytes / pieces));
  return of_piece.read + of_piece.message + of_piece.write +
         (pieces - 1) * std::max({of_piece.read, of_piece.message, of_piece.write});
}

double SimulatedTransport::piece_bytes(double bytes) const {
  const auto [found, is_new] = pieces_.try_emplace(bytes, bytes);
  if (!is_new) return found->second;
  if (chunk_bytes_ > 0) found->second = std::min(static_cast<double>(chunk_bytes_), bytes);
  if (chunk_bytes_ >= 0 || !is_of_devices_) return found->second;
  double best = 1;
  for (const double pieces : {2.0, 4.0, 8.0}) {
    if (bytes / pieces < static_cast<double>(kShortestPiece)) break;
    if (seconds_in(bytes, pieces) < seconds_in(bytes, best)) best = pieces;
  }
  return found->second = std::ceil(bytes / best);
}

device::Event SimulatedTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                        const device::Events& after) {
  auto transfer = std::make_shared<SimulatedTransfer>(*this);
  std::erase_if(in_flight_, [](const auto& other) { return other.expired(); });
  in_flight_.push_back(transfer);
  transfer->start(sends, receives, after);
  return device::Event(std::move(transfer));
}

void SimulatedTransport::look(const SimulatedTransfer* except) {
  for (const auto& other : in_flight_) {
    const std::shared_ptr<SimulatedTransfer> transfer = other.lock();
    if (transfer && transfer.get() != except) static_cast<void>(transfer->has_ended());
  }
}

std::unique_ptr<Steps> SimulatedTransport::steps() {
  std::unique_ptr<Steps> steps = transport_->steps();
  return steps ? std::make_unique<SimulatedSteps>(*this, std::move(steps)) : nullptr;
}

}  // namespace fabricmark::transport
