#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::transport {

/// What a rank tells another of a block of its memory.
struct BlockNote {
  std::uint64_t block = 0;  ///< by its number
  std::uint64_t bytes = 0;  ///< 0: it is gone
};

/// Descriptors between ranks of one host, of the same process too: a Unix socket for each two of them. They
/// meet in a folder that only this user may enter, which is removed when they have, and processes of other
/// users are turned away.
class PeerSockets {
 public:
  /// Collective. Throws Error (environment) where a rank is on another host or no socket can be had.
  explicit PeerSockets(runtime::Communicator& ranks);

  struct Received {
    BlockNote note;
    FileDescriptor file;
  };
  /// Returns at once; `file` may be none. Throws Error (environment) where the peer has ended.
  void send(int peer, const BlockNote& note, const FileDescriptor& file);
  /// What the peer has sent before it sent the message that tells of it. Throws as `send`.
  Received receive(int peer);

 private:
  void connect_to(int rank, const std::string& address);
  void accept(const FileDescriptor& listener, int count);
  [[nodiscard]] const FileDescriptor& socket_to(int peer) const {
    return sockets_[static_cast<std::size_t>(peer)];
  }
  [[nodiscard]] Error has_ended(int peer) const;

  runtime::Communicator& ranks_;
  std::vector<FileDescriptor> sockets_;  // [rank]; none to this one
};

}  // namespace fabricmark::transport
