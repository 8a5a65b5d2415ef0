#include "board/board.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host.hpp"
#include "board/dataflow/described.hpp"
#include "network/flow_control.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::board {

namespace {

constexpr const char* kAsDesigned = "design";

const runtime::SystemPlace& system_of(const runtime::Context& context) {
  if (context.conditions().system) return *context.conditions().system;
  throw bad_use(fmt::format("the transport {} without a system", context.parameters().text("transport")),
                "give one with --system: `fabricmark systems export noctua1 --output FILE` writes one");
}

/// For kernels of this process that compute for long. Others pass words, of which threads of their own would
/// have to tell each other at every turn.
int threads(const runtime::Context& context) {
  if (context.ranks().kind() == "mpi") return 1;
  return usable_cores();
}

std::shared_ptr<runtime::ActivityLog> log_if_asked(const runtime::Context& context) {
  if (context.conditions().modelled_timeline == nullptr) return nullptr;
  return std::make_shared<runtime::ActivityLog>();
}

std::string end_name(const network::Port& port) {
  return fmt::format("device {}, port {}", port.node, port.port);
}

}  // namespace

network::Topology with_circuits(network::Topology named, const network::Topology& circuits) {
  for (const network::Cable& cable : circuits.cables()) {
    for (const auto& [from, to] : {std::pair(cable.a, cable.b), std::pair(cable.b, cable.a)}) {
      const auto found = named.neighbour(from);
      if (found == to) continue;
      throw bad_use(
          fmt::format("{}: the cable from {} has to lead to {}, but {}", named.name(), end_name(from),
                      end_name(to), found ? "leads to " + end_name(*found) : std::string("there is none")),
          fmt::format("plug it in there, or leave out --topology for {}", circuits.name()));
    }
  }
  return named;
}

Board::Board(const runtime::Context& context, const network::Topology& circuits, Clocked clocked)
    : context_(context) {
  const std::string& transport = context.parameters().text("transport");
  if (!runtime::is_of_kernels(transport)) {
    stay_alone();
    return;
  }
  system_of(context);
  if (transport.starts_with("accl-")) {
    join_engine(clocked);
  } else {
    join_links(circuits);
  }
}

Board::~Board() = default;

void Board::stay_alone() {
  if (context_.conditions().system) {
    throw bad_use(fmt::format("--system with dataflow kernels over {}, which have a time over transports of "
                              "kernels only, such as channels",
                              context_.parameters().text("transport")),
                  "leave it out, or choose another --transport");
  }
  constexpr double kAnyClock = 1e9;
  is_alone_ = true;
  cost_ = {.clock_hz = kAnyClock, .launch_seconds = 0, .memory_bytes_per_second = 0};
  fabric_ = std::make_shared<dataflow::Fabric>(dataflow::FabricSettings{});
  host_ = std::make_unique<dataflow::Host>(fabric_, 0, cost_);
}

void Board::join_links(const network::Topology& circuits) {
  const runtime::SystemPlace& place = system_of(context_);
  const runtime::Parameters& parameters = context_.parameters();
  const dataflow::Described system =
      dataflow::described(place.file, parameters.text("transport"), place.bitstream);
  cost_ = system.device;
  link_ = system.link;
  link_.flow = network::flow_settings(parameters.text("flow"));
  const std::string& named = parameters.text("topology");
  const network::Topology topology =
      named == kAsDesigned ? circuits
                           : with_circuits(network::make_topology(named, context_.ranks().size()), circuits);
  topology.check_ports(system.links);
  fabric_ = dataflow::Fabric::join(
      context_.ranks(),
      {.topology = topology, .link = link_, .threads = threads(context_), .log = log_if_asked(context_)});
  host_ = std::make_unique<dataflow::Host>(fabric_, context_.ranks().rank(), cost_, &context_.ranks());
}

