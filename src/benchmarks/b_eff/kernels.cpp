#include "benchmarks/b_eff/kernels.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "kernels/b_eff/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source

namespace fabricmark::b_eff {

namespace {

namespace hls = ::b_eff_kernels;

template <int Width>
class Pairs final : public ChannelPairs {
 public:
  using Word = hls::word<Width>;

  explicit Pairs(board::Board& board) : board_(board), pairs_{Pair(board, 0), Pair(board, 1)} {}

  void start(const std::array<std::uint32_t, kDirections>& seeds, std::uint32_t words,
             std::uint32_t messages) override {
    messages_ = messages;
    dataflow::Host& host = board_.host();
    for (std::size_t number = 0; number < kDirections; ++number) {
      Pair& pair = pairs_.at(number);
      pair.chunk = {};
      pair.found = {};
      host.start("send_messages", {}, hls::send<Width>, pair.forwarded, pair.even.out, pair.odd.out,
                 seeds.at(number), words, messages);
      host.start("receive_messages", {}, hls::receive<Width>, pair.even.in, pair.odd.in, pair.forwarded,
                 words, messages, &pair.chunk, pair.found.data());
    }
  }

  [[nodiscard]] ChannelsReceived received(std::size_t number, std::uint32_t seed) const override {
    const Pair& pair = pairs_.at(number);
    Word expected = pair.chunk;  // its first lanes were looked at when it came
    for (int lane = hls::first_lane; lane < Width; ++lane) expected.value[lane] = hls::lane_of(seed, lane);
    const bool is_right = std::ranges::equal(expected.value, pair.chunk.value);
    return {pair.found[0], pair.found[1], pair.found[2], is_right};
  }

 private:
  struct Pair {
    Pair(board::Board& board, int number)
        : even(board.open<Word>(kChannelsOfPair * number)),
          odd(board.open<Word>(kChannelsOfPair * number + 1)) {}
    dataflow::Link<Word> even;
    dataflow::Link<Word> odd;
    fm::stream<Word> forwarded{"forwarded"};
    Word chunk{};
    std::array<unsigned int, 3> found{};
  };

  board::Board& board_;
  std::array<Pair, kDirections> pairs_;
  std::uint32_t messages_ = 0;
};

}  // namespace

std::unique_ptr<ChannelPairs> make_channel_pairs(board::Board& board, std::int64_t width) {
  switch (width) {
    case 4:
      return std::make_unique<Pairs<4>>(board);
    case 8:
      return std::make_unique<Pairs<8>>(board);
    case 16:
      return std::make_unique<Pairs<16>>(board);
    default:
      throw bad_use(fmt::format("no kernel of b_eff has channels of {} elements", width),
                    "choose --channel-width 4, 8 or 16");
  }
}

// The engine.

struct EngineKernels::Streams {
  dataflow::stream<accl::Command> commands{"commands"};
  dataflow::stream<accl::Status> statuses{"statuses"};
  struct OfDirection {
    dataflow::stream<EngineWord> made{"made"};
    dataflow::stream<EngineWord> taken{"taken"};
    dataflow::stream<int> arrived{"arrived"};
  };
  std::array<OfDirection, kDirections> of{};
};

EngineKernels::EngineKernels(board::Board& board) : board_(board), streams_(std::make_shared<Streams>()) {
  accl::Accl& engine = board.engine();
  engine.keep(streams_);
  engine.connect_logic(streams_->commands, streams_->statuses);
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    Streams::OfDirection& own = streams_->of.at(direction);
    engine.connect_from_kernel(static_cast<int>(direction), own.made);
    engine.connect_to_kernel(static_cast<int>(direction), own.taken);
  }
}

void EngineKernels::call(std::vector<accl::Command> calls, unsigned int rounds,
                         const std::array<bool, kDirections>& awaits) {
  calls_ = std::move(calls);
  failed_ = {};
  const auto in_round = static_cast<unsigned int>(calls_.size() / rounds);
  auto& [from_left, from_right] = streams_->of;  // by the direction in which they go
  board_.host().start("call_engine", {}, call_engine, calls_.data(), in_round, rounds,
                      static_cast<unsigned int>(awaits[0]), static_cast<unsigned int>(awaits[1]),
                      streams_->commands, streams_->statuses, from_left.arrived, from_right.arrived,
                      failed_.data());
}

void EngineKernels::make(std::size_t direction, const MessagesAt& messages) {
  board_.host().start("make_words", {}, make_words, messages.first, messages.words, messages.stride,
                      messages.count, streams_->of.at(direction).made);
}

device::Event EngineKernels::take(std::size_t direction, const MessagesAt& messages) {
  Streams::OfDirection& own = streams_->of.at(direction);
  return board_.host().start("take_words", {}, take_words, own.taken, messages.first, messages.words,
                             messages.stride, messages.count, own.arrived);
}

void EngineKernels::check_calls() const {
  if (failed_[0] == 0) return;
  throw Error(
      ExitCode::kInvalidResult,
      fmt::format("{} calls of the engine have failed, the first with code {}", failed_[0], failed_[1]),
      "see the codes in kernels/common/accl.hpp");
}

}  // namespace fabricmark::b_eff
