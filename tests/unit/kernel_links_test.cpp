// What every transport of kernels has to do, also one that is added later: carry what kernels send, in
// modelled time that is the same in each run, and make each fault of messages so that it shows.
#include <atomic>
#include <numeric>

#include "board/board.hpp"
#include "board_support.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::board {

namespace {

using runtime::Between;
using runtime::Communicator;
using runtime::Fault;
using test::mentions;
using test::message_of;

constexpr unsigned kMessages = 4;
constexpr unsigned kWords = 64;  // of all messages
constexpr int kBoards = 3;
constexpr std::array kFaults{Fault::Kind::kLost, Fault::Kind::kLate,  Fault::Kind::kSwapped,
                             Fault::Kind::kHalf, Fault::Kind::kBlank, Fault::Kind::kFlipped,
                             Fault::Kind::kDead};

/// Differs in each of its bytes from the words before and behind it.
std::uint32_t word_of(int sender, unsigned place) {
  return 0x01020304U * (place + 1) + 0x10101010U * static_cast<unsigned>(sender) + 1;
}

void send_words(dataflow::stream<std::uint32_t>& words, int sender) {
  for (unsigned place = 0; place < kWords; ++place) words.write(word_of(sender, place));
}

void take_words(dataflow::stream<std::uint32_t>& words, std::uint32_t* taken) {
  for (unsigned place = 0; place < kWords; ++place) taken[place] = words.read();
}

/// Kernels of a board that sends words to the next one of a ring, and takes those of the one before.
class Passing {
 public:
  explicit Passing(Communicator& ranks, const runtime::Context& context)
      : own_(ranks.rank()),
        next_((own_ + 1) % ranks.size()),
        before_((own_ + ranks.size() - 1) % ranks.size()),
        board_(context, network::ring(ranks.size())),
        is_direct_(runtime::transport_spec(context.parameters().text("transport")).between ==
                   Between::kStreams) {
    if (is_direct_) links_.emplace(board_);
  }

  /// Words that came, and are not those that were sent.
  std::size_t pass() {
    taken_.assign(kWords, 0);
    for (unsigned place = 0; place < kWords; ++place) sent_[place] = word_of(own_, place);
    board_.run([&] { is_direct_ ? over_links() : over_engine(); });
    std::size_t wrong = 0;
    for (unsigned place = 0; place < kWords; ++place)
      wrong += taken_[place] != word_of(before_, place) ? 1 : 0;
    return wrong;
  }
  /// Takes what comes, and sends nothing.
  void take_only() {
    board_.run([&] {
      if (is_direct_) {
        board_.host().start("take_words", {}, take_words, links_->before.in, taken_.data());
      } else {
        board_.engine().recv(part(taken_, 0), before_).wait();
      }
    });
  }

 private:
  struct Links {
    explicit Links(Board& board) : next(board.open<std::uint32_t>(0)), before(board.open<std::uint32_t>(1)) {}
    dataflow::Link<std::uint32_t> next, before;
  };

  void over_links() {
    board_.host().start("send_words", {}, send_words, links_->next.out, own_);
    board_.host().start("take_words", {}, take_words, links_->before.in, taken_.data());
  }
  void over_engine() {
    std::vector<accl::Request> calls;
    for (unsigned message = 0; message < kMessages; ++message) {
      calls.push_back(board_.engine().send(part(sent_, message), next_, static_cast<int>(message)));
      calls.push_back(board_.engine().recv(part(taken_, message), before_, static_cast<int>(message)));
    }
    for (accl::Request& call : calls) call.wait();
  }
  static collectives::View part(std::vector<std::uint32_t>& words, unsigned message) {
    const collectives::View all{reinterpret_cast<std::byte*>(words.data()), words.size(),
                                collectives::Type::kInt32};
    return all.part(message * kWords / kMessages, kWords / kMessages);
  }

  int own_, next_, before_;
  std::vector<std::uint32_t> sent_ = std::vector<std::uint32_t>(kWords);
  std::vector<std::uint32_t> taken_ = std::vector<std::uint32_t>(kWords);
  Board board_;
  bool is_direct_;
  std::optional<Links> links_;
};

class KernelLinksOver : public testing::TestWithParam<std::string> {
 protected:
  template <typename Body>
  void each(int boards, Body&& body, const std::optional<Fault>& fault = std::nullopt) {
    runtime::run_in_process(boards, [&](Communicator& ranks) {
      test::BoardRank rank(ranks, file_, {{"transport", GetParam()}}, fault);
      Passing passing(ranks, *rank.context);
      body(ranks.rank(), passing, rank);
      return 0;
    });
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("system.json", test::system_with_boards());
};

TEST_P(KernelLinksOver, WordsArriveInTheSameTimeInEachRun) {
  for (const int boards : {2, kBoards, 4}) {
    std::vector<double> first(boards);
    for (int run = 0; run < 2; ++run) {
      each(boards, [&](int own, Passing& passing, test::BoardRank& rank) {
        for (int part = 0; part < 3; ++part) EXPECT_EQ(passing.pass(), 0U);
        EXPECT_GT(rank.seconds(), 0);
        if (run == 0) first[own] = rank.seconds();
        EXPECT_EQ(rank.seconds(), first[own]) << boards << " boards";
      });
    }
  }
}

TEST_P(KernelLinksOver, EachFaultOfMessagesShows) {
  for (const Fault::Kind kind : kFaults) {
    std::atomic<std::size_t> wrong = 0;
    std::atomic<int> ended = 0;
    const auto pass = [&](int /*own*/, Passing& passing, test::BoardRank& /*rank*/) {
      try {
        wrong += passing.pass();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::kInvalidResult) << error.what();
        ++ended;
      }
    };
    each(kBoards, pass, Fault{.kind = kind, .rank = 1});
    const bool ends = kind == Fault::Kind::kLost || kind == Fault::Kind::kDead;  // somebody waits for it
    EXPECT_TRUE(ends ? ended > 0 : wrong > 0) << "fault " << static_cast<int>(kind);
    EXPECT_TRUE(ended == 0 || ended == kBoards) << "all or none: fault " << static_cast<int>(kind);
  }
}

TEST_P(KernelLinksOver, AFaultOfOnePartIsOfNoOther) {
  std::array<int, kBoards> repetition{};
  runtime::run_in_process(kBoards, [&](Communicator& ranks) {
    test::BoardRank rank(ranks, file_, {{"transport", GetParam()}},
                         Fault{.kind = Fault::Kind::kFlipped, .rank = 0, .repetition = 1});
    int& part = repetition.at(ranks.rank());
    rank.conditions.repetition = &part;
    rank.context.emplace(rank.device, rank.parameters, *rank.simulated, rank.timeline, nullptr, rank.variant,
                         rank.conditions);
    Passing passing(ranks, *rank.context);
    for (part = 0; part < 3; ++part)
      EXPECT_EQ(passing.pass() > 0, part == 1 && ranks.rank() == 1) << "part " << part;
    return 0;
  });
}

TEST_P(KernelLinksOver, WhoWaitsInVainIsNamed) {
  each(2, [&](int own, Passing& passing, test::BoardRank& /*rank*/) {
    const std::string message = message_of(
        [&] {
          if (own == 0) return passing.take_only();
          passing.pass();
        },
        ExitCode::kInvalidResult);
    EXPECT_TRUE(mentions(message, "device 1") || mentions(message, "rank 1 ")) << message;
  });
}

INSTANTIATE_TEST_SUITE_P(EachTransport, KernelLinksOver, testing::ValuesIn(test::transports_of_kernels()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace

}  // namespace fabricmark::board