void Board::join_engine(Clocked clocked) {
  const runtime::SystemPlace& place = system_of(context_);
  const runtime::Parameters& parameters = context_.parameters();
  accl::Described system = accl::described(
      place.file, parameters.text("transport"),
      {.mtu_bytes = parameters.count("mtu_bytes"), .window_bytes = parameters.count("window_bytes")});
  system.engine.rx_buffers = parameters.count("rx_buffers");
  system.engine.rx_bytes = parameters.count("rx_bytes");
  system.engine.moves_elements = computes();
  is_called_by_logic_ = parameters.text("issuer") == "logic";
  is_streaming_ = parameters.text("mode") == "streaming";
  cost_ = system.device;
  if (const runtime::SystemCosts* const costs = context_.costs()) {
    cost_.memory_bytes_per_second = costs->value_or("banks", 0) * costs->value_or("bank_bytes_per_second", 0);
    if (clocked == Clocked::kAsBitstream) cost_.clock_hz = costs->value_or("kernel_hz", cost_.clock_hz);
  }
  const std::string& named = parameters.text("topology");
  const network::Topology topology =
      network::make_topology(named == kAsDesigned ? system.topology : named, context_.ranks().size());
  fabric_ = dataflow::Fabric::join(
      context_.ranks(), {.topology = topology, .network = system.stack, .log = log_if_asked(context_)});
  host_ = std::make_unique<dataflow::Host>(fabric_, context_.ranks().rank(), cost_, &context_.ranks());
  accl_ = std::make_unique<accl::Accl>(fabric_, *host_, system.engine);
}

std::unique_ptr<collectives::LinkCaller> Board::link_caller() {
  const int own = host_->device();
  for (int port = 0; port < topology().ports(own) && first_port_ < 0; ++port) {
    const auto other = topology().neighbour({own, port});
    if (other && other->node != own) first_port_ = port;
  }
  return std::make_unique<collectives::LinkCaller>(*fabric_, *host_);
}

bool Board::is_faulty() const {
  if (is_alone_) return false;  // its transport makes them
  const runtime::RunConditions& conditions = context_.conditions();
  if (!conditions.fault || !network::message_fault(*conditions.fault)) return false;
  if (conditions.fault->rank && *conditions.fault->rank != context_.ranks().rank()) return false;
  return !conditions.fault->repetition || conditions.repetition == nullptr ||
         *conditions.repetition == *conditions.fault->repetition;
}

// All hosts begin a part at one time.
void Board::begin_part() {
  host_->pass_until(context_.ranks().all_reduce_max(host_->now()));
  begin_ = host_->now();
  // What was not timed.
  if (const auto& log = fabric_->settings().log) log->take(host_->device());
  const std::optional<network::MessageFault> fault =
      is_faulty() ? network::message_fault(*context_.conditions().fault) : std::nullopt;
  if (accl_) {
    accl_->spoil(fault);
  } else if (fault && first_port_ >= 0) {
    fabric_->spoil({host_->device(), first_port_}, *fault);
  }
}

void Board::end_part(Counted counted) {
  if (accl_) {
    accl_->finish();
  } else {
    host_->finish();
  }
  if (is_alone_) return;
  // All hosts have started their first kernel at one time, as the part has begun at one.
  const dataflow::Span all{begin_, host_->now()};
  const dataflow::Span span = counted == Counted::kKernels ? host_->finished().value_or(all) : all;
  tell_timeline(span);
  context_.charged_clock().charge(network::seconds(span.last_end - span.first_start));
}

// While no host has begun the next part, nothing more is told of this one.
void Board::tell_timeline(const dataflow::Span& part) {
  const runtime::ChargedClock& clock = context_.charged_clock();
  if (!fabric_->settings().log || clock.witness() == nullptr) return;  // a part that does not count
  context_.conditions().modelled_timeline->add(fabric_->settings().log->take(host_->device()),
                                               part.first_start, clock.seconds());
}

}  // namespace fabricmark::board
