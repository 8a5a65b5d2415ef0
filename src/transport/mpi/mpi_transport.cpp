#include "transport/mpi/mpi_transport.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "transport/mpi/lending.hpp"
#include "transport/registry.hpp"

namespace fabricmark::transport {

/// Between memory that MPI reads and writes by itself.
class MpiTransfer : public Transfer {
 public:
  explicit MpiTransfer(MpiTransport& transport)
      : exchange_(transport.ranks(), transport.timeout_, transport.waiting_),
        out_(transport, transport.reads_, /*for_writing=*/false),
        in_(transport, transport.writes_, /*for_writing=*/true) {}

 private:
  void begin() override {
    out_.lend(sends());
    in_.lend(receives());
    exchange_.begin(out_.messages(), in_.messages());
  }
  [[nodiscard]] bool advance() override {
    if (!exchange_.advance()) return false;
    out_.take_back();
    in_.take_back();
    return true;
  }
  void idle() override { exchange_.idle(); }
  void give_up() noexcept override {
    exchange_.give_up();
    try {
      out_.give_up();
      in_.give_up();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
    }
  }

  HostExchange exchange_;
  Lending out_, in_;
};

MpiTransport::MpiTransport(const runtime::Context& context, Passing passing, Waiting waiting)
    : Transport(context.ranks()),
      device_(context.device()),
      passing_(passing),
      timeout_(context.timeout_seconds()),
      waiting_(waiting),
      is_timed_(context.timeline().enabled()),
      memory_(context.memory_kind()),
      reads_(device_.queue()),
      writes_(device_.queue()) {}

std::unique_ptr<Memory> MpiTransport::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(device_, bytes, memory_);
}

device::Event MpiTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                  const device::Events& after) {
  auto transfer = transfers_.free<MpiTransfer>([&] { return std::make_shared<MpiTransfer>(*this); });
  transfer->start(sends, receives, after, is_timed_);
  return device::Event(std::move(transfer));
}

bool MpiTransport::arrives(bool leaves_device) {
  constexpr int kCheckTag = 1 << 13;  // above those of benchmarks and of collectives
  // Not more than a pointer: so much lies behind every handle.
  std::array<std::byte, sizeof(void*)> sent{};
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(0xA7 + 29 * i);
  std::array<std::byte, sizeof(void*)> arrived{};
  Memory memory(device_, device::kPageBytes, memory_);
  memory.write(0, leaves_device ? sent : arrived);
  const Message message{{&memory, 0, sent.size()}, 0, kCheckTag};
  Lending lending(*this, leaves_device ? reads_ : writes_, /*for_writing=*/!leaves_device);
  lending.lend({&message, 1});
  const std::span<std::byte> lent = lending.messages().front().bytes;
  const int next = (ranks().rank() + 1) % ranks().size();
  const int before = (ranks().rank() + ranks().size() - 1) % ranks().size();
  const HostMessage out{leaves_device ? lent : std::span<std::byte>(sent), next, kCheckTag};
  const HostMessage in{leaves_device ? std::span<std::byte>(arrived) : lent, before, kCheckTag};
  exchange_host_messages(ranks(), timeout_, waiting_, {&out, 1}, {&in, 1});
  lending.take_back();
  if (!leaves_device) memory.read(0, arrived);
  return sent == arrived;
}

void MpiTransport::check_library() {
  for (const bool leaves_device : {true, false}) {
    // Where it cannot be read from, nothing may be written to.
    if (ranks().all_reduce_min(arrives(leaves_device) ? 1 : 0) == 0) {
      throw not_taken(passing_, device_.info(), ranks());
    }
  }
}

namespace mpi {

std::unique_ptr<Transport> make(const runtime::Context& context, const TransportUse& use) {
  const device::DeviceInfo& info = context.device().info();
  if (context.costs() != nullptr || info.is_dry_run) throw no_costs_over(kMpiTransport);
  const Passing how =
      passing(info, context.memory_kind(), context.parameters().text("svm_pointers"), context.ranks());
  auto transport = std::make_unique<MpiTransport>(context, how, waiting(context, use));
  transport->check_library();
  context.remark("over mpi, MPI gets " + in_words(how, info));
  return transport;
}

}  // namespace mpi

}  // namespace fabricmark::transport
