// b_eff by an engine of messages beside each board: buffered or streaming, called by the host or by a kernel
// (Meyer 2024, sections 5.1.1 and 5.1.4).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/b_eff/executions.hpp"
#include "benchmarks/b_eff/kernels.hpp"
#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::b_eff {

namespace {

using collectives::View;

// The engine's elements: a message of 1 or 2 bytes travels as one of 4.
constexpr collectives::Type kType = collectives::Type::kInt32;
constexpr std::size_t kElementBytes = 4;

// Steps of an exchange (Meyer 2024, section 5.1.4, Figs. 5.4 to 5.6).
constexpr const char* kCall = "call";        // nothing but l_k
constexpr const char* kCopy = "copy";        // a call that copies within the memory: l_k + l_m
constexpr const char* kMessage = "message";  // from memory into a stream of the right neighbour: l_k + l_c

std::size_t up_to(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

class EngineBandwidth final : public Exchanges {
 public:
  explicit EngineBandwidth(const runtime::Context& context)
      : Exchanges(context),
        has_steps_(context.parameters().flag("sub_steps")),
        board_(context, network::Topology::circuits("none", ranks().size(), {})),
        kernels_(board_) {
    check_way_to_itself();
    require_target({});
    take_memory();
  }

  void execute(runtime::TimedRegions& regions) override {
    for (const std::size_t bytes : sizes()) {
      begin(bytes, /*are_of_steps=*/false);
      time(regions, kExchange,
           [this](std::size_t place) { return board_.is_streaming() ? streamed(place) : buffered(place); });
      if (computes()) {
        if (corrupts(bytes)) corrupt(message(received_[0], 0));
        for (std::size_t direction = 0; direction < kDirections; ++direction)
          check(received_.at(direction), neighbour(1 - direction), direction, "", verdict(direction));
      }
      if (has_steps_) time_steps(regions, bytes);
    }
  }

 protected:
  [[nodiscard]] std::vector<std::string> steps() const override {
    if (!has_steps_) return {};
    return {kCall, kCopy, kMessage};
  }

 private:
  struct Memory {
    std::span<EngineWord> words{};
    std::uint64_t address = 0;  ///< for commands

    [[nodiscard]] std::span<std::byte> bytes() const { return std::as_writable_bytes(words); }
    [[nodiscard]] View all() const { return {bytes().data(), bytes().size() / kElementBytes, kType}; }
  };

  /// One for what is sent and one for what is received in each direction; one for all where nobody looks.
  void take_memory() {
    const std::size_t room =
        up_to(std::max(kRoomBytes, sizes().back()), sizeof(EngineWord)) / sizeof(EngineWord);
    memory_.resize(computes() ? 2 * kDirections * room : room);
    std::size_t first = 0;
    for (std::array<Memory, kDirections>* const memories : {&sent_, &received_}) {
      for (Memory& memory : *memories) {
        memory.words = std::span(memory_).subspan(first, room);
        memory.address = board_.engine().address_of(memory.all());
        if (computes()) first += room;
      }
    }
  }

  /// One message, or one in each direction: the calls, group by group, and in which directions kernels make
  /// its words and take them.
  struct Round {
    std::vector<std::vector<accl::Command>> groups{};
    std::array<bool, kDirections> makes{};
    std::array<bool, kDirections> takes{};
  };
  using Rounds = std::function<Round(std::size_t place)>;

  void check_way_to_itself() const {
    const network::Topology& topology = board_.topology();
    if (ranks().size() > 1 || !topology.route(0, 0).empty()) return;
    throw bad_use(fmt::format("one rank has no cable to itself in {}", topology.name()),
                  "start two or more, or give it a loop with --topology ring");
  }

  /// Messages of this size: makes what is sent, and poisons what is received.
  void begin(std::size_t bytes, bool are_of_steps) {
    bytes_ = bytes;
    are_of_steps_ = are_of_steps;
    elements_ = up_to(bytes, kElementBytes) / kElementBytes;
    stride_ = up_to(bytes, sizeof(EngineWord));
    count_ = messages(stride_, kMessagesOfKernels);
    if (!computes()) stride_ = 0;  // all in one place: nobody looks
    for (std::size_t direction = 0; direction < kDirections && computes(); ++direction) {
      for (std::size_t place = 0; place < count_; ++place)
        fill(message(sent_.at(direction), place), content_of(ranks().rank(), direction, place));
      std::ranges::fill(received_.at(direction).bytes().first(count_ * stride_), kPoison);
    }
  }

  [[nodiscard]] Content content_of(int sender, std::size_t direction, std::size_t place) const {
    return content(sender, direction, bytes_, are_of_steps_, place);
  }
  /// As it travels.
  [[nodiscard]] std::span<std::byte> message(const Memory& memory, std::size_t place) const {
    return memory.bytes().subspan(place * stride_, elements_ * kElementBytes);
  }
  [[nodiscard]] fm::accl_operand operand(const Memory& memory, std::size_t place) const {
    return fm::accl_memory(memory.address + place * stride_);
  }
  [[nodiscard]] MessagesAt messages_at(const Memory& memory, std::size_t place, std::size_t count) const {
    const std::size_t words = up_to(bytes_, sizeof(EngineWord)) / sizeof(EngineWord);
    const std::size_t stride = stride_ / sizeof(EngineWord);
    return {memory.words.data() + place * stride, static_cast<unsigned int>(words),
            static_cast<unsigned int>(stride), static_cast<unsigned int>(count)};
  }

  void check(const Memory& memory, int sender, std::size_t direction, const std::string& step,
             runtime::Verdict& verdict) const {
    for (std::size_t place = 0; place < count_; ++place)
      check_message({message(memory, place), content_of(sender, direction, place)}, step, verdict);
  }

  // Calls.

  [[nodiscard]] unsigned int elements() const { return accl::count_of(elements_); }
  [[nodiscard]] accl::Command put(std::size_t direction, fm::accl_operand from) const {
    return fm::accl_stream_put(use_, from, elements(), neighbour(direction),
                               static_cast<unsigned int>(direction));
  }

  /// Both receives, then both sends.
  [[nodiscard]] Round buffered(std::size_t place) const {
    Round round{.groups = {{}, {}}};
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      const auto tag = static_cast<unsigned int>(direction);
      round.groups[0].push_back(fm::accl_recv(use_, operand(received_.at(direction), place), elements(),
                                              neighbour(1 - direction), tag));
      round.groups[1].push_back(
          fm::accl_send(use_, operand(sent_.at(direction), place), elements(), neighbour(direction), tag));
    }
    return round;
  }
  /// From kernels to kernels.
  [[nodiscard]] Round streamed(std::size_t /*place*/) const {
    return {.groups = {{put(0, fm::accl_stream(0)), put(1, fm::accl_stream(1))}},
            .makes = {true, true},
            .takes = {true, true}};
  }
  [[nodiscard]] Round copied(std::size_t place) const {
    return {.groups = {
                {fm::accl_copy(use_, operand(sent_[1], place), operand(received_[1], place), elements())}}};
  }
  [[nodiscard]] Round sent_alone(std::size_t place) const {
    return {.groups = {{put(0, operand(sent_[0], place))}}, .takes = {true, false}};
  }

  void time_steps(runtime::TimedRegions& regions, std::size_t bytes) {
    begin(bytes, /*are_of_steps=*/true);
    time(regions, kCall, [this](std::size_t) { return Round{.groups = {{fm::accl_nop(use_)}}}; });
    time(regions, kCopy, [this](std::size_t place) { return copied(place); });
    time(regions, kMessage, [this](std::size_t place) { return sent_alone(place); });
    if (!computes()) return;
    check(received_[1], ranks().rank(), 1, "copy: ", of_steps());
    check(received_[0], neighbour(1), 0, "message: ", of_steps());
  }

  // Who makes them.

  void time(runtime::TimedRegions& regions, const char* operation, const Rounds& rounds) {
    const std::string name = region_name(operation, bytes_);
    if (board_.is_called_by_logic()) {
      // The kernels run on for many messages.
      board_.time(
          regions, name, [&] { start_control(rounds); }, count_, board::Counted::kKernels);
      kernels_.check_calls();
      return;
    }
    board_.time(
        regions, name,
        [&] {
          for (std::size_t place = 0; place < count_; ++place) call_from_host(rounds(place), place);
        },
        count_);
  }

  void start_control(const Rounds& rounds) {
    std::vector<accl::Command> commands;
    for (std::size_t place = 0; place < count_; ++place) {
      for (const std::vector<accl::Command>& group : rounds(place).groups)
        commands.insert(commands.end(), group.begin(), group.end());
    }
    const Round first = rounds(0);
    kernels_.call(std::move(commands), static_cast<unsigned int>(count_), first.takes);
    start_words(first, 0, count_);
  }

  /// The kernels that make and take `count` messages from `place` on; returns the ends of those that take.
  device::Events start_words(const Round& round, std::size_t place, std::size_t count) {
    device::Events taken;
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      if (round.makes.at(direction)) kernels_.make(direction, messages_at(sent_.at(direction), place, count));
      if (round.takes.at(direction))
        taken.push_back(kernels_.take(direction, messages_at(received_.at(direction), place, count)));
    }
    return taken;
  }

