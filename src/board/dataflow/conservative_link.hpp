#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "board/dataflow/link_direction.hpp"
#include "board/dataflow/worker.hpp"
#include "network/flow_control.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

class Channel;

/// One whose flow control can lose words or stop the sender late.
class ConservativeLink final : public LinkDirection {
 public:
  ConservativeLink(Channel& channel, const network::FlowSettings& flow, Time word_time, Time latency,
                   Time back_latency, const Place& from, const Place& to);
  ~ConservativeLink() override;

  Stall push(Kernel& writer, std::span<const std::byte> word) override;
  Time pop(Kernel& reader, std::span<std::byte> word) override;
  bool is_empty(Kernel& reader) override;
  bool is_full(Kernel& writer) override;
  bool meet() override;
  [[nodiscard]] bool has_untold(bool is_writer) const override;
  void pack(Packet& packet, bool is_writer) override;
  void unpack(Packet& packet, bool is_writer, std::size_t word_bytes) override;
  [[nodiscard]] std::uint64_t overruns() const override { return flow_->overruns(); }
  [[nodiscard]] std::uint64_t fill() const override;
  [[nodiscard]] std::size_t places() const override { return flow_->places(); }

 private:
  struct Word {
    Time arrives;
    std::vector<std::byte> bytes;
  };
  struct Told {
    Time arrives;
    network::FlowControl::Feedback feedback;
  };
  class AtWriter;
  class AtReader;

  Channel& channel_;
  std::unique_ptr<network::FlowControl> flow_;
  bool is_controlled_;
  Time word_time_;
  Time latency_;
  Time back_latency_;
  std::unique_ptr<AtWriter> writer_;
  std::unique_ptr<AtReader> reader_;
};

}  // namespace fabricmark::dataflow
