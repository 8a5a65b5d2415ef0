#include "transport/cpu/cpu_transport.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "transport/registry.hpp"
#include "transport/tuning.hpp"

namespace fabricmark::transport {

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
constexpr const char* kSideBySide = "side by side";
constexpr const char* kOneAfterTheOther = "one after the other";

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
  transfer->set_long(long_bytes(sends));
  transfer->start(sends, receives, after, is_timed_);
  return device::Event(std::move(transfer));
}

std::vector<std::string> CpuTransport::protocols(std::size_t /*bytes*/) const {
  if (!is_open_) return {};
  return {kSideBySide, kOneAfterTheOther};
}

void CpuTransport::take(std::size_t size_class, const std::string& protocol) {
  is_serial_.resize(size_class + 1);
  is_serial_[size_class] = protocol == kOneAfterTheOther;
}

std::size_t CpuTransport::long_bytes(std::span<const Message> sends) const {
  if (is_serial_.empty()) return long_bytes_;
  std::size_t longest = 0;
  for (const Message& message : sends) longest = std::max(longest, message.bytes);
  return is_serial_[std::min(size_class(longest), is_serial_.size() - 1)] ? 0 : kNever;
}

namespace cpu {

std::unique_ptr<Transport> make(const runtime::Context& context, const TransportUse& use) {
  const std::int64_t serial = context.parameters().integer("serial_bytes");
  return std::make_unique<CpuTransport>(
      context.ranks(), context.timeout_seconds(), waiting(context, use),
      serial < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(serial)),
      context.timeline().enabled());
}

}  // namespace cpu

}  // namespace fabricmark::transport
