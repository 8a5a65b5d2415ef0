#include "runtime/simulated_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricmark::runtime {

namespace {

class SimulatedRanks : public Communicator {
 public:
  SimulatedRanks(Communicator& ranks, SimulatedClock& clock) : ranks_(ranks), clock_(clock) {
    take_timeout();
  }
  SimulatedRanks(std::unique_ptr<Communicator> own, SimulatedClock& clock)
      : own_(std::move(own)), ranks_(*own_), clock_(clock) {
    take_timeout();
  }

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] int local_rank() const override { return ranks_.local_rank(); }
  [[nodiscard]] int local_size() const override { return ranks_.local_size(); }
  [[nodiscard]] std::string kind() const override { return ranks_.kind(); }
  [[nodiscard]] std::string library() const override { return ranks_.library(); }
  [[nodiscard]] bool takes(DevicePointers pointers) const override { return ranks_.takes(pointers); }
  void start() override { ranks_.start(); }

  std::int64_t all_reduce_max(std::int64_t value) override {
    std::int64_t largest = value;
    for (const std::vector<std::byte>& one : all_gather(std::as_bytes(std::span(&value, 1)))) {
      std::int64_t other = 0;
      std::memcpy(&other, one.data(), sizeof(other));
      largest = std::max(largest, other);
    }
    return largest;
  }
  /// With the clock of each rank in front of its bytes.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) override {
    const double now = clock_.seconds();
    std::vector<std::byte> with_clock(sizeof(now) + bytes.size());
    std::memcpy(with_clock.data(), &now, sizeof(now));
    std::ranges::copy(bytes, with_clock.begin() + sizeof(now));
    std::vector<std::vector<std::byte>> all = ranks_.all_gather(with_clock);
    for (std::vector<std::byte>& one : all) {
      double other = 0;
      std::memcpy(&other, one.data(), sizeof(other));
      clock_.advance_to(other);
      one.erase(one.begin(), one.begin() + sizeof(other));
    }
    return all;
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return std::make_unique<SimulatedRanks>(ranks_.split(color, key), clock_);
  }

  Request start_send(int to, std::span<const std::byte> bytes, int tag) override {
    return ranks_.start_send(to, bytes, tag);
  }
  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    return ranks_.start_receive(from, bytes, tag);
  }
  bool test(Request& request) override { return ranks_.test(request); }
  void cancel(Request& request) override { ranks_.cancel(request); }

  [[nodiscard]] int in_world(int rank) const override { return ranks_.in_world(rank); }

  // All waits are those of the other communicator.
  void set_pastime(Pastime* pastime) override { ranks_.set_pastime(pastime); }
  std::vector<Awaited> take_awaited() override { return ranks_.take_awaited(); }
  [[nodiscard]] bool has_answered(const Awaited& awaited) const override {
    return ranks_.has_answered(awaited);
  }

  void set_timeout(double seconds) override {
    Communicator::set_timeout(seconds);
    ranks_.set_timeout(seconds);
  }
  void fail(const Failure& cause) noexcept override { ranks_.fail(cause); }
  void check() override { ranks_.check(); }
  Ending end(const std::optional<Failure>& own) noexcept override { return ranks_.end(own); }

 private:
  void take_timeout() { Communicator::set_timeout(ranks_.timeout().count()); }

  std::unique_ptr<Communicator> own_;
  Communicator& ranks_;
  SimulatedClock& clock_;
};

}  // namespace

std::unique_ptr<Communicator> simulated_ranks(Communicator& ranks, SimulatedClock& clock) {
  return std::make_unique<SimulatedRanks>(ranks, clock);
}

}  // namespace fabricmark::runtime
