// The dataflow kernels, for each type of element and width of a channel.
#include "benchmarks/ptrans/kernel_pair.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "kernels/ptrans/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source

namespace fabricmark::ptrans {

namespace {

template <typename Word, typename Way>
void send_words(fm::stream<Word>& stays, fm::stream<Way>& leaves, std::size_t staying, std::size_t leaving) {
  for (std::size_t i = 0; i < staying; ++i) stays.write(Word{});
  for (std::size_t i = 0; i < leaving; ++i) write_word(leaves, Word{});
}

template <typename Word, typename Way>
void receive_words(fm::stream<Word>& stays, fm::stream<Way>& arrives, std::size_t staying,
                   std::size_t arriving) {
  for (std::size_t i = 0; i < staying; ++i) stays.read();
  for (std::size_t i = 0; i < arriving; ++i) arrives.read();
}

template <typename T, int Width>
class TypedPair : public KernelPair {
  using Word = fm::words<T, Width>;

 public:
  explicit TypedPair(const PairSettings& settings)
      : settings_(settings),
        words_(settings.block_size * settings.block_size / Width / settings.coarse),
        local_(settings.computes ? kBlocks * settings.block_size * settings.block_size : 0) {}

  void open(board::Board& board, int port) override {
    link_.reset(new dataflow::Link<Word>(board.open<Word>(port, settings_.coarse * sizeof(Word))));
    out_ = &link_->out;
    in_ = &link_->in;
  }
  void connect(accl::Accl& engine, int number) override {
    if constexpr (sizeof(Word) == accl::kWordBytes) {
      engine_ = std::make_shared<Ends<fm::accl_data>>();
      engine.keep(engine_);
      engine.connect_from_kernel(number, engine_->out);
      engine.connect_to_kernel(number, engine_->in);
    } else {
      throw bad_use(
          fmt::format("words of {} bytes, and the engine's streams have {}", sizeof(Word), accl::kWordBytes),
          fmt::format("give --channel-width {}", accl::kWordBytes / sizeof(T)));
    }
  }
  device::Event start(dataflow::Host& host, const PairTasks& tasks, const PairMemory& memory,
                      const PairCost& cost) override {
    const dataflow::Start sends{.interval = cost.interval * static_cast<double>(settings_.coarse),
                                .memory_bytes = cost.memory_bytes,
                                .after = std::move(sender_)};
    const dataflow::Start receives{.memory_bytes = cost.memory_bytes, .after = std::move(receiver_)};
    const std::string sender = "transpose_and_send " + settings_.name;
    const std::string receiver = "receive_and_add " + settings_.name;
    const auto start_over = [&](auto& out, auto& in) {
      if (settings_.computes) {
        start_kernels(host, {sender, sends}, {receiver, receives}, tasks, memory, out, in);
      } else {
        start_timing(host, {sender, sends}, {receiver, receives}, tasks, out, in);
      }
    };
    if constexpr (sizeof(Word) == accl::kWordBytes) {
      if (engine_) {
        start_over(engine_->out, engine_->in);
        return receiver_.front();
      }
    }
    start_over(*out_, *in_);
    return receiver_.front();
  }

 private:
  struct Started {
    const std::string& name;
    const dataflow::Start& how;
  };
  template <typename Way>
  void start_timing(dataflow::Host& host, const Started& sender, const Started& receiver,
                    const PairTasks& tasks, fm::stream<Way>& out, fm::stream<Way>& in) {
    sender_ = {host.start(sender.name, sender.how, send_words<Word, Way>, stays_, out, tasks.staying * words_,
                          tasks.leaving() * words_)};
    receiver_ = {host.start(receiver.name, receiver.how, receive_words<Word, Way>, stays_, in,
                            tasks.staying * words_, tasks.arriving() * words_)};
  }
  template <typename Way>
  void start_kernels(dataflow::Host& host, const Started& sender, const Started& receiver,
                     const PairTasks& tasks, const PairMemory& memory, fm::stream<Way>& out,
                     fm::stream<Way>& in) {
    const auto number = [](std::size_t count) { return static_cast<unsigned>(count); };
    const auto* const a = reinterpret_cast<const Word*>(memory.a);
    const auto* const b = reinterpret_cast<const Word*>(memory.b);
    auto* const c = reinterpret_cast<Word*>(memory.c);
    const unsigned block_size = number(settings_.block_size);
    sender_ = {host.start(sender.name, sender.how, transpose_and_send<T, Width, Way>, a, tasks.sources.data(),
                          number(tasks.staying), number(tasks.leaving()), block_size, local_.data(), stays_,
                          out)};
    receiver_ = {host.start(receiver.name, receiver.how, receive_and_add<T, Width, Way>, stays_, in, b, c,
                            tasks.targets.data(), number(tasks.staying), number(tasks.arriving()),
                            block_size)};
  }

