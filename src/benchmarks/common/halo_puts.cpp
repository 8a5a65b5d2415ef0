#include "benchmarks/common/halo_puts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.hpp"

namespace fabricmark::common {

namespace {

// Looks at a flag in a second, about: a GPU takes most of a microsecond for one.
constexpr double kLooksOfGpu = 2e6;
constexpr double kLooksOfCpu = 1e9;

/// Neighbours wait for each other in turn: nobody may only send to another one.
bool is_mutual(const std::vector<HaloMessage>& sent, const std::vector<HaloMessage>& received) {
  const auto ranks = [](const std::vector<HaloMessage>& messages) {
    std::set<int> all;
    for (const HaloMessage& message : messages) all.insert(message.rank);
    return all;
  };
  return ranks(sent) == ranks(received);
}

device::Buffer zeros(const runtime::Context& context, std::size_t numbers) {
  device::Buffer buffer = context.buffer(numbers * sizeof(std::uint32_t));
  const device::Queue queue = context.device().queue();
  buffer.fill(queue, std::byte{0});
  queue.finish();
  return buffer;
}

}  // namespace

std::vector<HaloPuts::Arrival> HaloPuts::arrivals(const std::vector<HaloMessage>& received) {
  std::vector<Arrival> all;
  std::uint64_t numbers = 0;
  for (const HaloMessage& message : received) {
    all.push_back({message.rank, message.tag, numbers, 0});
    numbers += message.numbers;
  }
  for (Arrival& one : all) one.all = numbers;
  return all;
}

std::unique_ptr<HaloPuts> HaloPuts::make(const runtime::Context& context, transport::Transport& transport,
                                         const Use& use, const std::vector<HaloMessage>& sent,
                                         const std::vector<HaloMessage>& received, std::size_t number_bytes) {
  runtime::Communicator& ranks = context.ranks();
  if (use.wanted == "false" || ranks.size() == 1) return nullptr;
  // Threads of a process may share what runs their kernels, and a kernel that waits holds it.
  bool is_possible = ranks.kind() == "mpi" && (use.wanted == "true" || transport.has_own_devices());
  is_possible = ranks.all_reduce_min(is_possible && is_mutual(sent, received) ? 1 : 0) > 0;
  std::unique_ptr<HaloPuts> made;
  if (is_possible) {
    made.reset(new HaloPuts(context, use, received));
    made->memory_ = transport.allocate(std::max<std::size_t>(1, 2 * made->slot_ * number_bytes));
    made->flags_ = transport.allocate(std::max<std::size_t>(1, received.size()) * sizeof(std::uint32_t));
    const std::vector<std::byte> none(made->flags_->bytes());
    made->flags_->write(0, none);
    made->reached_ = transport.reach(*made->memory_);
    made->reached_flags_ = transport.reach(*made->flags_);
    is_possible = !made->reached_.empty() && !made->reached_flags_.empty();
  }
  if (is_possible) {
    made->set(context, use, sent, arrivals(received));
    return made;
  }
  if (use.wanted == "auto") return nullptr;
  throw bad_use(
      fmt::format("--one-sided true: kernels do not reach other ranks' memory over {} between {} ranks",
                  transport.name(), ranks.kind()),
      "use --one-sided auto, or processes and a transport that does, as nvlink");
}

HaloPuts::HaloPuts(const runtime::Context& context, const Use& use, const std::vector<HaloMessage>& received)
    : received_(received),
      ranks_(context.ranks()),
      late_(std::make_unique<device::Buffer>(zeros(context, 1))),
      take_(std::make_unique<device::Replications>(context.replications(1, use.take))) {
  for (const HaloMessage& message : received) slot_ += message.numbers;
}

std::size_t HaloPuts::place_of(const std::vector<Arrival>& theirs, int from, int tag) {
  const auto found =
      std::ranges::find_if(theirs, [&](const Arrival& one) { return one.from == from && one.tag == tag; });
  if (found == theirs.end()) throw std::logic_error("a halo that nobody expects");
  return static_cast<std::size_t>(found - theirs.begin());
}

void HaloPuts::set(const runtime::Context& context, const Use& use, const std::vector<HaloMessage>& sent,
                   const std::vector<Arrival>& own) {
  const std::vector<std::vector<std::byte>> all = ranks_.all_gather(std::as_bytes(std::span(own)));
  std::uint64_t first = 0;
  for (const HaloMessage& message : sent) {
    const auto rank = static_cast<std::size_t>(message.rank);
    std::vector<Arrival> theirs(all[rank].size() / sizeof(Arrival));
    std::memcpy(theirs.data(), all[rank].data(), all[rank].size());
    const std::size_t place = place_of(theirs, ranks_.rank(), message.tag);
    targets_.push_back({static_cast<std::int64_t>(theirs[place].first) - static_cast<std::int64_t>(first),
                        theirs[place].all});
    left_.push_back(zeros(context, 1));
    puts_.push_back(context.replications(1, use.put));
    puts_.back().set(0, {{"theirs", reached_[rank]},
                         {"flags", reached_flags_[rank]},
                         {"flag", place},
                         {"left", left_.back()}});
    first += message.numbers;
  }
  const bool is_cpu = context.device().info().device_class == device::DeviceClass::kCpu;
  const double looks = context.timeout_seconds() * (is_cpu ? kLooksOfCpu : kLooksOfGpu);
  take_->set(0, {{"packed", memory_->device()},
                 {"flags", flags_->device()},
                 {"messages", received_.size()},
                 {"late", *late_},
                 {"patience", static_cast<std::uint64_t>(looks)}});
}

void HaloPuts::start(const device::Queue& queue, const std::vector<device::Geometry>& geometries) {
  ++number_;
  for (std::size_t i = 0; i < puts_.size(); ++i) {
    const auto slot = static_cast<std::int64_t>(number_ % 2 * targets_[i].slot);
    puts_[i].set(0, {{"shift", static_cast<std::uint32_t>(targets_[i].shift + slot)}, {"number", number_}});
    puts_[i].start_on(queue, 0, geometries[i], nullptr, nullptr);
  }
}

void HaloPuts::finish(const device::Queue& queue, const device::Geometry& geometry) {
  take_->set(0, {{"shift", static_cast<std::uint32_t>(number_ % 2 * slot_)}, {"number", number_}});
  take_->start_on(queue, 0, geometry, nullptr, nullptr);
}

void HaloPuts::check(const device::Queue& queue) {
  std::uint32_t late = 0;
  late_->read(queue, &late, sizeof late);
  queue.finish();
  if (late == 0) return;
  const int peer = ranks_.in_world(received_.at(late - 1).rank);
  throw runtime::DeadlineError(fmt::format("no sign of a halo of rank {}", peer), peer);
}

}  // namespace fabricmark::common
