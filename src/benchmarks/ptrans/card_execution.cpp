// PTRANS between cards whose bitstream has ACCL's engine beside one pair of the kernels of
// kernels/ptrans/dataflow.cpp, as `fabricmark build ptrans --variant dataflow --transport accl-udp` links
// them (build/rules/accl.toml): a kernel calls the engine. Never run on a card.
#include "benchmarks/ptrans/execution.hpp"
#include "benchmarks/ptrans/pairs.hpp"
#include "board/accl_driver/card_engine.hpp"
#include "board/accl_driver/card_unit.hpp"

namespace fabricmark::ptrans {

namespace {

constexpr int kPairs = 1;  // ACCL has one stream in each direction

/// Numbers of blocks in the card's memory, as both kernels of the pair take them.
struct CardTasks {
  CardTasks(const accl::CardUnit& send, const accl::CardUnit& receive, const PairTasks& tasks)
      : sources(send.buffer(1, tasks.sources)),
        targets(receive.buffer(4, tasks.targets)),
        staying(static_cast<std::uint32_t>(tasks.staying)),
        leaving(static_cast<std::uint32_t>(tasks.leaving())),
        arriving(static_cast<std::uint32_t>(tasks.arriving())) {}

  device::Buffer sources, targets;
  std::uint32_t staying, leaving, arriving;
};

/// The matrices on the card, and the pair of kernels.
class CardExecution : public Execution {
 public:
  void write_a(std::span<const std::byte> blocks) override { send_.write(a_, blocks.data(), blocks.size()); }
  void write_b(std::span<const std::byte> blocks) override {
    receive_.write(b_, blocks.data(), blocks.size());
  }
  void write_c(std::span<const std::byte> blocks) override {
    receive_.write(c_, blocks.data(), blocks.size());
  }
  void read_c(std::span<std::byte> blocks) override { receive_.read(c_, blocks.data(), blocks.size()); }
  void poison_arrived(std::span<const std::byte> /*blocks*/) override {}
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"ACCL's engine on a card: one pair of kernels, whose starts the times include"};
  }

  void time_run(runtime::TimedRegions& regions) override {
    regions.time("transpose", [this] { run_all(); });
    caller_.require_no_failure();
  }

 protected:
  CardExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                accl::CardCaller caller)
      : engine_(context),
        plan_(plan),
        block_bytes_(block_bytes),
        elements_(static_cast<std::uint32_t>(block_bytes / collectives::bytes_of(element_type(context)))),
        send_(context, "send_blocks_by_engine", "send"),
        receive_(context, "receive_blocks_by_engine", "receive"),
        caller_(std::move(caller)),
        a_(send_.buffer(0, plan.blocks.size() * block_bytes)),
        b_(receive_.buffer(2, plan.blocks.size() * block_bytes)),
        c_(receive_.buffer(3, plan.blocks.size() * block_bytes)) {
    receive_.set(2, b_);
    receive_.set(3, c_);
  }

  /// With exchanges and kernels; returns when all have ended.
  virtual void run_all() = 0;

  /// Once the pair has ended.
  void set_pair(const CardTasks& tasks, const device::Buffer& a) const {
    send_.set(0, a);
    send_.set(1, tasks.sources);
    send_.set(2, tasks.staying);
    send_.set(3, tasks.leaving);
    receive_.set(4, tasks.targets);
    receive_.set(5, tasks.staying);
    receive_.set(6, tasks.arriving);
  }
  [[nodiscard]] fm::accl_use use(const runtime::Context& context) const {
    return engine_.use(element_type(context));
  }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  /// Of a block.
  [[nodiscard]] std::uint32_t elements() const { return elements_; }
  [[nodiscard]] const accl::CardUnit& send() const { return send_; }
  [[nodiscard]] const accl::CardUnit& receive() const { return receive_; }
  [[nodiscard]] const accl::CardCaller& caller() const { return caller_; }
  [[nodiscard]] const device::Buffer& a() const { return a_; }

 private:
  accl::CardEngine engine_;
  const Plan& plan_;
  std::size_t block_bytes_;
  std::uint32_t elements_;
  accl::CardUnit send_, receive_;
  accl::CardCaller caller_;
  device::Buffer a_, b_, c_;
};

