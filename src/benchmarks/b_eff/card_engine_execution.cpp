// b_eff between cards whose bitstream has ACCL's engine beside the kernels of kernels/b_eff/dataflow.cpp, as
// `fabricmark build b_eff --variant dataflow --transport accl-udp` links them (build/rules/accl.toml): a
// kernel calls the engine, buffered or streaming. Never run on a card.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/b_eff/executions.hpp"
#include "benchmarks/b_eff/kernels.hpp"
#include "board/accl_driver/card_engine.hpp"
#include "board/accl_driver/card_unit.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr std::size_t kCardElementBytes = 4;  // as between emulated engines
constexpr std::size_t kCardWordBytes = sizeof(EngineWord);

using accl::CardUnit;

std::uint32_t card_number(std::size_t count) { return static_cast<std::uint32_t>(count); }
std::size_t card_words_of(std::size_t bytes) { return (bytes + kCardWordBytes - 1) / kCardWordBytes; }

class CardEngineBandwidth final : public Exchanges {
 public:
  explicit CardEngineBandwidth(const runtime::Context& context)
      : Exchanges(context),
        is_streaming_(context.parameters().text("mode") == "streaming"),
        engine_(context),
        use_(engine_.use(collectives::Type::kInt32)),
        control_(context, "call_engine", "control", /*failed=*/9),
        joiner_(context, "join_words", "joiner"),
        router_(context, "route_words", "router"),
        make_{CardUnit(context, "make_words", "make_0"), CardUnit(context, "make_words", "make_1")},
        take_{CardUnit(context, "take_words", "take_0"), CardUnit(context, "take_words", "take_1")} {
    require_target({});
    const std::size_t room = card_words_of(std::max(kRoomBytes, sizes().back())) * kCardWordBytes;
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      sent_.push_back(make_.at(direction).buffer(0, room));
      received_.push_back(take_.at(direction).buffer(1, room));
    }
  }

  void execute(runtime::TimedRegions& regions) override {
    for (const std::size_t bytes : sizes()) {
      begin(bytes);
      regions.time(
          region_name(kExchange, bytes), [this] { run(); }, count_);
      control_.require_no_failure();
      for (std::size_t direction = 0; direction < kDirections; ++direction) check(direction);
    }
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    return {
        "ACCL's engine on a card: kernels are started once for all messages in a row, which the times "
        "include",
        "the steps of an exchange are not timed one by one"};
  }

 private:
  /// Messages of this size: makes what is sent, poisons what is received, and sets all arguments.
  void begin(std::size_t bytes) {
    bytes_ = bytes;
    words_ = card_words_of(bytes);
    count_ = messages(words_ * kCardWordBytes, kMessagesOfKernels);
    content_.assign(count_ * words_ * kCardWordBytes, kPoison);
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      control_.write(received_.at(direction), content_.data(), content_.size());
      std::vector<std::byte> made(content_.size());
      for (std::size_t place = 0; place < count_; ++place)
        fill(message(made, place), content(ranks().rank(), direction, bytes, false, place));
      control_.write(sent_.at(direction), made.data(), made.size());
      set_words(make_.at(direction), sent_.at(direction), 0, {1, 2, 3});
      set_words(take_.at(direction), received_.at(direction), 1, {2, 3, 4});
    }
    joiner_.set(2, card_number(words_)), joiner_.set(3, card_number(count_));
    router_.set(1, card_number(kDirections * words_ * count_));
    set_calls();
  }

  /// The arguments for words, stride and messages have these numbers.
  void set_words(const CardUnit& unit, const device::Buffer& buffer, unsigned memory,
                 const std::array<unsigned, 3>& numbers) const {
    unit.set(memory, buffer);
    unit.set(numbers[0], card_number(words_)), unit.set(numbers[1], card_number(words_));
    unit.set(numbers[2], card_number(count_));
  }

  void set_calls() {
    std::vector<accl::Command> calls;
    for (std::size_t place = 0; place < count_; ++place) add_calls(place, calls);
    calls_ = std::make_unique<device::Buffer>(control_.buffer(0, calls));
    control_.set(0, *calls_);
    control_.set(1, card_number(calls.size() / count_));
    control_.set(2, card_number(count_));
    control_.set(3, is_streaming_ ? 1U : 0U);
    control_.set(4, is_streaming_ ? 1U : 0U);
  }

  /// Those of one message in each direction: from kernels to kernels, or both receives and then both sends.
  void add_calls(std::size_t place, std::vector<accl::Command>& calls) const {
    const auto elements = static_cast<unsigned>((bytes_ + kCardElementBytes - 1) / kCardElementBytes);
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      const auto stream = static_cast<unsigned>(direction);
      if (is_streaming_) {
        calls.push_back(
            fm::accl_stream_put(use_, fm::accl_stream(0), elements, neighbour(direction), stream));
        continue;
      }
      calls.push_back(fm::accl_recv(use_, operand(received_.at(direction), place), elements,
                                    neighbour(1 - direction), stream));
    }
    for (std::size_t direction = 0; direction < kDirections && !is_streaming_; ++direction) {
      calls.push_back(fm::accl_send(use_, operand(sent_.at(direction), place), elements, neighbour(direction),
                                    static_cast<unsigned>(direction)));
    }
  }

  [[nodiscard]] fm::accl_operand operand(const device::Buffer& buffer, std::size_t place) const {
    return fm::accl_memory(accl::address_of(buffer) + place * words_ * kCardWordBytes);
  }

  void run() const {
    if (is_streaming_) {
      accl::run({&take_[0], &take_[1], &router_, &joiner_, &make_[0], &make_[1], &control_});
    } else {
      accl::run({&control_});
    }
  }

  void check(std::size_t direction) {
    control_.read(received_.at(direction), content_.data(), content_.size());
    if (direction == 0 && corrupts(bytes_)) corrupt(message(content_, 0));
    for (std::size_t place = 0; place < count_; ++place) {
      const Content made = content(neighbour(1 - direction), direction, bytes_, false, place);
      check_message({message(content_, place), made}, "", verdict(direction));
    }
  }

  /// As it travels, in whole elements.
  [[nodiscard]] std::span<std::byte> message(std::vector<std::byte>& all, std::size_t place) const {
    const std::size_t bytes = (bytes_ + kCardElementBytes - 1) / kCardElementBytes * kCardElementBytes;
    return std::span(all).subspan(place * words_ * kCardWordBytes, bytes);
  }

  bool is_streaming_;
  accl::CardEngine engine_;
  fm::accl_use use_;
  accl::CardCaller control_;
  CardUnit joiner_, router_;
  std::array<CardUnit, kDirections> make_, take_;
  std::vector<device::Buffer> sent_, received_;  // [direction]
  std::unique_ptr<device::Buffer> calls_;

  // Of the part in progress.
  std::size_t bytes_ = 0;
  std::size_t words_ = 0;  ///< of a message
  std::size_t count_ = 0;
  std::vector<std::byte> content_;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_card_engine(const runtime::Context& context) {
  return std::make_unique<CardEngineBandwidth>(context);
}

}  // namespace fabricmark::b_eff
