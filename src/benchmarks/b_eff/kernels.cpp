#include "benchmarks/b_eff/kernels.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/b_eff/channel_pairs.hpp"
#include "kernels/b_eff/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source

namespace fabricmark::b_eff {

namespace {

namespace hls = ::b_eff_kernels;

template <int Bytes>
class BoardPairs final : public ChannelPairs {
 public:
  using Word = hls::word<Bytes>;

  explicit BoardPairs(const runtime::Context& context)
      : board_(context, network::ring(context.ranks().size(), kChannelsOfPair)),
        pairs_{Pair(board_, 0), Pair(board_, 1)} {}

  [[nodiscard]] std::size_t word_bytes() const override { return Bytes; }

  void time(runtime::TimedRegions& regions, const std::string& region,
            const ChannelMessages& messages) override {
    board_.time(
        regions, region, [&] { start(messages); }, messages.messages, board::Counted::kKernels);
  }

  [[nodiscard]] ChannelsReceived received(std::size_t number) override {
    const Pair& pair = pairs_.at(number);
    const std::span<const std::byte> last = std::as_bytes(std::span(pair.last));
    return {{last.begin(), last.end()}, pair.found[0], pair.found[1], pair.found[2]};
  }

 private:
  struct Pair {
    Pair(board::Board& board, int number)
        : even(board.open<Word>(kChannelsOfPair * number)),
          odd(board.open<Word>(kChannelsOfPair * number + 1)) {}
    dataflow::Link<Word> even;
    dataflow::Link<Word> odd;
    fm::stream<int> arrived{"arrived"};
    std::array<Word, kChannelsOfPair> last{};
    std::array<unsigned int, 3> found{};
  };

  void start(const ChannelMessages& messages) {
    for (std::size_t number = 0; number < kDirections; ++number) {
      Pair& pair = pairs_.at(number);
      pair.last = {};
      pair.found = {};
      board_.host().start("send_messages", {}, hls::send<Bytes>, pair.arrived, pair.even.out, pair.odd.out,
                          messages.sent.at(number), messages.words, messages.messages);
      board_.host().start("receive_messages", {}, hls::receive<Bytes>, pair.even.in, pair.odd.in,
                          pair.arrived, messages.received.at(number), messages.words, messages.messages,
                          pair.last.data(), pair.found.data());
    }
  }

  board::Board board_;
  std::array<Pair, kDirections> pairs_;
};

}  // namespace

std::unique_ptr<ChannelPairs> make_board_pairs(const runtime::Context& context) {
  const std::int64_t width = context.parameters().integer("channel_width");
  switch (width) {
    case 4:
      return std::make_unique<BoardPairs<16>>(context);
    case 8:
      return std::make_unique<BoardPairs<32>>(context);
    case 16:
      return std::make_unique<BoardPairs<64>>(context);
    default:
      throw bad_use(fmt::format("no kernel of b_eff has channels of {} elements", width),
                    "choose --channel-width 4, 8 or 16");
  }
}

// The engine.

struct EngineKernels::Streams {
  dataflow::stream<fm::accl_request> commands{"commands"};
  dataflow::stream<accl::Status> statuses{"statuses"};
  struct OfDirection {
    dataflow::stream<fm::accl_data> made{"made"};
    dataflow::stream<fm::accl_data> taken{"taken"};
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
  throw Error(ExitCode::kInvalidResult,
              fmt::format("{} calls of the engine have failed, the first with status {}: {}", failed_[0],
                          failed_[1], board_.engine().logic_failure()),
              "see accl_error in kernels/common/accl_words.hpp");
}

}  // namespace fabricmark::b_eff
