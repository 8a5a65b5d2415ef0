#include "transport/nvlink/peer_sockets.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::transport {

namespace {

constexpr const char* kElse = "use --transport host";

Error failed(const char* what) {
  return environment_failure(fmt::format("{} failed between ranks of this host ({})", what,
                                         std::error_code(errno, std::generic_category()).message()),
                             kElse);
}

/// A folder of this user's alone, removed with all that is in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fabricmark-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw failed("making a folder for sockets");
    folder_ = name;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] std::string socket() const { return (folder_ / "socket").string(); }

 private:
  std::filesystem::path folder_;
};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw environment_failure(fmt::format("the path of the socket '{}' is too long", path),
                              "let TMPDIR name a folder with a shorter path");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

FileDescriptor made() {
  // Packets keep what is told of a block and its descriptor together.
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) throw failed("making a socket");
  return socket;
}

FileDescriptor listening_at(const std::string& path, int others) {
  FileDescriptor socket = made();
  const sockaddr_un address = address_of(path);
  if (bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(socket.number(), std::max(1, others)) != 0)
    throw failed("offering a socket");
  return socket;
}

void require_own_user(const FileDescriptor& socket) {
  ucred other{};
  socklen_t size = sizeof(other);
  if (getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) throw failed("SO_PEERCRED");
  if (other.uid == geteuid()) return;
  throw environment_failure(
      fmt::format("a process of the user {} has answered in the place of a rank", other.uid),
      "start all ranks as the same user, or use --transport host");
}

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int));

}  // namespace

PeerSockets::PeerSockets(runtime::Communicator& ranks)
    : ranks_(ranks), sockets_(static_cast<std::size_t>(ranks.size())) {
  const PrivateFolder folder;
  const FileDescriptor listener = listening_at(folder.socket(), ranks.size());
  const std::vector<std::string> hosts = ranks.all_gather_texts(describe_host().name);
  const std::vector<std::string> addresses = ranks.all_gather_texts(folder.socket());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (hosts[static_cast<std::size_t>(rank)] == hosts.front()) continue;
    throw environment_failure(
        fmt::format("rank {} is on {}, and rank 0 on {}: their GPUs share no memory", ranks.in_world(rank),
                    hosts[static_cast<std::size_t>(rank)], hosts.front()),
        "start them on one host, or use --transport host");
  }
  for (int rank = 0; rank < ranks.rank(); ++rank) connect_to(rank, addresses[static_cast<std::size_t>(rank)]);
  accept(listener, ranks.size() - 1 - ranks.rank());
  ranks.barrier();  // nobody needs the folder any more
}

void PeerSockets::connect_to(int rank, const std::string& address) {
  FileDescriptor socket = made();
  const sockaddr_un named = address_of(address);
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&named), sizeof(named)) != 0)
    throw failed("reaching a socket");
  require_own_user(socket);
  const int own = ranks_.rank();
  if (::send(socket.number(), &own, sizeof(own), MSG_NOSIGNAL) != sizeof(own)) throw has_ended(rank);
  sockets_[static_cast<std::size_t>(rank)] = std::move(socket);
}

void PeerSockets::accept(const FileDescriptor& listener, int count) {
  constexpr int kLookMs = 20;
  runtime::Patience patience(ranks_, runtime::Waiting::kSleep, ranks_.timeout());
  for (int i = 0; i < count; ++i) {
    pollfd waiting{listener.number(), POLLIN, 0};
    while (poll(&waiting, 1, kLookMs) == 0) {
      if (patience.is_over()) throw runtime::DeadlineError("a rank has not come to its socket");
    }
    FileDescriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) throw failed("taking a socket");
    require_own_user(socket);
    int rank = -1;
    if (recv(socket.number(), &rank, sizeof(rank), 0) != sizeof(rank) || rank <= ranks_.rank() ||
        rank >= ranks_.size())
      throw failed("meeting at a socket");
    sockets_[static_cast<std::size_t>(rank)] = std::move(socket);
  }
}

Error PeerSockets::has_ended(int peer) const {
  return environment_failure(fmt::format("rank {} has ended", ranks_.in_world(peer)),
                             "see its own message, or the log of the node");
}

void PeerSockets::send(int peer, const BlockNote& note, const FileDescriptor& file) {
  BlockNote said = note;
  iovec part{&said, sizeof(said)};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file.is_open()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = file.number();
    std::memcpy(CMSG_DATA(header), &number, sizeof(number));
  }
  if (sendmsg(socket_to(peer).number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(said)) return;
  if (errno == EPIPE || errno == ECONNRESET) throw has_ended(peer);
  throw failed("sending a descriptor");
}

PeerSockets::Received PeerSockets::receive(int peer) {
  Received received;
  iovec part{&received.note, sizeof(received.note)};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t bytes = recvmsg(socket_to(peer).number(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (bytes == 0) throw has_ended(peer);
  if (bytes != sizeof(received.note)) throw failed("receiving a descriptor");
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    int number = FileDescriptor::kNone;
    std::memcpy(&number, CMSG_DATA(header), sizeof(number));
    received.file = FileDescriptor(number);
  }
  return received;
}

}  // namespace fabricmark::transport
