#include "board/collective_caller.hpp"

#include <map>
#include <utility>

#include "base/error.hpp"
#include "board/accl/accl.hpp"
#include "board/dataflow/host.hpp"
#include "board/link_caller.hpp"

namespace fabricmark::board {

namespace {

using collectives::Call;
using collectives::Choice;
using collectives::View;

/// Of a kernel that calls the engine of its board.
struct Streams {
  dataflow::stream<accl::Command> commands{"commands"};
  dataflow::stream<accl::Status> statuses{"statuses"};
};

/// What failed is said by the engine at the end of the part.
void call_engine(dataflow::stream<accl::Command>& commands, dataflow::stream<accl::Status>& statuses,
                 const accl::Command& command) {
  commands.write(command);
  statuses.read();
}

/// The engine is called by the host, or by a kernel that the host starts.
class EngineCaller final : public CollectiveCaller {
 public:
  explicit EngineCaller(Board& board) : board_(board) {
    if (!board.is_called_by_logic()) return;
    streams_ = std::make_shared<Streams>();
    board.engine().keep(streams_);
    board.engine().connect_logic(streams_->commands, streams_->statuses);
  }

  void call(const Call& call) override {
    if (!streams_) {
      board_.engine().collective(call).wait();
      return;
    }
    accl::Command command = fm::accl_collective(static_cast<int>(call.operation), call.root, call.count,
                                                operand(call.own), operand(call.result));
    command.type = static_cast<int>(kType);
    board_.host().start("call_engine", {}, call_engine, streams_->commands, streams_->statuses, command);
  }
  [[nodiscard]] Choice chosen(const Call& call) const override { return board_.engine().chosen(call, kType); }

 private:
  /// Kernels name memory by the number that the engine knows it by.
  fm::accl_operand operand(const View& elements) {
    if (elements.count == 0) return fm::accl_no_operand();
    const auto [found, is_new] = numbers_.try_emplace({elements.data, elements.count});
    if (is_new) found->second = static_cast<int>(board_.engine().register_memory(elements));
    return fm::accl_memory(found->second, 0);
  }

  Board& board_;
  std::shared_ptr<Streams> streams_;  ///< null where the host calls
  std::map<std::pair<const std::byte*, std::size_t>, int> numbers_;
};

/// Kernels that send and receive over each link, and one that tells them what.
class LinksCaller final : public CollectiveCaller {
 public:
  explicit LinksCaller(Board& board)
      : shape_(collectives::shape_of_links(board.topology())),
        costs_(collectives::costs_of_links(board.link_cost(), board.cost())),
        ranks_(board.topology().devices()),
        caller_(board.link_caller()) {}

  void call(const Call& call) override {
    Call own = call;
    own.shape = shape_;
    caller_->run(*chosen(call).algorithm, own);
  }
  [[nodiscard]] Choice chosen(const Call& call) const override {
    return collectives::choose({call.operation, ranks_, call.count * collectives::bytes_of(kType), shape_},
                               costs_);
  }

 private:
  collectives::Shape shape_;
  collectives::Costs costs_;
  int ranks_;
  std::unique_ptr<collectives::LinkCaller> caller_;
};

}  // namespace

std::unique_ptr<CollectiveCaller> make_collective_caller(Board& board) {
  if (!board.has_engine()) return std::make_unique<LinksCaller>(board);
  if (board.is_streaming()) {
    throw bad_use("--mode streaming, but what kernels of OpenCL exchange is in memory",
                  "leave it out, or choose --mode buffered");
  }
  return std::make_unique<EngineCaller>(board);
}

}  // namespace fabricmark::board
