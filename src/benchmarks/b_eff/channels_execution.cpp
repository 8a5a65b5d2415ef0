// b_eff over channels: send and receive kernels that exchange messages (Meyer 2024, section 4.1.1.2).
#include "benchmarks/b_eff/channel_pairs.hpp"
#include "benchmarks/b_eff/executions.hpp"

namespace fabricmark::b_eff {

namespace {

class ChannelBandwidth final : public Exchanges {
 public:
  ChannelBandwidth(const runtime::Context& context, std::unique_ptr<ChannelPairs> pairs)
      : Exchanges(context), pairs_(std::move(pairs)) {
    require_target({});
  }

  void execute(runtime::TimedRegions& regions) override {
    for (const std::size_t bytes : sizes()) {
      const ChannelMessages messages = of_size(bytes);
      pairs_->time(regions, region_name(kExchange, bytes), messages);
      for (std::size_t pair = 0; pair < kDirections && computes(); ++pair) check(pair, bytes, messages);
    }
  }

  [[nodiscard]] std::vector<std::string> notes() const override { return pairs_->notes(); }

 private:
  [[nodiscard]] ChannelMessages of_size(std::size_t bytes) const {
    const std::size_t at_once = kChannelsOfPair * pairs_->word_bytes();
    ChannelMessages of;
    of.words = static_cast<std::uint32_t>((bytes + at_once - 1) / at_once);
    of.messages = static_cast<std::uint32_t>(messages(bytes, kMessagesOfKernels));
    for (std::size_t pair = 0; pair < kDirections; ++pair) {
      of.sent.at(pair) = content(ranks().rank(), pair, bytes).first();
      of.received.at(pair) = content(neighbour(pair), 1 - pair, bytes).first();
    }
    return of;
  }

  /// What a pair received, which its neighbour's pair of the other direction sent: all words as its kernel
  /// found them, and the last ones once more.
  void check(std::size_t pair, std::size_t bytes, const ChannelMessages& messages) {
    const std::size_t direction = 1 - pair;
    const std::size_t at_once = kChannelsOfPair * pairs_->word_bytes();
    Content content = this->content(neighbour(pair), direction, bytes, false, messages.messages - 1);
    ChannelsReceived found = pairs_->received(pair);
    if (direction == 0 && corrupts(bytes)) corrupt(found.last);
    runtime::Verdict& verdict = this->verdict(direction);
    verdict.checked += messages.words * at_once * messages.messages;
    if (found.wrong > 0) {
      content.place = found.message;
      verdict.error += found.wrong;
      if (!verdict.worst)
        verdict.worst = {place_of(content, found.byte), 0, static_cast<double>(found.wrong)};
      return;  // the last words are among them
    }
    check_message({found.last, content, (messages.words - 1) * at_once}, "", verdict);
  }

  std::unique_ptr<ChannelPairs> pairs_;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_channels(const runtime::Context& context) {
  return std::make_unique<ChannelBandwidth>(context, make_board_pairs(context));
}

std::unique_ptr<runtime::Benchmark> make_external_channels(const runtime::Context& context) {
  return std::make_unique<ChannelBandwidth>(context, make_device_pairs(context));
}

}  // namespace fabricmark::b_eff
