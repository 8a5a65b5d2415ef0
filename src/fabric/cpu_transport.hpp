#pragma once

#include <vector>

#include "fabric/messages.hpp"
#include "fabric/transport.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::fabric {

/// Messages between the host memories of ranks: what MPI does, without any device.
class CpuTransport : public Transport {
 public:
  CpuTransport(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting = Waiting::kSpin)
      : ranks_(ranks), timeout_(timeout_seconds), waiting_(waiting) {}
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::unique_ptr<MessageBuffer> allocate(std::size_t bytes) override;
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override;

 private:
  runtime::Communicator& ranks_;
  double timeout_;
  Waiting waiting_;
  std::vector<HostMessage> sends_, receives_;  // of the exchange under way
};

}  // namespace fabricmark::fabric
