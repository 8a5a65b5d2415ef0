// The engine of messages of each board, called by kernels or by the host.
#include <algorithm>
#include <memory>
#include <optional>

#include "benchmarks/ptrans/dataflow_execution.hpp"
#include "board/accl/accl.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::ptrans {

namespace {

/// What both modes have in common.
class EngineExecution : public BoardExecution {
 protected:
  EngineExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes)
      : BoardExecution(context, plan, block_bytes, /*is_coarse=*/false,
                       network::Topology::circuits("none", context.ranks().size(), {})),
        type_(element_type(context)) {
    if (board().is_called_by_logic()) calls_.emplace(board().engine(), type_);
  }

  [[nodiscard]] collectives::Type type() const { return type_; }
  /// Of a block.
  [[nodiscard]] std::size_t elements() const { return block_bytes() / collectives::bytes_of(type_); }
  /// Empty where the host calls the engine.
  std::optional<EngineCalls>& calls() { return calls_; }

 private:
  collectives::Type type_;
  std::optional<EngineCalls> calls_;
};

/// Words go from a sending kernel to the receiving one of the partner's board.
class StreamingExecution : public EngineExecution {
 public:
  StreamingExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes, int partner)
      : EngineExecution(context, plan, block_bytes),
        partner_(partner),
        tasks_(divide_tasks(plan, pair_count(), /*has_loops=*/false)) {
    if (partner_ == context.ranks().rank()) return;  // all blocks stay
    for (int number = 0; number < pair_count(); ++number) {
      pair(number).connect(board().engine(), number);
      counts_.push_back(tasks_[static_cast<std::size_t>(number)].leaving() * elements());
    }
  }

 private:
  void start_all() override {
    start_on_board(tasks_, a());
    if (counts_.empty()) return;
    if (calls()) {
      calls()->put_words(board().host(), counts_, partner_);
      return;
    }
    for (int number = 0; number < pair_count(); ++number) {
      board().engine().start({.kind = accl::Kind::kStreamPut,
                              .peer = partner_,
                              .count = counts_[static_cast<std::size_t>(number)],
                              .type = type(),
                              .a = {{}, number},
                              .remote_stream = number});
    }
  }

  int partner_;
  std::vector<PairTasks> tasks_;
  std::vector<unsigned long long> counts_;  ///< elements that leave, by pair; empty where none do
};

/// Blocks go from memory to memory.
class BufferedExecution : public EngineExecution {
 public:
  BufferedExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes)
      : EngineExecution(context, plan, block_bytes),
        rounds_(plan, computes() ? block_bytes : 0, pair_count()),
        // Where only time is asked for, one block stands for all.
        any_block_(computes() ? 0 : block_bytes),
        from_(computes() ? a() : any_block_),
        into_(computes() ? rounds_.arrived() : any_block_),
        from_address_(address_of(from_)),
        into_address_(address_of(into_)) {}

  void poison_arrived(std::span<const std::byte> blocks) override {
    std::ranges::copy(blocks.first(rounds_.arrived().size()), rounds_.arrived().begin());
  }

 private:
  using Numbers = EngineCalls::Numbers;

  void start_all() override {
    rounds_.run([this](const Round& round) { exchange(round); },
                [this](const std::vector<PairTasks>& tasks, bool have_arrived) {
                  return start_on_board(tasks, have_arrived ? rounds_.arrived() : a());
                });
  }
  void exchange(const Round& round) {
    if (calls()) {
      const std::vector<Numbers> receives = numbers(round.receives);
      const std::vector<Numbers> sends = numbers(round.sends);
      calls()->exchange(board().host(), receives, sends, {from_address_, into_address_, elements()}).wait();
      return;
    }
    std::vector<accl::Request> requests;
    for (const Transit& transit : round.receives) {
      requests.push_back(board().engine().recv(block(into_, transit), transit.peer, transit.tag));
    }
    for (const Transit& transit : round.sends) {
      requests.push_back(board().engine().send(block(from_, transit), transit.peer, transit.tag));
    }
    for (accl::Request& request : requests) request.wait();
  }
  [[nodiscard]] std::size_t place_of(const Transit& transit) const { return computes() ? transit.place : 0; }
  [[nodiscard]] std::vector<Numbers> numbers(const std::vector<Transit>& transits) const {
    std::vector<Numbers> all;
    for (const Transit& transit : transits) {
      all.push_back({transit.peer, static_cast<int>(place_of(transit)), transit.tag});
    }
    return all;
  }
  [[nodiscard]] collectives::View block(std::vector<std::byte>& memory, const Transit& transit) const {
    return {memory.data() + place_of(transit) * block_bytes(), elements(), type()};
  }
  std::uint64_t address_of(std::vector<std::byte>& memory) {
    return board().engine().address_of(
        {memory.data(), memory.size() / collectives::bytes_of(type()), type()});
  }

  Rounds rounds_;
  std::vector<std::byte> any_block_;
  std::vector<std::byte>& from_;
  std::vector<std::byte>& into_;
  std::uint64_t from_address_;
  std::uint64_t into_address_;
};

}  // namespace

std::unique_ptr<Execution> make_over_engines(const runtime::Context& context, const Plan& plan,
                                             std::size_t block_bytes, const WorkItems& /*work_items*/) {
  const Distribution distribution = Distribution::of(context);
  const bool is_streaming = context.parameters().text("mode") == "streaming";
  if (is_streaming) require_partners(distribution);
  require_possible_on_boards(context, distribution,
                             static_cast<int>(context.parameters().integer("replications")),
                             /*has_loops=*/false);
  if (!is_streaming) return std::make_unique<BufferedExecution>(context, plan, block_bytes);
  return std::make_unique<StreamingExecution>(context, plan, block_bytes,
                                              distribution.partner(context.ranks().rank()).value());
}

}  // namespace fabricmark::ptrans
