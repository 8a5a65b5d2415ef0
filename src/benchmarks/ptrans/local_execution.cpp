// The dataflow kernels of each rank by themselves, with the blocks that a transport brings from other ranks:
// to see that they make the same C as over channels and engines. Its times say nothing.
#include "benchmarks/ptrans/dataflow_execution.hpp"
#include "transport/registry.hpp"
#include "transport/transport.hpp"

namespace fabricmark::ptrans {

namespace {

class LocalExecution : public BoardExecution {
 public:
  LocalExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes)
      : BoardExecution(context, plan, block_bytes, /*is_coarse=*/false,
                       network::Topology::circuits("no cables", context.ranks().size(), {})),
        rounds_(plan, block_bytes, pair_count()),
        transport_(transport::make_transport(context)),
        outgoing_(transport_->allocate(not_empty(a().size()))),
        incoming_(transport_->allocate(not_empty(rounds_.arrived().size()))) {}

  void write_a(std::span<const std::byte> blocks) override {
    DataflowExecution::write_a(blocks);
    if (!blocks.empty()) outgoing_->write(0, blocks);
  }
  void poison_arrived(std::span<const std::byte> blocks) override {
    const auto poison = blocks.first(rounds_.arrived().size());
    std::ranges::copy(poison, rounds_.arrived().begin());
    if (!poison.empty()) incoming_->write(0, poison);
  }

 protected:
  void start_all() override {
    rounds_.run([this](const Round& round) { exchange(round); },
                [this](const std::vector<PairTasks>& tasks, bool have_arrived) {
                  return start_on_board(tasks, have_arrived ? rounds_.arrived() : a());
                });
  }

 private:
  void exchange(const Round& round) {
    const auto messages = [this](const std::vector<Transit>& transits, transport::Memory& memory) {
      std::vector<transport::Message> all;
      for (const Transit& transit : transits) {
        all.push_back({{&memory, transit.place * block_bytes(), block_bytes()}, transit.peer, transit.tag});
      }
      return all;
    };
    transport_->exchange(messages(round.sends, *outgoing_), messages(round.receives, *incoming_));
    if (round.tasks == 0) return;
    const std::size_t first = round.first_place * block_bytes();
    incoming_->read(first, std::span(rounds_.arrived()).subspan(first, round.tasks * block_bytes()));
  }

  Rounds rounds_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<transport::Memory> outgoing_, incoming_;
};

}  // namespace

std::unique_ptr<Execution> make_local(const runtime::Context& context, const Plan& plan,
                                      std::size_t block_bytes, const WorkItems& /*work_items*/) {
  return std::make_unique<LocalExecution>(context, plan, block_bytes);
}

}  // namespace fabricmark::ptrans
