// Boards with an engine of messages each, which the host or kernels call.
#include <map>
#include <utility>

#include "base/error.hpp"
#include "board/accl/accl.hpp"
#include "board/links/kernel_links.hpp"

namespace fabricmark::board {

namespace {

using collectives::Call;
using collectives::View;

/// Of a kernel that calls the engine of its board.
struct Streams {
  dataflow::stream<fm::accl_request> commands{"commands"};
  dataflow::stream<accl::Status> statuses{"statuses"};
};

/// What failed is said by the engine at the end of the part.
void call_engine(dataflow::stream<fm::accl_request>& commands, dataflow::stream<accl::Status>& statuses,
                 const accl::Command& command) {
  fm::accl_issue(commands, command);
  fm::accl_wait(statuses);
}

/// The engine is called by the host, or by a kernel that the host starts.
class EngineCaller final : public collectives::Caller {
 public:
  explicit EngineCaller(KernelLinks& links)
      : engine_(links.engine()), host_(links.host()), place_(engine_.place()) {
    if (!links.is_called_by_logic()) return;
    streams_ = std::make_shared<Streams>();
    engine_.keep(streams_);
    engine_.connect_logic(streams_->commands, streams_->statuses);
  }

  using Caller::run;
  [[nodiscard]] const collectives::Place& place() override { return place_; }
  void run(const collectives::Algorithm& algorithm, const Call& call) override {
    if (!streams_) {
      engine_.collective(call, 0, std::string(algorithm.name)).wait();
      return;
    }
    engine_.set_algorithm(call.operation, std::string(algorithm.name));  // commands name none
    accl::Command command = fm::accl_collective(
        engine_.use(collectives::type_of(call, place_.rank, place_.ranks)), accl::function_of(call.operation),
        call.root, accl::count_of(call.count), operand(call.own), operand(call.result));
    command.reduction = accl::number_of(call.reduction);
    host_.start("call_engine", {}, call_engine, streams_->commands, streams_->statuses, command).wait();
  }

 private:
  /// Kernels name memory by the address at which the engine knows it.
  fm::accl_operand operand(const View& elements) {
    if (elements.count == 0) return fm::accl_no_operand();
    const auto [found, is_new] = addresses_.try_emplace({elements.data, elements.count});
    if (is_new) found->second = engine_.address_of(elements);
    return fm::accl_memory(found->second);
  }

  accl::Accl& engine_;
  dataflow::Host& host_;
  collectives::Place place_;
  std::shared_ptr<Streams> streams_;  ///< null where the host calls
  std::map<std::pair<const std::byte*, std::size_t>, std::uint64_t> addresses_;
};

accl::Described described_engines(const runtime::Context& context) {
  const runtime::Parameters& parameters = context.parameters();
  accl::Described system = accl::described(
      system_of(context).file, parameters.text("transport"),
      {.mtu_bytes = parameters.count("mtu_bytes"), .window_bytes = parameters.count("window_bytes")});
  system.engine.rx_buffers = parameters.count("rx_buffers");
  system.engine.rx_bytes = parameters.count("rx_bytes");
  system.engine.moves_elements = context.computes();
  return system;
}

dataflow::DeviceCost cost_of(const runtime::Context& context, const accl::Described& system,
                             Clocked clocked) {
  dataflow::DeviceCost cost = system.device;
  if (const runtime::SystemCosts* const costs = context.costs()) {
    cost.memory_bytes_per_second = costs->value_or("banks", 0) * costs->value_or("bank_bytes_per_second", 0);
    if (clocked == Clocked::kAsBitstream) cost.clock_hz = costs->value_or("kernel_hz", cost.clock_hz);
  }
  return cost;
}

network::Topology topology_of(const runtime::Context& context, const accl::Described& system) {
  std::optional<network::Topology> named = named_topology(context);
  return named ? std::move(*named) : network::make_topology(system.topology, context.ranks().size());
}

class EngineLinks final : public KernelLinks {
 public:
  EngineLinks(const runtime::Context& context, const accl::Described& system, Clocked clocked)
      : KernelLinks(context, cost_of(context, system, clocked),
                    {.topology = topology_of(context, system), .network = system.stack}),
        is_called_by_logic_(context.parameters().text("issuer") == "logic"),
        is_streaming_(context.parameters().text("mode") == "streaming"),
        engine_(shared_fabric(), host(), system.engine) {}

  [[nodiscard]] accl::Accl& engine() override { return engine_; }
  [[nodiscard]] bool is_called_by_logic() const override { return is_called_by_logic_; }
  [[nodiscard]] bool is_streaming() const override { return is_streaming_; }
  void corrupt(const std::optional<network::MessageFault>& fault) override { engine_.corrupt(fault); }
  void finish() override { engine_.finish(); }
  [[nodiscard]] std::unique_ptr<collectives::Caller> make_collective_caller() override {
    if (is_streaming_) {
      throw bad_use("--mode streaming, but what kernels of OpenCL exchange is in memory",
                    "leave it out, or choose --mode buffered");
    }
    return std::make_unique<EngineCaller>(*this);
  }

 private:
  bool is_called_by_logic_;
  bool is_streaming_;
  accl::Accl engine_;
};

}  // namespace

}  // namespace fabricmark::board

namespace fabricmark::accl {

std::unique_ptr<board::KernelLinks> make_links(const runtime::Context& context,
                                               const board::Joining& joining) {
  return std::make_unique<board::EngineLinks>(context, board::described_engines(context), joining.clocked);
}

}  // namespace fabricmark::accl
