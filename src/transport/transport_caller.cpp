#include "transport/transport_caller.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "collectives/elements.hpp"
#include "device/event.hpp"
#include "device/memory_space.hpp"
#include "transport/measured_costs.hpp"

namespace fabricmark::collectives {

/// The moves of this rank's part of one call.
class TransportCaller::OwnMoves final : public Moves {
 public:
  OwnMoves(TransportCaller& caller, Type type, Reduction reduction)
      : caller_(caller), type_(type), reduction_(reduction) {}
  /// What is still in progress has failed.
  ~OwnMoves() override {
    for (const device::Event& event : in_flight_) event.cancel();
  }

  [[nodiscard]] int rank() const override { return caller_.transport_.ranks().rank(); }
  [[nodiscard]] int size() const override { return caller_.transport_.ranks().size(); }

  Ticket start_send(int to, const View& elements) override {
    return note(caller_.transport_.send(message(to, elements, caller_.sent_)));
  }
  Ticket start_receive(int from, const View& elements) override {
    const View& into = elements.count == 0 ? caller_.unread_ : elements;
    return note(caller_.transport_.receive(message(from, into, caller_.received_)));
  }
  void wait(Ticket ticket) override {
    // Let go of, so that the transport uses it again.
    const device::Event event = std::exchange(in_flight_.at(ticket), {});
    if (!caller_.pause_) return event.wait();
    while (!event.has_ended()) {
      // Others may wait for what this rank has started besides.
      for (const device::Event& other : in_flight_) static_cast<void>(other.has_ended());
      caller_.pause_();
    }
  }

  void copy(const View& from, const View& to) override {
    if (from.count == 0 || from.data == to.data) return;
    const transport::Region source = caller_.region(from);
    if (!caller_.is_on_host_ && caller_.arithmetic_) {
      caller_.arithmetic_->copy(source, caller_.region(to));
      return;
    }
    source.buffer->read(source.offset, {to.data, to.bytes()});
    caller_.write(to);
  }
  void combine(const View& a, const View& b, const View& result) override {
    if (result.count == 0) return;
    if (!caller_.is_on_host_ && caller_.arithmetic_ && caller_.arithmetic_->has(type_, reduction_)) {
      caller_.arithmetic_->combine(type_, reduction_, caller_.region(a), caller_.region(b),
                                   caller_.region(result));
      return;
    }
    for (const View& operand : {a, b}) caller_.read(operand);
    collectives::combine(type_, reduction_, a.data, b.data, result.data, result.count);
    caller_.write(result);
  }
  void receive_and_combine(int from, const View& own, const View& result) override {
    if (incoming_.count < result.count) incoming_ = scratch(result.count);
    const View incoming = incoming_.part(0, result.count);
    receive(from, incoming);
    combine(incoming, own, result);
  }
  View scratch(std::size_t count) override { return caller_.scratch(count, type_); }

 private:
  transport::Message message(int peer, const View& elements, std::vector<int>& counts) {
    int& count = counts[static_cast<std::size_t>(peer)];
    const int tag = std::exchange(count, (count + 1) % kTags);
    return {caller_.region(elements), peer, tag};
  }
  Ticket note(device::Event event) {
    in_flight_.push_back(std::move(event));
    return in_flight_.size() - 1;
  }

  TransportCaller& caller_;
  Type type_;
  Reduction reduction_;
  View incoming_{};
  std::vector<device::Event> in_flight_;  // [ticket]; of nothing once it was waited for
};

TransportCaller::TransportCaller(transport::Transport& transport, const device::Device* device)
    : transport_(transport),
      sent_(static_cast<std::size_t>(transport.ranks().size())),
      received_(static_cast<std::size_t>(transport.ranks().size())) {
  if (device != nullptr && device->exists()) arithmetic_.emplace(*device);
  nothing_ = allocate(1, Type::kInt32);
  unread_ = allocate(1, Type::kInt32);
}

View TransportCaller::allocate(std::size_t count, Type type) {
  const std::size_t bytes = std::max<std::size_t>(count * bytes_of(type), 1);
  Area area;
  area.owned = transport_.allocate(bytes);
  area.region = {area.owned.get(), 0, bytes};
  is_on_host_ = device::is_on_host(area.owned->space());
  if (!is_on_host_) area.seen = {device::allocate_pages(bytes), device::release_pages};
  std::byte* const first = is_on_host_ ? area.owned->host().data() : static_cast<std::byte*>(area.seen.get());
  areas_.insert_or_assign(first, std::move(area));
  return {first, count, type};
}

View TransportCaller::adopt(const transport::Region& region, Type type) {
  const std::size_t bytes = bytes_of(type);
  if (region.offset % bytes != 0 || region.bytes % bytes != 0) {
    throw bad_use("elements do not lie at multiples of their " + std::to_string(bytes) + " bytes",
                  "give such an offset and size");
  }
  Area area;
  area.region = region;
  // The host seldom looks at them, and then at few.
  if (!is_on_host_) area.seen = device::reserve_pages(region.bytes);
  std::byte* const first =
      is_on_host_ ? region.buffer->host().data() + region.offset : static_cast<std::byte*>(area.seen.get());
  areas_.insert_or_assign(first, std::move(area));
  return {first, region.bytes / bytes, type};
}

void TransportCaller::release(const View& elements) {
  if (areas_.erase(elements.data) == 0) throw std::logic_error("elements that were not allocated here");
}

transport::Region TransportCaller::region(const View& elements) {
  const View& view = elements.count == 0 ? nothing_ : elements;
  const auto behind = areas_.upper_bound(view.data);
  if (behind != areas_.begin()) {
    const auto& [first, area] = *std::prev(behind);
    const auto offset = static_cast<std::size_t>(view.data - first);
    // A message without elements has those of `nothing_`: of one without bytes a transport may make none at
    // all.
    if (offset + view.bytes() <= area.region.bytes)
      return {area.region.buffer, area.region.offset + offset, view.bytes()};
  }
  throw bad_use("elements of a collective call do not lie in memory of its transport",
                "allocate them with TransportCaller::allocate");
}

void TransportCaller::write(const View& elements) {
  if (is_on_host_ || elements.count == 0) return;
  const transport::Region place = region(elements);
  place.buffer->write(place.offset, {elements.data, elements.bytes()});
}

void TransportCaller::read(const View& elements) {
  if (is_on_host_ || elements.count == 0) return;
  const transport::Region place = region(elements);
  place.buffer->read(place.offset, {elements.data, elements.bytes()});
}

View TransportCaller::scratch(std::size_t count, Type type) {
  const std::size_t bytes = count * bytes_of(type);
  if (scratch_used_ == scratch_.size()) scratch_.emplace_back();
  View& found = scratch_[scratch_used_++];
  if (found.bytes() < bytes) {
    if (found.data != nullptr) release(found);
    found = {};  // so that nothing is released twice where there is no memory
    found = allocate((bytes + 7) / 8, Type::kInt64);
  }
  return {found.data, count, type};
}

const Place& TransportCaller::place() {
  const runtime::Communicator& ranks = transport_.ranks();
  if (!place_) place_ = {.rank = ranks.rank(), .ranks = ranks.size(), .costs = measured_costs(*this)};
  return *place_;
}

void TransportCaller::run(const Algorithm& algorithm, const Call& call) {
  const int rank = transport_.ranks().rank();
  const int ranks = transport_.ranks().size();
  check(call, rank, ranks);
  scratch_used_ = 0;
  OwnMoves moves(*this, type_of(call, rank, ranks), call.reduction);
  collectives::run(algorithm, moves, call);
}

}  // namespace fabricmark::collectives
