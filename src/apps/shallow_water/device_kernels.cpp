// The dataflow kernels of a device, and their hosts' side.
#include "apps/shallow_water/device_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "board/accl_driver/card_unit.hpp"
#include "kernels/shallow_water/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source

namespace fabricmark::shallow_water {

namespace {

namespace hls = ::shallow_water_kernels;

using StateStream = fm::stream<hls::state_word>;

static_assert(sizeof(hls::engine_word) == kHaloWordBytes && kHaloWordBytes == accl::kWordBytes);

/// Of L_pipe, what the edge kernel's pipeline has; the rest is the element kernel's. Nobody says how they
/// share it, and nothing depends on that.
constexpr double kEdgeDepth = 60;
/// Cycles of a step beside the words: the one that begins it.
constexpr double kBeginCycles = 1;
/// An access of the board's memory, as long as Vitis HLS takes it to be where nobody says; of a kernel that
/// reads a halo, which first reads how long a message is; and of one that has nothing but streams.
constexpr double kMemoryDepth = 64;
constexpr double kReadingDepth = 2 * kMemoryDepth;
constexpr double kStreamDepth = 4;

hls::counts counts_of(const DevicePart& part) {
  const auto number = [](std::size_t count) { return static_cast<unsigned int>(count); };
  // Where only time is asked for, elements inside the core tell nothing.
  const std::size_t known =
      part.projected.empty() ? std::max<std::size_t>(part.border(), 1) : part.projected.size();
  return {.core = number(part.core),
          .own = number(part.own),
          .outer = number(part.outer),
          .projected = number(known),
          .leaving = number(part.leaving()),
          .neighbours = number(part.neighbours.size())};
}

template <typename T>
std::vector<T> of_count(std::size_t count) {
  return std::vector<T>(std::max<std::size_t>(count, 1));
}

}  // namespace

struct DeviceKernels::Memory {
  hls::counts has;
  std::vector<hls::neighbour> neighbours;
  std::vector<hls::sw_element> elements;
  std::vector<hls::sw_numbers> states;  ///< two of each element
  std::vector<float> outflow;
  std::vector<hls::sw_numbers> beyond_edges;
  std::vector<hls::sw_numbers> edge_states;
  std::vector<hls::outer_edge> edges;
  std::vector<unsigned int> slots;
  std::vector<int> places;
  std::vector<hls::state_word> forcing;
  std::vector<hls::state_word> halo;
  hls::sw_stage stage{};
  std::vector<std::byte> arrived;
  std::vector<std::byte> stored;
  common::HaloSums sums;
  std::array<int, 2> failed{};
  int trouble = -1;
  std::uint64_t address = 0;  ///< of `arrived`, for calls of the engine
  fm::accl_use use{};
  std::size_t current = 0;  ///< which of the two states is that of now
  unsigned int first = 0;   ///< of the current steps, as kernels count them
  unsigned int offset = 0;  ///< of that beyond their own number
  unsigned int steps = 0;
};

struct DeviceKernels::Streams {
  static constexpr int kHaloDepth = 1 << 14;
  fm::stream<hls::state_word, 4> beyond{"beyond outer edges"};
  fm::stream<hls::met_word, 4> met{"halo"};
  fm::stream<hls::state_word, 4> projected{"projected"};
  fm::stream<hls::state_word, kHaloDepth> leaving{"leaving"};  // so that the edge kernel waits for no call
  fm::stream<fm::accl_data, 4> out{"to the engine"};
  fm::stream<int, 4> ready{"ready"};
  fm::stream<int, 4> arrived{"arrived"};
  struct EnginePort {
    fm::stream<fm::accl_request> commands{"commands"};
    fm::stream<accl::Status> statuses{"statuses"};
  };
  EnginePort sends;
  EnginePort receives;
  struct Of {
    fm::stream<hls::state_word, kHaloDepth> kept{"kept"};
    std::unique_ptr<dataflow::Link<hls::state_word>> link;
    fm::stream<hls::state_word> nowhere{"nowhere"};
    [[nodiscard]] StateStream& out() { return link ? link->out : nowhere; }
  };
  std::array<Of, kLinksOfDevice> of;
};

DeviceKernels::DeviceKernels(const DevicePart& part, const LocalMesh* local, double pipeline_cycles)
    : part_(part),
      pipeline_cycles_(pipeline_cycles),
      memory_(std::make_unique<Memory>()),
      streams_(std::make_shared<Streams>()) {
  Memory& own = *memory_;
  own.has = counts_of(part);
  for (const DevicePart::Neighbour& other : part.neighbours) {
    own.neighbours.push_back(
        {other.rank, static_cast<unsigned int>(other.sent), static_cast<unsigned int>(other.received)});
  }
  for (const DevicePart::Neighbour& other : part.neighbours) own.sums.neighbours.push_back(other.rank);
  own.sums.words = part.arriving();
  own.sums.sent.resize(part.neighbours.size());
  own.sums.received.resize(part.neighbours.size());
  own.halo = of_count<hls::state_word>(part.arriving());
  own.places.assign(std::max<std::size_t>(3 * part.border(), 3), -1);
  std::ranges::copy(part.halo_places, own.places.begin());
  for (const DevicePart::Neighbour& other : part.neighbours) {
    own.arrived.resize(own.arrived.size() + halo_bytes(other.received));
    own.stored.resize(own.stored.size() + halo_bytes(other.sent));
  }
  own.forcing = of_count<hls::state_word>(1);
  if (local == nullptr) return;
  own.elements.resize(part.own);
  own.states.resize(2 * part.own);
  own.outflow.resize(part.own);
  own.beyond_edges = of_count<hls::sw_numbers>(part.outer);
  own.edge_states = of_count<hls::sw_numbers>(part.projected.size());
  for (const DevicePart::OuterEdge& edge : part.outer_edges) {
    own.edges.push_back({static_cast<unsigned int>(edge.slot), edge.code, static_cast<float>(edge.nx),
                         static_cast<float>(edge.ny)});
  }
  own.slots.assign(part.leaving_slots.begin(), part.leaving_slots.end());
  for (std::size_t place = 0; place < part.own; ++place) {
    hls::sw_element& element = own.elements[place];
    for (std::size_t side = 0; side < LocalMesh::kSides; ++side) {
      const auto number = [&](std::size_t which) {
        return static_cast<float>(local->geometry[(3 * which + side) * local->padded + place]);
      };
      element.depth[side] = number(0);
      element.nx[side] = number(1);
      element.ny[side] = number(2);
      element.ratio[side] = number(3);
      element.code[side] = local->codes[side * local->padded + place];
    }
  }
}

DeviceKernels::~DeviceKernels() = default;

void DeviceKernels::write(const Field& field, std::uint32_t offset) {
  Memory& own = *memory_;
  own.current = 0;
  own.trouble = -1;
  own.offset = offset;
  for (std::size_t place = 0; place < part_.own; ++place) {
    for (int unknown = 0; unknown < kUnknowns; ++unknown) {
      own.states[place].of[unknown][0] = static_cast<float>(field.at(unknown, 0, place));
    }
  }
}

void DeviceKernels::read(Field& field) const {
  const Memory& own = *memory_;
  for (std::size_t place = 0; place < part_.own; ++place) {
    const hls::sw_numbers& state = own.states[own.current * part_.own + place];
    for (int unknown = 0; unknown < kUnknowns; ++unknown) field.at(unknown, 0, place) = state.of[unknown][0];
  }
}

void DeviceKernels::write_outflow(const std::vector<double>& outflow) {
  std::ranges::transform(outflow, memory_->outflow.begin(),
                         [](double one) { return static_cast<float>(one); });
}

std::vector<double> DeviceKernels::outflow() const {
  return {memory_->outflow.begin(), memory_->outflow.end()};
}

std::optional<std::int64_t> DeviceKernels::trouble() const {
  if (memory_->trouble < 0) return std::nullopt;
  return memory_->trouble - static_cast<std::int64_t>(memory_->offset);
}

const common::HaloSums& DeviceKernels::sums() const { return memory_->sums; }

DeviceKernels::Stalls DeviceKernels::stalls() const {
  const auto waited = [](const auto& stream) {
    return network::seconds(stream.channel().counters().reader_stalled);
  };
  return {waited(streams_->met), waited(streams_->beyond)};
}

void DeviceKernels::prepare(const Steps& steps, const Physics& physics, const std::vector<Forcing>& forcing) {
  Memory& own = *memory_;
  own.first = static_cast<unsigned int>(steps.first) + own.offset;
  own.steps = static_cast<unsigned int>(steps.count);
  own.failed = {};
  if (!forcing.empty()) own.forcing.clear();
  const auto number = [](double value) { return static_cast<float>(value); };
  for (const Forcing& one : forcing) {
    own.forcing.push_back({number(one.sea_xi), number(one.river_xi), number(one.river_inflow), 0});
  }
  own.stage = {.dt = number(steps.dt),
               .keep = 0,
               .take = 1,
               .sea_xi = 0,
               .river_xi = 0,
               .river_inflow = 0,
               .gravity = number(physics.gravity),
               .friction = number(physics.friction),
               .linear_friction = number(physics.linear_friction),
               .coriolis = number(physics.coriolis),
               .least_depth = number(physics.least_depth)};
  if (!own.elements.empty() && own.current == 1)
    std::copy_n(own.states.begin() + part_.own, part_.own, own.states.begin());
  for (std::size_t slot = 0; slot < part_.projected.size(); ++slot) {
    own.edge_states[slot] = own.states[static_cast<std::size_t>(part_.projected[slot])];
  }
  own.current = own.steps % 2;
}

void DeviceKernels::start(dataflow::Host& host, const Steps& steps, const Physics& physics,
                          const std::vector<Forcing>& forcing) {
  prepare(steps, physics, forcing);
  Memory& own = *memory_;
  const bool computes = !own.elements.empty();
  const dataflow::Start element{.depth = std::max(0.0, pipeline_cycles_ - kEdgeDepth - kBeginCycles)};
  const dataflow::Start edge{.depth = kEdgeDepth};
  host.start("update_elements", element, computes ? hls::update_elements<true> : hls::update_elements<false>,
             own.elements.data(), own.states.data(), own.outflow.data(), own.beyond_edges.data(), own.has,
             own.stage, own.first, own.steps, streams_->beyond, streams_->met, streams_->projected,
             &own.trouble);
  host.start("update_edges", edge, computes ? hls::update_edges<true> : hls::update_edges<false>,
             own.edge_states.data(), own.edges.data(), own.slots.data(), own.forcing.data(), own.has,
             own.steps, streams_->projected, streams_->beyond, streams_->leaving);
}

void DeviceKernels::open_links(board::Board& board) {
  for (std::size_t n = 0; n < part_.neighbours.size(); ++n) {
    // A link cannot be moved, which make_unique would. NOLINTNEXTLINE(modernize-make-unique)
    streams_->of.at(n).link.reset(
        new dataflow::Link<hls::state_word>(board.open<hls::state_word>(static_cast<int>(n))));
  }
}

void DeviceKernels::start_links(dataflow::Host& host) {
  Memory& own = *memory_;
  if (own.neighbours.empty()) return;
  const dataflow::Start how{.depth = kStreamDepth};
  std::array<Streams::Of, kLinksOfDevice>& of = streams_->of;
  host.start("send_over_links", how, send_over_links, own.neighbours.data(), own.has.neighbours, own.steps,
             streams_->leaving, of[0].out(), of[1].out(), of[2].out(), of[3].out(), own.sums.sent.data());
  for (std::size_t n = 0; n < own.neighbours.size(); ++n) {
    host.start(fmt::format("keep_halo {}", n), {}, keep_halo,
               static_cast<unsigned long long>(own.neighbours[n].received) * own.steps, of.at(n).link->in,
               of.at(n).kept);
  }
  host.start("receive_over_links", how, receive_over_links, own.neighbours.data(), own.places.data(),
             own.halo.data(), own.has, own.steps, of[0].kept, of[1].kept, of[2].kept, of[3].kept,
             streams_->met, own.sums.received.data());
}

void DeviceKernels::connect(accl::Accl& engine, bool is_called_by_logic) {
  Memory& own = *memory_;
  engine.keep(streams_);
  engine.connect_from_kernel(0, streams_->out);
  if (is_called_by_logic) {
    engine.connect_logic(streams_->sends.commands, streams_->sends.statuses);
    engine.connect_logic(streams_->receives.commands, streams_->receives.statuses);
  }
  own.address = engine.address_of(
      {own.arrived.data(), own.arrived.size() / sizeof(float), collectives::Type::kFloat32});
  own.use = engine.use(collectives::Type::kFloat32);
}

std::vector<std::byte>& DeviceKernels::arrived() { return memory_->arrived; }
std::vector<std::byte>& DeviceKernels::stored() { return memory_->stored; }

void DeviceKernels::start_engine(dataflow::Host& host) {
  Memory& own = *memory_;
  if (own.neighbours.empty()) return;
  start_sending(host, /*tells=*/true);
  host.start("call_for_halos", {.depth = kStreamDepth}, call_for_halos, own.neighbours.data(),
             own.has.neighbours, own.steps, own.address, own.use.communicator, own.use.datapath,
             own.use.compression, streams_->ready, streams_->arrived, streams_->sends.commands,
             streams_->sends.statuses, streams_->receives.commands, streams_->receives.statuses,
             own.failed.data());
  host.start("receive_from_memory", {.depth = kReadingDepth}, receive_from_memory, own.neighbours.data(),
             own.places.data(), reinterpret_cast<const hls::engine_word*>(own.arrived.data()),
             own.halo.data(), own.has.neighbours, own.has.own - own.has.core, own.first, own.steps, 1U,
             streams_->arrived, streams_->met, own.sums.received.data());
}

void DeviceKernels::start_sending(dataflow::Host& host, bool tells) {
  Memory& own = *memory_;
  if (own.neighbours.empty()) return;
  host.start("send_by_engine", {.depth = kStreamDepth}, send_by_engine, own.neighbours.data(),
             own.has.neighbours, own.first, own.steps, tells ? 1U : 0U, streams_->leaving, streams_->out,
             streams_->ready, own.sums.sent.data());
}

device::Event DeviceKernels::start_storing(dataflow::Host& host, std::int64_t step) {
  Memory& own = *memory_;
  return host.start("store_halo", {.depth = kMemoryDepth}, store_halo, own.neighbours.data(),
                    own.has.neighbours, static_cast<unsigned int>(step) + own.offset, streams_->leaving,
                    reinterpret_cast<hls::engine_word*>(own.stored.data()), own.sums.sent.data());
}

device::Event DeviceKernels::start_receiving(dataflow::Host& host, std::int64_t step) {
  Memory& own = *memory_;
  return host.start(
      "receive_from_memory", {.depth = kReadingDepth}, receive_from_memory, own.neighbours.data(),
      own.places.data(), reinterpret_cast<const hls::engine_word*>(own.arrived.data()), own.halo.data(),
      own.has.neighbours, own.has.own - own.has.core, static_cast<unsigned int>(step) + own.offset, 1U, 0U,
      streams_->arrived, streams_->met, own.sums.received.data());
}

void DeviceKernels::check_calls() const { accl::require_no_failure(memory_->failed); }

DeviceKernels::OnCard DeviceKernels::on_card(const Steps& steps, const Physics& physics,
                                             const std::vector<Forcing>& forcing) {
  prepare(steps, physics, forcing);
  Memory& own = *memory_;
  own.current = 0;  // there the kernel puts the states where it found them
  const auto bytes = [](auto& all) { return std::as_writable_bytes(std::span(all)); };
  return {.neighbours = bytes(own.neighbours),
          .elements = bytes(own.elements),
          .states = bytes(own.states).first(part_.own * sizeof(hls::sw_numbers)),
          .outflow = bytes(own.outflow),
          .edge_states = bytes(own.edge_states),
          .edges = bytes(own.edges),
          .slots = bytes(own.slots),
          .places = bytes(own.places),
          .forcing = bytes(own.forcing),
          .halo = bytes(own.halo),
          .arrived = bytes(own.arrived),
          .sent = bytes(own.sums.sent),
          .received = bytes(own.sums.received),
          .trouble = std::as_writable_bytes(std::span(&own.trouble, 1)),
          .core = own.has.core,
          .own = own.has.own,
          .outer = own.has.outer,
          .known = own.has.projected,
          .leaving = own.has.leaving,
          .stage = {own.stage.dt, own.stage.gravity, own.stage.friction, own.stage.linear_friction,
                    own.stage.coriolis, own.stage.least_depth},
          .first = own.first,
          .steps = own.steps};
}

}  // namespace fabricmark::shallow_water
