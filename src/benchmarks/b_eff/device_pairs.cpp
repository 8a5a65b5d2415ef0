// Pairs of kernels over Intel's external channels, which send and receive all messages of a timed region
// without the host (kernels/b_eff/channels.cl).
#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "benchmarks/b_eff/channel_pairs.hpp"
#include "benchmarks/common/channels.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::size_t kChannelElementBytes = 4;  // of channel_width

class DevicePairs final : public ChannelPairs {
 public:
  explicit DevicePairs(const runtime::Context& context)
      : info_(context.device().info()),
        word_bytes_(kChannelElementBytes * context.parameters().count("channel_width")),
        send_(context.replications(kDirections, 0)),
        receive_(context.replications(kDirections, 1)),
        received_(context.buffers(1, "received")),
        found_(context.buffers(1, "found")) {
    common::require_cables(context);
    if (network::message_fault(context.fault()))
      throw bad_use(
          "--inject-fault names a fault of messages, which nothing makes between kernels of devices",
          "use element, scale, zeros or stale");
  }

  [[nodiscard]] std::size_t word_bytes() const override { return word_bytes_; }

  void time(runtime::TimedRegions& regions, const std::string& region,
            const ChannelMessages& messages) override {
    for (std::size_t pair = 0; pair < kDirections; ++pair) set_arguments(pair, messages);
    regions.time(
        region, [&] { run(region); }, messages.messages);
  }

  [[nodiscard]] ChannelsReceived received(std::size_t pair) override {
    const device::Queue& queue = receive_.queue(static_cast<int>(pair));
    ChannelsReceived received{std::vector<std::byte>(kChannelsOfPair * word_bytes_)};
    std::array<std::uint32_t, 3> found{};
    received_[pair].read(queue, received.last.data(), received.last.size());
    found_[pair].read(queue, found.data(), sizeof(found));
    queue.finish();
    received.wrong = found[0];
    received.message = found[1];
    received.byte = found[2];
    return received;
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"the kernels are started once for all messages in a row, which the times include"};
  }

 private:
  void set_arguments(std::size_t pair, const ChannelMessages& messages) {
    const int replica = static_cast<int>(pair);
    send_.set(
        replica,
        {{"first", messages.sent.at(pair)}, {"chunks", messages.words}, {"messages", messages.messages}});
    receive_.set(replica, {{"received", received_[pair]},
                           {"found", found_[pair]},
                           {"first", messages.received.at(pair)},
                           {"chunks", messages.words},
                           {"messages", messages.messages}});
    for (std::vector<device::Buffer>* const buffers : {&received_, &found_})
      (*buffers)[pair].fill(receive_.queue(replica), kPoison);
    receive_.queue(replica).finish();
  }

  void run(const std::string& region) {
    std::vector<device::GroupMember> members;
    for (int pair = 0; pair < send_.count(); ++pair) {
      members.push_back({&receive_, pair});
      members.push_back({&send_, pair});
    }
    for (const device::Event& end : device::start_group(info_, region, members)) end.wait();
  }

  const device::DeviceInfo& info_;
  std::size_t word_bytes_;
  device::Replications send_, receive_;
  std::vector<device::Buffer> received_, found_;  // [pair]
};

}  // namespace

std::unique_ptr<ChannelPairs> make_device_pairs(const runtime::Context& context) {
  return std::make_unique<DevicePairs>(context);
}

}  // namespace fabricmark::b_eff