  static constexpr std::size_t kBlocks = 2;  // in local memory
  template <typename Way>
  struct Ends {
    fm::stream<Way> out{"to the engine"};
    fm::stream<Way> in{"from the engine"};
  };

  PairSettings settings_;
  std::size_t words_;  ///< of a block
  std::vector<T> local_;
  device::Events sender_, receiver_;  ///< last started
  fm::stream<Word> stays_{"on the device"};
  Ends<Word> nowhere_;                           ///< without words
  std::shared_ptr<Ends<fm::accl_data>> engine_;  ///< null over channels
  std::unique_ptr<dataflow::Link<Word>> link_;
  fm::stream<Word>* out_ = &nowhere_.out;
  fm::stream<Word>* in_ = &nowhere_.in;
};

template <typename T>
std::unique_ptr<KernelPair> make_of_type(const PairSettings& settings) {
  switch (settings.channel_width) {
    case 1:
      return std::make_unique<TypedPair<T, 1>>(settings);
    case 2:
      return std::make_unique<TypedPair<T, 2>>(settings);
    case 4:
      return std::make_unique<TypedPair<T, 4>>(settings);
    case 8:
      return std::make_unique<TypedPair<T, 8>>(settings);
    case 16:
      return std::make_unique<TypedPair<T, 16>>(settings);
    case 32:
      return std::make_unique<TypedPair<T, 32>>(settings);
    default:
      throw bad_use(fmt::format("channel_width = {}", settings.channel_width), "use 1, 2, 4, 8, 16 or 32");
  }
}

}  // namespace

struct EngineCalls::Streams {
  fm::stream<fm::accl_request> commands{"commands"};
  fm::stream<accl::Status> statuses{"statuses"};
  std::array<int, 2> failed{};  // the engine itself says what failed (accl::Accl)
};

EngineCalls::EngineCalls(accl::Accl& engine, collectives::Type type)
    : streams_(std::make_shared<Streams>()),
      use_(engine.use(type)),
      element_bytes_(collectives::bytes_of(type)) {
  engine.keep(streams_);
  engine.connect_logic(streams_->commands, streams_->statuses);
}

device::Event EngineCalls::put_words(dataflow::Host& host, const std::vector<unsigned long long>& elements,
                                     int peer) {
  return host.start("put_words", {}, ::put_words, streams_->commands, streams_->statuses, elements.data(),
                    static_cast<int>(elements.size()), peer, use_.communicator, use_.datapath,
                    use_.compression, streams_->failed.data());
}

device::Event EngineCalls::exchange(dataflow::Host& host, const std::vector<Numbers>& receives,
                                    const std::vector<Numbers>& sends, const Blocks& blocks) {
  const auto first = [](const std::vector<Numbers>& all) -> const int* {
    return all.empty() ? nullptr : all.front().data();
  };
  return host.start("exchange_blocks", {}, exchange_blocks, streams_->commands, streams_->statuses,
                    first(receives), static_cast<int>(receives.size()), first(sends),
                    static_cast<int>(sends.size()), static_cast<unsigned long long>(blocks.into),
                    static_cast<unsigned long long>(blocks.from), accl::count_of(blocks.elements),
                    static_cast<unsigned long long>(blocks.elements * element_bytes_), use_.communicator,
                    use_.datapath, use_.compression, streams_->failed.data());
}

std::unique_ptr<KernelPair> make_pair(const PairSettings& settings) {
  return settings.is_double ? make_of_type<double>(settings) : make_of_type<float>(settings);
}

}  // namespace fabricmark::ptrans
