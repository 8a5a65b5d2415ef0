// b_eff over direct channels: send and receive kernels that exchange messages (Meyer 2024, section 4.1.1.2).
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/b_eff/executions.hpp"
#include "benchmarks/b_eff/kernels.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::b_eff {

namespace {

constexpr const char* kWrongWords = "wrong words";

/// Of a pair's first chunk. Multiplied by odd numbers and mixed, so that another sender, direction,
/// repetition or size has another one (the finalizer of MurmurHash3, which is a bijection).
std::uint32_t seed_of(int rank, std::size_t direction, std::uint32_t repetition, std::size_t bytes) {
  auto mixed = static_cast<std::uint32_t>(rank) * 0x9E3779B1U + static_cast<std::uint32_t>(direction);
  mixed = (mixed ^ repetition) * 0x85EBCA77U + static_cast<std::uint32_t>(bytes) * 0xC2B2AE3DU;
  mixed = (mixed ^ (mixed >> 16)) * 0x85EBCA6BU;
  mixed = (mixed ^ (mixed >> 13)) * 0xC2B2AE35U;
  return mixed ^ (mixed >> 16);
}

class ChannelBandwidth final : public Exchanges {
 public:
  explicit ChannelBandwidth(const runtime::Context& context)
      : Exchanges(context),
        word_bytes_(sizeof(std::uint32_t) * context.parameters().count("channel_width")),
        board_(context, network::ring(context.ranks().size(), kChannelsOfPair)),
        pairs_(make_channel_pairs(board_, context.parameters().integer("channel_width"))) {}

  void prepare(int /*repetition*/) override {
    ++prepared_;
    verdicts_ = new_verdicts(kWrongWords);
  }

  void execute(runtime::Laps& laps) override {
    for (const std::size_t bytes : sizes()) {
      const std::size_t count = messages(bytes, kMessagesOfKernels);
      const std::size_t at_once = kChannelsOfPair * word_bytes_;
      const std::size_t words = (bytes + at_once - 1) / at_once;
      const auto start = [&] {
        pairs_->start({seed(ranks().rank(), 0, bytes), seed(ranks().rank(), 1, bytes)},
                      static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(count));
      };
      board_.time(laps, lap_name(kExchange, bytes), start, count, board::Counted::kKernels);
      if (!computes()) continue;
      for (std::size_t pair = 0; pair < kDirections; ++pair) check(pair, bytes, words, count);
    }
  }

  /// Each word was compared when it came.
  std::vector<runtime::Verdict> validate() override { return {verdicts_.begin(), verdicts_.end()}; }

 private:
  [[nodiscard]] std::uint32_t seed(int rank, std::size_t direction, std::size_t bytes) const {
    return seed_of(rank, direction, prepared_, bytes);
  }

  /// What a pair received, which its neighbour's pair of the other direction sent. Messages go to and fro
  /// between the two: the first one has the chunk of the sender, the second that of the receiver.
  void check(std::size_t pair, std::size_t bytes, std::size_t words, std::size_t count) {
    const std::size_t direction = 1 - pair;
    const int sender = neighbour(pair);
    const bool is_of_sender = count % 2 == 1;
    const ChannelsReceived found = pairs_->received(
        pair, is_of_sender ? seed(sender, direction, bytes) : seed(ranks().rank(), pair, bytes));
    runtime::Verdict& verdict = verdicts_.at(direction);
    verdict.checked += kChannelsOfPair * words * count + 1;
    const std::uint32_t wrong = found.wrong_words + (found.is_chunk_right ? 0 : 1);
    if (wrong == 0) return;
    verdict.error += wrong;
    if (verdict.worst) return;
    const std::string of = fmt::format("of {} bytes from rank {}", bytes, sender);
    const std::string place =
        found.wrong_words == 0
            ? fmt::format("last chunk of {} messages {}", count, of)
            : fmt::format("word {} of message {} {}, the first wrong one", found.word, found.message, of);
    verdict.worst = {place, 0, static_cast<double>(wrong)};
  }

  std::size_t word_bytes_;
  board::Board board_;
  std::unique_ptr<ChannelPairs> pairs_;
  std::uint32_t prepared_ = 0;  ///< repetitions, the warm-up's too
  Verdicts verdicts_ = new_verdicts(kWrongWords);
};

}  // namespace

void check_fault_of_messages(const runtime::Context& context) {
  const std::optional<runtime::Fault>& fault = context.fault();
  if (!fault || (network::message_fault(*fault) && fault->target.empty())) return;
  throw bad_use(
      fmt::format("--inject-fault: no such fault is made over {}", context.parameters().text("transport")),
      "use lost, late, swapped, half, blank, flipped or dead, as in lost@1");
}

std::unique_ptr<runtime::Benchmark> make_channels(const runtime::Context& context) {
  check_fault_of_messages(context);
  return std::make_unique<ChannelBandwidth>(context);
}

}  // namespace fabricmark::b_eff