  /// The calls of a group at once, each group when the engine has been told of the one before, and with them
  /// the kernels of the message; until all have ended.
  void call_from_host(const Round& round, std::size_t place) {
    dataflow::Host& host = board_.host();
    const device::Events taken = start_words(round, place, 1);
    std::vector<accl::Request> requests;
    for (const std::vector<accl::Command>& group : round.groups) {
      if (!requests.empty())
        host.pass_until(network::later(host.now(), network::from_seconds(board_.cost().launch_seconds)));
      for (const accl::Command& command : group) requests.push_back(board_.engine().start(call_of(command)));
    }
    for (accl::Request& request : requests) {
      const accl::Result& result = request.wait();
      if (!result.is_done()) {
        throw Error(ExitCode::kInvalidResult, result.text, "see the first rank that says so");
      }
    }
    for (const device::Event& event : taken) event.wait();
  }

  /// The same call from the host.
  [[nodiscard]] accl::Call call_of(const accl::Command& command) { return board_.engine().call_of(command); }

  bool has_steps_;
  board::Board board_;
  fm::accl_use use_ = board_.engine().use(kType);
  EngineKernels kernels_;
  std::vector<EngineWord> memory_;
  std::array<Memory, kDirections> sent_;
  std::array<Memory, kDirections> received_;

  // Of the part in progress.
  std::size_t bytes_ = 0;
  bool are_of_steps_ = false;
  std::size_t elements_ = 0;
  std::size_t stride_ = 0;  ///< bytes from one message to the next
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_engine(const runtime::Context& context) {
  return std::make_unique<EngineBandwidth>(context);
}

}  // namespace fabricmark::b_eff
