#pragma once

#include <map>
#include <optional>
#include <vector>

#include "transport/host/host_transport.hpp"
#include "transport/host/staging.hpp"

namespace fabricmark::transport {

/// What the sender tells of a message whose bytes go through shared staging memory, with the message's tag.
struct Announcement {
  SharedAddress staging;
  std::uint64_t transfer =
      0;                    ///< of the sender; its staging memory for the receiver takes the earlier's place
  std::uint64_t lanes = 0;  ///< of the staging memory
  std::uint64_t lane = 0;
  std::uint64_t slots_start = 0;  ///< bytes
  std::uint64_t bytes = 0;
  std::uint64_t chunk = 0;
  std::uint64_t slots = 0;
};

/// Between ranks of one node: the receiver's device writes from the staging memory of the sender. A message
/// of the communicator tells of each, and what comes after it is in the memory that both share.
class SharedTransfer : public Transfer {
 public:
  /// `number`: that no other transfer of the transport has.
  SharedTransfer(HostTransport& transport, std::uint64_t number);
  ~SharedTransfer() override { clear(); }

 private:
  struct Out {
    const Message* message = nullptr;
    Announcement said;
    runtime::Request request;
    std::optional<Lane> lane;
    const SharedStaging* staging = nullptr;
  };
  struct In {
    const Message* message = nullptr;
    Announcement told;
    runtime::Request request;
    std::optional<Lane> lane;  // none before it was announced
    std::shared_ptr<SharedStaging> staging;
  };

  void begin() override;
  [[nodiscard]] bool advance() override;
  void idle() override;
  void give_up() noexcept override { clear(); }
  void clear() noexcept;
  void announce();
  /// Memory with room for the messages of `out_` to this rank, and what they say of it.
  void place(int peer);
  void take(In& in);
  /// Whether any message has come.
  bool look_for_announcements();
  /// Whether any copy has ended or begun.
  bool move_on();
  [[nodiscard]] runtime::DeadlineError stuck() const;

  HostTransport& transport_;
  std::uint64_t number_;
  std::vector<Out> out_;
  std::vector<In> in_;
  std::map<int, std::shared_ptr<SharedStaging>> staging_;  // for what goes to each rank
  std::optional<runtime::Patience> patience_;
};

}  // namespace fabricmark::transport
