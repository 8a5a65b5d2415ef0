// The calls of MPI itself, between pages of the host.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"
#include "microbench/omb/carrier.hpp"
#include "microbench/omb/watch.hpp"
#include "runtime/library_calls.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/mpi/passing.hpp"

namespace fabricmark::microbench::omb {

namespace {

using runtime::LibraryCalls;

LibraryCalls::Type library_type(collectives::Type type) {
  if (type == collectives::Type::kInt8) return LibraryCalls::Type::kInt8;
  return type == collectives::Type::kInt32 ? LibraryCalls::Type::kInt32 : LibraryCalls::Type::kFloat32;
}

class OverLibrary final : public Carrier {
 public:
  OverLibrary(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        calls_(ranks.library_calls()),
        watch_(options.timeout_seconds, ranks, options.program_name) {}

  ~OverLibrary() override { calls_->give_up(); }

  void allocate(std::size_t sent_bytes, std::size_t received_bytes) override {
    sent_pages_ = device::HostArray<std::byte>(sent_bytes);
    received_pages_ = device::HostArray<std::byte>(received_bytes);
    sent_ = sent_pages_.data();
    received_ = received_pages_.data();
  }
  [[nodiscard]] std::size_t room() const override {
    return static_cast<std::size_t>(available_memory_bytes()) /
           (4 * static_cast<std::size_t>(ranks_.local_size()));
  }
  void write_sent(std::size_t place, std::span<const std::byte> bytes) override {
    std::memcpy(sent_ + place, bytes.data(), bytes.size());
  }
  void write_received(std::size_t place, std::span<const std::byte> bytes) override {
    std::memcpy(received_ + place, bytes.data(), bytes.size());
  }
  void read_received(std::size_t place, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), received_ + place, bytes.size());
  }

  void set_type(collectives::Type type) override {
    shift_ = type == collectives::Type::kInt8 ? 0 : 2;
    calls_->set_type(library_type(type));
  }
  void send(int to, std::size_t place, std::size_t bytes, int tag) override {
    watched([&] { calls_->send(to, sent_ + place, count(bytes), tag); });
  }
  void receive(int from, std::size_t place, std::size_t bytes, int tag) override {
    watched([&] { calls_->receive(from, received_ + place, count(bytes), tag); });
  }
  void start_send(int to, std::size_t place, std::size_t bytes, int tag) override {
    calls_->start_send(to, sent_ + place, count(bytes), tag);
  }
  void start_receive(int from, std::size_t place, std::size_t bytes, int tag) override {
    calls_->start_receive(from, received_ + place, count(bytes), tag);
  }
  void wait_all() override {
    watched([&] { calls_->wait_all(); });
  }

  void prepare(const Shape& shape, std::span<const std::size_t> sent_places,
               std::span<const std::size_t> received_places) override;
  void call(std::size_t slot) override {
    watched([&] { calls_->call(prepared_[slot]); });
  }
  void start(std::size_t slot) override {
    watched([&] { calls_->start(prepared_[slot]); });
  }
  bool test() override { return calls_->test(); }
  void wait() override {
    watched([&] { calls_->wait(); });
  }
  [[nodiscard]] std::string algorithm() const override { return "library"; }
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"calls of the MPI library between host memories"};
  }

 private:
  [[nodiscard]] int count(std::size_t bytes) const { return static_cast<int>(bytes >> shift_); }
  template <typename Call>
  void watched(const Call& call) {
    watch_.begin();
    call();
    watch_.end();
  }

  runtime::Communicator& ranks_;
  std::unique_ptr<LibraryCalls> calls_;
  Watch watch_;
  unsigned shift_ = 0;  // an element of messages has 2 to its power bytes
  device::HostArray<std::byte> sent_pages_;
  device::HostArray<std::byte> received_pages_;
  std::byte* sent_ = nullptr;
  std::byte* received_ = nullptr;
  std::vector<LibraryCalls::Collective> prepared_;  // [slot]
  std::vector<int> counts_;
  std::vector<int> parts_;
};

void OverLibrary::prepare(const Shape& shape, std::span<const std::size_t> sent_places,
                          std::span<const std::size_t> received_places) {
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  counts_.clear();
  parts_.clear();
  for (std::size_t rank = 0; shape.has_counts && rank < ranks; ++rank) {
    counts_.push_back(static_cast<int>(shape.count));
    parts_.push_back(static_cast<int>(rank * shape.count));
  }
  prepared_.clear();
  for (std::size_t slot = 0; slot < sent_places.size(); ++slot) {
    LibraryCalls::Collective one{.operation = shape.operation,
                                 .type = library_type(shape.type),
                                 .count = shape.count,
                                 .root = shape.root,
                                 .counts = counts_,
                                 .places = parts_};
    const auto operand = [&](auto count_of) {
      return count_of(shape.operation, ranks_.rank(), shape.root, ranks_.size(), shape.count) > 0;
    };
    if (operand(collectives::own_count)) one.own = sent_ + sent_places[slot];
    if (operand(collectives::result_count)) one.result = received_ + received_places[slot];
    // A broadcast has one memory: the root's is what it sends.
    if (shape.operation == collectives::Operation::kBroadcast && one.own != nullptr) one.result = nullptr;
    prepared_.push_back(one);
  }
}

}  // namespace

std::unique_ptr<Carrier> over_library(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<OverLibrary>(ranks, options);
}

std::unique_ptr<Carrier> make_carrier(runtime::Communicator& ranks, const Options& options) {
  const bool is_mpi = ranks.kind() == "mpi";
  if (!options.is_on_hosts() || options.transport != transport::kMpiTransport)
    return over_transport(ranks, options);
  if (is_mpi) return over_library(ranks, options);
  Options between_threads = options;  // which no library connects
  between_threads.transport = transport::CpuTransport::kName;
  return over_transport(ranks, between_threads);
}

}  // namespace fabricmark::microbench::omb
