#include "board/dataflow/frames.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::dataflow {

/// What comes to one device, by port.
class Frames::OfDevice final : public Network::Receiver {
 public:
  void attach(int port, Frames::Sink& sink) { ends_[port] = &sink; }
  std::span<std::byte> landing(const Letter& /*letter*/) override { return {}; }
  void arrived(const network::Stack::Arrival& arrival, const Letter& letter) override {
    int port = 0;
    std::memcpy(&port, letter.header.data(), sizeof port);
    if (arrival.is_lost) {
      throw Error(ExitCode::kInvalidResult,
                  fmt::format("a frame of a credit link from device {} to port {} of device {} was lost",
                              letter.from, port, letter.to),
                  "use a network that loses nothing");
    }
    ends_.at(port)->take_frame(arrival.time, letter.payload.bytes);
  }
  void completed(const network::Stack::Completion& /*completion*/) override {}

 private:
  std::map<int, Frames::Sink*> ends_;
};

Frames::Frames(Network& network) : network_(network) {}

Frames::~Frames() = default;

void Frames::attach(const Place& place, Sink& sink) {
  std::unique_ptr<OfDevice>& own = devices_[place.device];
  if (!own) {
    own = std::make_unique<OfDevice>();
    network_.attach(place.device, *place.worker, *own);
  }
  own->attach(place.port, sink);
}

void Frames::send(Time at, const Place& from, const Place& to, std::uint64_t wire_bytes,
                  std::vector<std::byte> frame) {
  Letter letter;
  letter.at = at;
  letter.from = from.device;
  letter.to = to.device;
  letter.wire_bytes = wire_bytes;
  std::memcpy(letter.header.data(), &to.port, sizeof to.port);
  letter.payload = Payload(std::move(frame));
  network_.send(std::move(letter));
}

}  // namespace fabricmark::dataflow
