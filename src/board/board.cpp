#include "board/board.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.hpp"
#include "board/link_makers.hpp"  // written by CMake: the folders that have a transport.toml
#include "board/outside_links.hpp"
#include "network/message_fault.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::board {

namespace {

/// Kernels run, and nothing joins the board to others.
class NoLinks final : public KernelLinks {
 public:
  explicit NoLinks(const runtime::Context& context) : KernelLinks(cost_of(context)) {}
  void corrupt(const std::optional<network::MessageFault>& /*fault*/) override {}  // its transport makes them
  void finish() override { host().finish(); }
  [[nodiscard]] std::unique_ptr<collectives::Caller> make_collective_caller() override {
    throw std::logic_error("collective calls of a board that is alone");
  }

 private:
  static dataflow::DeviceCost cost_of(const runtime::Context& context) {
    if (context.system()) {
      throw bad_use(
          fmt::format("--system with dataflow kernels over {}, which have a time over transports of "
                      "kernels only, such as {}",
                      context.parameters().text("transport"),
                      runtime::transports_between({runtime::Between::kStreams}).front()),
          "leave it out, or choose another --transport");
    }
    constexpr double kAnyClock = 1e9;
    return {.clock_hz = kAnyClock, .launch_seconds = 0, .memory_bytes_per_second = 0};
  }
};

std::unique_ptr<KernelLinks> make_links(const runtime::TransportSpec& transport,
                                        const runtime::Context& context, const Joining& joining) {
  if (transport.is_between_memories()) return std::make_unique<NoLinks>(context);
  for (const auto& [folder, make] : kLinkMakers) {
    if (folder == transport.folder) return make(context, joining);
  }
  if (!transport.library.empty()) return outside_links(transport, context, joining);
  throw std::logic_error("a transport of kernels without code: " + transport.name);
}

}  // namespace

Board::Board(const runtime::Context& context, const Joining& joining)
    : context_(context),
      transport_(runtime::transport_spec(context.parameters().text("transport"))),
      links_(make_links(transport_, context, joining)) {}

Board::~Board() = default;

// All hosts begin a part at one time.
void Board::begin_part() {
  host().pass_until(context_.ranks().all_reduce_max(host().now()));
  begin_ = host().now();
  // What was not timed.
  if (const auto& log = links_->fabric().settings().log) log->take(host().device());
  links_->corrupt(network::message_fault(context_.due_fault()));
}

void Board::end_part(Counted counted) {
  links_->finish();
  if (transport_.is_between_memories()) return;  // the board is alone
  // All hosts have started their first kernel at one time, as the part has begun at one.
  const dataflow::Span all{begin_, host().now()};
  const dataflow::Span span = counted == Counted::kKernels ? host().finished().value_or(all) : all;
  tell_timeline(span);
  context_.simulated_clock().advance(network::seconds(span.last_end - span.first_start));
}

// While no host has begun the next part, nothing more is told of this one.
void Board::tell_timeline(const dataflow::Span& part) {
  const runtime::SimulatedClock& clock = context_.simulated_clock();
  const auto& log = links_->fabric().settings().log;
  if (!log || clock.witness() == nullptr) return;  // a part that does not count
  context_.modelled_timeline()->add(log->take(host().device()), part.first_start, clock.seconds());
}

}  // namespace fabricmark::board
