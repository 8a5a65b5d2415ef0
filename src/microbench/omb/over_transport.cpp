// A transport of src/transport, by the wall clock: between hosts, between devices, or between one and the
// other.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/host.hpp"
#include "collectives/replay/choice.hpp"
#include "microbench/common/measured_transport.hpp"
#include "microbench/omb/carrier.hpp"
#include "microbench/omb/device_memories.hpp"
#include "microbench/omb/left_call.hpp"
#include "runtime/agreement.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/host/host_transport.hpp"
#include "transport/transport_caller.hpp"

namespace fabricmark::microbench::omb {

namespace {

using transport::Memory;
using transport::Message;

constexpr const char* kStaging = "staging";

MeasuredTransport::Wanted wanted_of(const Options& options, Placement place) {
  MeasuredTransport::Wanted wanted{.transport = options.transport,
                                   .selection = options.selection,
                                   .timeout_seconds = options.timeout_seconds,
                                   .largest_bytes = options.largest,
                                   .memory = options.memory};
  if (!options.program->is_collective()) wanted.pattern = transport::Pattern::kOneWay;
  if (options.is_mixed()) {
    // A host has no staging memory that a device's rank could share.
    if (MeasuredTransport::takes(options.transport, kStaging)) wanted.texts[kStaging] = "private";
    wanted.needs_device = true;
  }
  if (!options.is_on_hosts()) wanted.selection.bitstream = options.bitstream;
  if (place != Placement::kHost)
    wanted.check = [&options, place](const device::DeviceInfo& info) { bank_of(info, options, place); };
  return wanted;
}

class OverTransport final : public Carrier {
 public:
  OverTransport(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        options_(options),
        place_(options.places[options.program->is_collective() ? 0 : side_of(ranks, options)]),
        measured_(ranks, wanted_of(options, place_)) {
    if (place_ != Placement::kHost) {
      memories_.emplace(measured_.context().device(), measured_.program(), options, place_);
    } else if (options.is_mixed()) {
      from_host_.emplace(ranks, options.timeout_seconds);
    }
    ranks.barrier();  // none begins while another one is refused
  }

  void allocate(std::size_t sent_bytes, std::size_t received_bytes) override {
    sent_ = memory(sent_bytes);
    received_ = memory(received_bytes);
  }
  [[nodiscard]] std::size_t room() const override;
  void write_sent(std::size_t place, std::span<const std::byte> bytes) override {
    sent_->write(place, bytes);
  }
  void write_received(std::size_t place, std::span<const std::byte> bytes) override {
    received_->write(place, bytes);
  }
  void read_received(std::size_t place, std::span<std::byte> bytes) override {
    received_->read(place, bytes);
  }
  void touch() override {
    if (!memories_) return;
    memories_->touch(*sent_);
    memories_->touch(*received_);
  }
  [[nodiscard]] bool is_touched() const override { return !options_.is_on_hosts(); }

  void send(int to, std::size_t place, std::size_t bytes, int tag) override {
    start_send(to, place, bytes, tag);
    wait_all();
  }
  void receive(int from, std::size_t place, std::size_t bytes, int tag) override {
    start_receive(from, place, bytes, tag);
    wait_all();
  }
  void start_send(int to, std::size_t place, std::size_t bytes, int tag) override {
    sends_.push_back({{sent_.get(), place, bytes}, to, tag});
  }
  void start_receive(int from, std::size_t place, std::size_t bytes, int tag) override {
    receives_.push_back({{received_.get(), place, bytes}, from, tag});
  }
  void wait_all() override {
    // A host's rank goes by the pieces that the device's rank takes.
    const auto* pieces =
        from_host_ ? dynamic_cast<transport::HostTransport*>(&measured_.transport()) : nullptr;
    if (pieces != nullptr) {
      transport().exchange(pieces->in_pieces(sends_), pieces->in_pieces(receives_));
    } else {
      transport().exchange(sends_, receives_);
    }
    sends_.clear();
    receives_.clear();
  }

  void prepare(const Shape& shape, std::span<const std::size_t> sent_places,
               std::span<const std::size_t> received_places) override;
  void call(std::size_t slot) override { caller_->run(*algorithm_, prepared_[slot]); }
  void start(std::size_t slot) override {
    caller_->set_pause([this] { left_.pause(); });
    left_.begin([this, slot] { caller_->run(*algorithm_, prepared_[slot]); });
  }
  bool test() override {
    if (!left_.look()) return false;
    caller_->set_pause({});
    return true;
  }
  void wait() override;
  [[nodiscard]] std::string algorithm() const override {
    return algorithm_ == nullptr ? "" : std::string(algorithm_->name);
  }

  [[nodiscard]] device::DeviceInfo device() const override { return measured_.device(); }
  [[nodiscard]] runtime::Result::Kernel kernel() const override {
    return memories_ ? memories_->kernel() : runtime::Result::Kernel{};
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return measured_.context().remarks(); }

 private:
  /// Which side of the pair this rank is: the first half of the ranks send first.
  static std::size_t side_of(const runtime::Communicator& ranks, const Options& options) {
    const int firsts = options.program->has_all_pairs ? ranks.size() / 2 : 1;
    return ranks.rank() < firsts ? 0 : 1;
  }
  [[nodiscard]] transport::Transport& transport() {
    return from_host_ ? static_cast<transport::Transport&>(*from_host_) : measured_.transport();
  }
  [[nodiscard]] std::unique_ptr<Memory> memory(std::size_t bytes) {
    if (memories_) return memories_->allocate(bytes);
    return std::make_unique<Memory>(std::max<std::size_t>(bytes, 1));
  }
  collectives::View view(Memory& memory, std::size_t place, const Shape& shape, std::size_t count);

  runtime::Communicator& ranks_;
  Options options_;
  Placement place_;
  MeasuredTransport measured_;
  std::optional<transport::CpuTransport> from_host_;
  std::optional<DeviceMemories> memories_;
  std::unique_ptr<Memory> sent_;
  std::unique_ptr<Memory> received_;
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  std::optional<collectives::TransportCaller> caller_;
  std::vector<collectives::Call> prepared_;  // [slot]
  std::vector<collectives::View> views_;
  const collectives::Algorithm* algorithm_ = nullptr;
  LeftCall left_;
};

std::size_t OverTransport::room() const {
  constexpr std::size_t kWanted = std::size_t{1} << 32U;
  const std::size_t on_host = static_cast<std::size_t>(available_memory_bytes()) /
                              (8 * static_cast<std::size_t>(ranks_.local_size()));
  if (!memories_) return on_host;
  const std::size_t on_device = memories_->room(kWanted);
  return measured_.device().is_in_host_memory() ? std::min(on_host, on_device) : on_device;
}

collectives::View OverTransport::view(Memory& memory, std::size_t place, const Shape& shape,
                                      std::size_t count) {
  if (count == 0) return {nullptr, 0, shape.type};
  return views_.emplace_back(
      caller_->adopt({&memory, place, count * collectives::bytes_of(shape.type)}, shape.type));
}

void OverTransport::prepare(const Shape& shape, std::span<const std::size_t> sent_places,
                            std::span<const std::size_t> received_places) {
  const int rank = ranks_.rank();
  const int ranks = ranks_.size();
  if (!caller_) {
    caller_.emplace(measured_.transport(), &measured_.context().device());
  }
  for (const collectives::View& used : views_) caller_->release(used);
  views_.clear();
  prepared_.clear();
  using namespace collectives;
  for (std::size_t slot = 0; slot < sent_places.size(); ++slot) {
    Call call{.operation = shape.operation, .root = shape.root, .count = shape.count};
    call.own = view(*sent_, sent_places[slot], shape,
                    own_count(shape.operation, rank, shape.root, ranks, shape.count));
    // A broadcast has one memory: the root's is what it sends.
    const bool is_in_place = shape.operation == Operation::kBroadcast && rank == shape.root;
    call.result = is_in_place ? call.own
                              : view(*received_, received_places[slot], shape,
                                     result_count(shape.operation, rank, shape.root, ranks, shape.count));
    prepared_.push_back(call);
  }
  algorithm_ = caller_->place().chosen(prepared_.front()).algorithm;
}

void OverTransport::wait() {
  runtime::Patience patience(ranks_, runtime::Waiting::kSpin,
                             std::chrono::duration<double>(options_.timeout_seconds),
                             runtime::WaitsFor::kCollective);
  while (!test()) {
    if (patience.is_over()) throw runtime::DeadlineError("an operation of all ranks has not ended in time");
  }
}

}  // namespace

std::unique_ptr<Carrier> over_transport(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<OverTransport>(ranks, options);
}

}  // namespace fabricmark::microbench::omb
