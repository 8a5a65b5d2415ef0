#include "fabric/cpu/cpu_transport.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "fabric/registry.hpp"
#include "fabric/tuning.hpp"

namespace fabricmark::fabric {

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

class CpuTransfer : public Transfer {
 public:
  CpuTransfer(runtime::Communicator& ranks, double timeout, Waiting waiting)
      : exchange_(ranks, timeout, waiting) {}
  void set_long(std::size_t bytes) { long_bytes_ = bytes; }

 private:
  void begin() override {
    to_host(sends(), outgoing_);
    to_host(receives(), incoming_);
    exchange_.begin(outgoing_, incoming_, long_bytes_);
  }
  [[nodiscard]] bool advance() override { return exchange_.advance(); }
  void idle() override { exchange_.idle(); }
  void give_up() noexcept override { exchange_.give_up(); }
  /// `result` keeps its memory from transfer to transfer.
  static void to_host(std::span<const Message> messages, std::vector<HostMessage>& result) {
    result.clear();
    for (const Message& message : messages) {
      result.push_back(
          {message.buffer->host().subspan(message.offset, message.bytes), message.peer, message.tag});
    }
  }

  HostExchange exchange_;
  std::size_t long_bytes_ = kLongMessage;
  std::vector<HostMessage> outgoing_, incoming_;
};

}  // namespace

device::Event CpuTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                  const device::Events& after) {
  auto transfer = transfers_.free<CpuTransfer>(
      [&] { return std::make_shared<CpuTransfer>(ranks(), timeout_, waiting_); });
  transfer->set_long(long_bytes_);
  transfer->start(sends, receives, after, is_timed_);
  return device::Event(std::move(transfer));
}

void CpuTransport::tune(std::size_t largest_bytes) {
  if (is_tuned_) return;
  constexpr double kClearly = 0.98;  // of the time side by side
  Tuner tuner(*this, ranks(), largest_bytes);
  std::size_t serial_from = kNever;
  for (const std::size_t bytes : tuned_sizes(largest_bytes)) {
    const std::vector<double> seconds =
        tuner.seconds(bytes, 2, [&](std::size_t way) { long_bytes_ = way == 0 ? kNever : 0; });
    const bool is_serial = seconds[1] < kClearly * seconds[0];
    if (!is_serial) serial_from = kNever;
    if (is_serial && serial_from == kNever) serial_from = bytes;
  }
  long_bytes_ = serial_from;
  is_tuned_ = true;
}

std::string CpuTransport::choice() const {
  if (!is_tuned_) return {};
  if (long_bytes_ == kNever) return "messages of any size leave side by side (measured at the start)";
  return fmt::format("messages of {} bytes and more leave one after the other (measured at the start)",
                     long_bytes_);
}

namespace cpu {

std::unique_ptr<Transport> make(const runtime::Context& context, const TransportUse& use) {
  const std::int64_t serial = context.parameters().integer("serial_bytes");
  const bool is_open = serial < 0;
  auto transport =
      std::make_unique<CpuTransport>(context.ranks(), context.conditions().timeout_seconds, use.waiting,
                                     is_open ? kLongMessage : serial, context.timeline().enabled());
  if (is_open && use.largest_bytes > 0) transport->tune(use.largest_bytes);
  return transport;
}

}  // namespace cpu

}  // namespace fabricmark::fabric