/// Words go from the sending kernel to the receiving one of the partner's card.
class CardStreaming final : public CardExecution {
 public:
  CardStreaming(const runtime::Context& context, const Plan& plan, std::size_t block_bytes, int partner)
      : CardExecution(context, plan, block_bytes, {context, "put_words", "put", /*failed=*/8}),
        tasks_(send(), receive(), divide_tasks(plan, kPairs, /*has_loops=*/false).front()),
        counts_(caller().buffer(2, std::vector<std::uint64_t>{std::uint64_t{tasks_.leaving} * elements()})) {
    set_pair(tasks_, a());
    caller().set(2, counts_);
    caller().set(3, std::int32_t{kPairs});
    caller().set(4, std::int32_t{partner});
    caller().set(5, use(context));
  }

 private:
  void run_all() override {
    if (tasks_.leaving > 0) {
      accl::run({&receive(), &send(), &caller()});
    } else {
      accl::run({&receive(), &send()});
    }
  }

  CardTasks tasks_;
  device::Buffer counts_;
};

/// Blocks go from memory to memory, round by round, those of a round while kernels work on the one before.
class CardBuffered final : public CardExecution {
 public:
  CardBuffered(const runtime::Context& context, const Plan& plan, std::size_t block_bytes)
      : CardExecution(context, plan, block_bytes, {context, "exchange_blocks", "exchange", /*failed=*/13}),
        arrived_(send().buffer(0, plan.places * block_bytes)),
        staying_(send(), receive(), divide_staying(plan, 0, plan.staying, kPairs).front()) {
    for (const Round& round : plan.rounds) {
      rounds_.push_back(
          {{send(), receive(), divide_staying(plan, round.first_task, round.tasks, kPairs).front()},
           caller().buffer(2, numbers(round.receives)),
           caller().buffer(4, numbers(round.sends))});
    }
    caller().set(6, accl::address_of(arrived_));
    caller().set(7, accl::address_of(a()));
    caller().set(8, elements());
    caller().set(9, std::uint64_t{block_bytes});
    caller().set(10, use(context));
  }

  void poison_arrived(std::span<const std::byte> blocks) override {
    send().write(arrived_, blocks.data(), plan().places * block_bytes());
  }

 private:
  struct CardRound {
    CardTasks tasks;
    device::Buffer receives, sends;
  };

  /// Rank, place in blocks and tag of each, one behind the other.
  static std::vector<std::int32_t> numbers(const std::vector<Transit>& transits) {
    std::vector<std::int32_t> all;
    for (const Transit& transit : transits)
      all.insert(all.end(), {transit.peer, static_cast<std::int32_t>(transit.place), transit.tag});
    return all;
  }
  void start_pair(const CardTasks& tasks, const device::Buffer& a) const {
    receive().finish();
    send().finish();
    set_pair(tasks, a);
    receive().start();
    send().start();
  }
  void run_all() override {
    start_pair(staying_, a());
    for (std::size_t number = 0; number < rounds_.size(); ++number) {
      const Round& round = plan().rounds[number];
      const CardRound& own = rounds_[number];
      caller().set(2, own.receives);
      caller().set(3, static_cast<std::int32_t>(round.receives.size()));
      caller().set(4, own.sends);
      caller().set(5, static_cast<std::int32_t>(round.sends.size()));
      accl::run({&caller()});
      start_pair(own.tasks, arrived_);
    }
    receive().finish();
    send().finish();
  }

  device::Buffer arrived_;
  CardTasks staying_;
  std::vector<CardRound> rounds_;
};

}  // namespace

std::unique_ptr<Execution> make_on_cards(const runtime::Context& context, const Plan& plan,
                                         std::size_t block_bytes, const WorkItems& /*work_items*/) {
  accl::require_one_replica(context);
  const Distribution distribution = Distribution::of(context);
  const bool is_streaming = context.parameters().text("mode") == "streaming";
  if (is_streaming) require_partners(distribution);
  require_possible_on_boards(context, distribution, kPairs, /*has_loops=*/false);
  if (!is_streaming) return std::make_unique<CardBuffered>(context, plan, block_bytes);
  return std::make_unique<CardStreaming>(context, plan, block_bytes,
                                         distribution.partner(context.ranks().rank()).value());
}

}  // namespace fabricmark::ptrans
