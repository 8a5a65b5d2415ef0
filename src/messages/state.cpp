#include "messages/state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "device/opencl/adopted.hpp"
#include "transport/cached_protocols.hpp"

namespace fabricmark::messages {

namespace {

constexpr int kTags = 1 << 14;  // of users, above those of collectives
constexpr int kOwnTag = kTags - 1;

/// A core that asks again and again would be missed by a device that works on the same ones.
transport::Waiting waiting_beside(const device::DeviceInfo& info) {
  return info.is_in_host_memory() ? transport::Waiting::kYield : transport::Waiting::kSpin;
}

transport::HostTransport::Use use_of(const device::DeviceInfo& info, const Options& options) {
  return {.timeout_seconds = options.timeout_seconds, .waiting = waiting_beside(info)};
}

runtime::Communicator& with_timeout(runtime::Communicator& ranks, double seconds) {
  ranks.set_timeout(seconds);
  return ranks;
}

/// Adopted elements, for as long as they are needed.
class Adopted {
 public:
  Adopted(collectives::TransportCaller& caller, const transport::Region& region, collectives::Type type)
      : caller_(caller), view_(caller.adopt(region, type)) {}
  ~Adopted() { caller_.release(view_); }
  Adopted(const Adopted&) = delete;
  Adopted& operator=(const Adopted&) = delete;
  [[nodiscard]] const collectives::View& view() const { return view_; }
  /// Elements from that byte of the buffer on.
  [[nodiscard]] collectives::View at(std::size_t offset, std::size_t bytes) const {
    return {view_.data + offset, bytes / collectives::bytes_of(view_.type), view_.type};
  }

 private:
  collectives::TransportCaller& caller_;
  collectives::View view_;
};

/// Both regions of one buffer: of the smaller one all, or nothing, lies in the other, as one of its parts.
void check_places(const Region& one, const Region& other) {
  const std::size_t begin = std::max(one.offset, other.offset);
  const std::size_t end = std::min(one.offset + one.bytes, other.offset + other.bytes);
  if (begin >= end) return;
  const std::size_t smaller = std::min(one.bytes, other.bytes);
  const std::size_t apart = std::max(one.offset, other.offset) - std::min(one.offset, other.offset);
  if (end - begin == smaller && apart % smaller == 0) return;
  throw bad_use("operands of a collective operation overlap",
                "give other memory, or the same region, or a whole part of the larger one");
}

}  // namespace

Endpoint::State::State(Ranks ranks, cl_context context, cl_device_id device, const Options& options)
    : ranks_(std::move(ranks)),
      context_(context),
      device_(device::opencl::adopted(context, device)),
      transport_(with_timeout(*ranks_.communicator_, options.timeout_seconds), device_,
                 use_of(device_.info(), options)),
      queue_(device_.untimed_queue()),
      protocols_(options.measured_bytes == 0
                     ? std::string()
                     : transport::settle_protocols(transport_, device_.info(), options.measured_bytes,
                                                   transport::Pattern::kExchange)
                           .said),
      caller_(transport_, &device_) {}

transport::Region Endpoint::State::region(const Region& asked,
                                          std::deque<transport::Memory>& memories) const {
  device::Buffer buffer = device::opencl::adopted(device_, context_, asked.memory);
  if (asked.offset > buffer.bytes() || asked.bytes > buffer.bytes() - asked.offset) {
    throw bad_use(fmt::format("{} bytes from byte {} on are not in a buffer of {} bytes", asked.bytes,
                              asked.offset, buffer.bytes()),
                  "give a region inside of its buffer");
  }
  transport::Memory& memory = memories.emplace_back(std::move(buffer), queue_);
  return {&memory, asked.offset, asked.bytes};
}

transport::Message Endpoint::State::message(const Region& asked, int peer, int tag,
                                            std::deque<transport::Memory>& memories) const {
  if (peer < 0 || peer >= ranks().size()) {
    throw bad_use(fmt::format("there is no rank {}", peer),
                  fmt::format("give one from 0 to {}", ranks().size() - 1));
  }
  if (tag < 0 || tag >= kTags) {
    throw bad_use(fmt::format("{} is no tag", tag), fmt::format("give one from 0 to {}", kTags - 1));
  }
  return {region(asked, memories), peer, kTags + tag};
}

transport::Message Endpoint::State::own_message(const Region& asked, int peer,
                                                std::deque<transport::Memory>& memories) const {
  return {region(asked, memories), peer, kOwnTag};
}

void Endpoint::State::run(collectives::Call call, const Operands& operands, collectives::Type type) {
  const auto& [own, result] = operands;
  std::deque<transport::Memory> memories;
  std::deque<Adopted> adopted;
  call.own = {nullptr, 0, type};
  call.result = call.own;
  if (own.memory != nullptr && own.memory == result.memory) {
    check_places(own, result);
    const std::size_t begin = std::min(own.offset, result.offset);
    const std::size_t end = std::max(own.offset + own.bytes, result.offset + result.bytes);
    const Adopted& both =
        adopted.emplace_back(caller_, region({own.memory, begin, end - begin}, memories), type);
    call.own = both.at(own.offset - begin, own.bytes);
    call.result = both.at(result.offset - begin, result.bytes);
  } else {
    if (own.memory != nullptr) {
      call.own = adopted.emplace_back(caller_, region(own, memories), type).view();
    }
    if (result.memory != nullptr) {
      call.result = adopted.emplace_back(caller_, region(result, memories), type).view();
    }
  }
  caller_.run(call);
}

Request::State::~State() {
  try {
    event.cancel();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
}

}  // namespace fabricmark::messages
