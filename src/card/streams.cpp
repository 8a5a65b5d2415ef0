#include "card/streams.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace fabricmark::card {

namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr std::size_t kReadBytes = 65536;
constexpr const char* kLengths = "give both ends of a stream words of one type";

Error other_length(std::size_t written, std::size_t read) {
  return bad_use("words of " + std::to_string(written) + " bytes are read as words of " +
                     std::to_string(read) + " bytes",
                 kLengths);
}

[[noreturn]] void throw_named(const std::string& stream, const Error& error) {
  const Error named(error.code(), stream + ": " + error.cause(), error.remedy());
  if (dynamic_cast<const OtherCardGone*>(&error) != nullptr) throw OtherCardGone(named);
  throw named;
}

}  // namespace

std::optional<Time> Fifo::write(std::span<const std::byte> word, Time wanted, bool waits) {
  std::unique_lock lock(mutex_);
  if (waits) changed_.wait(lock, [this] { return is_stopped_ || words_.size() < depth_; });
  if (is_stopped_) throw Stopped();
  if (words_.size() >= depth_) return std::nullopt;
  Time left = wanted;
  if (unused_ > 0) {
    --unused_;
  } else {
    left = std::max(wanted, freed_.front());
    freed_.pop_front();
  }
  words_.push_back({network::later(left, cycle_), {word.begin(), word.end()}});
  changed_.notify_all();
  return left;
}

std::optional<Time> Fifo::read(std::span<std::byte> word, Time wanted, bool waits) {
  std::unique_lock lock(mutex_);
  if (waits) changed_.wait(lock, [this] { return is_stopped_ || !words_.empty(); });
  if (is_stopped_) throw Stopped();
  if (words_.empty()) return std::nullopt;
  const Word& first = words_.front();
  if (first.bytes.size() != word.size()) throw other_length(first.bytes.size(), word.size());
  const Time taken = std::max(wanted, first.arrives);
  std::ranges::copy(first.bytes, word.begin());
  words_.pop_front();
  freed_.push_back(network::later(taken, cycle_));
  changed_.notify_all();
  return taken;
}

bool Fifo::has_room() {
  const std::scoped_lock lock(mutex_);
  if (is_stopped_) throw Stopped();
  return words_.size() < depth_;
}

bool Fifo::has_word(std::size_t /*bytes*/) {
  const std::scoped_lock lock(mutex_);
  if (is_stopped_) throw Stopped();
  return !words_.empty();
}

void Fifo::stop() {
  const std::scoped_lock lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
}

Cable::Cable(std::filesystem::path socket, bool listens, std::string name, const CableTimes& times)
    : path_(std::move(socket)), listens_(listens), name_(std::move(name)), times_(times) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path_.native().size() >= sizeof(address.sun_path))
    throw environment_failure("the socket " + path_.string() + " has too long a name",
                              "set USER to a short name");
  if (!listens_) return;
  unlink(path_.c_str());  // of a card that was here before
  std::memcpy(address.sun_path, path_.c_str(), path_.native().size());
  listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_.is_open() ||
      bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_.number(), 1) != 0) {
    throw environment_failure(
        "the cable at " + name_ + " cannot be made at " + path_.string() + " (" + std::strerror(errno) + ")",
        "make room there");
  }
}

void Cable::look_for_other() {
  if (listens_) {
    socket_ = FileDescriptor(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return;
  }
  FileDescriptor tried(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path_.c_str(), path_.native().size());
  if (connect(tried.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    socket_ = std::move(tried);
}

const FileDescriptor* Cable::connected(bool waits) {
  while (true) {
    if (is_stopped_) throw Stopped();
    {
      const std::scoped_lock lock(connecting_);
      if (!socket_.is_open()) look_for_other();
      if (socket_.is_open()) return &socket_;
    }
    if (!waits) return nullptr;
    std::this_thread::sleep_for(kLook);
  }
}

bool Cable::is_ready(short what, bool waits) {
  const FileDescriptor* const other = connected(waits);
  if (other == nullptr) return false;
  while (true) {
    if (is_stopped_) throw Stopped();
    pollfd looked{.fd = other->number(), .events = what, .revents = 0};
    const int found = poll(&looked, 1, waits ? static_cast<int>(kLook.count()) : 0);
    if (found > 0) return true;
    if (!waits) return false;
  }
}

void Cable::end_of_cable(bool within_a_word) const {
  const Error gone = environment_failure("the other card at the cable of " + name_ + " has gone",
                                         "see what its host says, and let hosts wait for their kernels");
  if (within_a_word) throw gone;
  throw OtherCardGone(gone);
}

void Cable::put(std::span<const std::byte> bytes) {
  bool is_begun = false;
  while (!bytes.empty()) {
    is_ready(POLLOUT, true);
    const ssize_t sent = send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) end_of_cable(/*within_a_word=*/is_begun);
    is_begun = true;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

std::optional<Time> Cable::write(std::span<const std::byte> word, Time wanted, bool waits) {
  if (!is_ready(POLLOUT, waits)) return std::nullopt;
  if (written_bytes_ == 0) {
    written_bytes_ = word.size();
    const auto told = static_cast<std::uint32_t>(written_bytes_);
    put(std::as_bytes(std::span(&told, 1)));
  }
  if (word.size() != written_bytes_) throw other_length(word.size(), written_bytes_);
  const Time left = std::max(wanted, leaves_);
  leaves_ = network::later(left, times_.of_word(word.size()));
  const Time arrives = network::later(leaves_, times_.latency());
  sent_.resize(sizeof(arrives) + word.size());
  std::memcpy(sent_.data(), &arrives, sizeof(arrives));
  std::ranges::copy(word, sent_.begin() + sizeof(arrives));
  put(sent_);
  return left;
}

bool Cable::fill(std::size_t bytes) {
  while (buffer_.size() - taken_ < bytes) {
    if (!is_ready(POLLIN, false)) return false;
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
    std::array<std::byte, kReadBytes> came;
    const ssize_t got = recv(socket_.number(), came.data(), came.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) end_of_cable(/*within_a_word=*/!buffer_.empty());
    buffer_.insert(buffer_.end(), came.begin(), came.begin() + got);
  }
  return true;
}

void Cable::take(std::span<std::byte> to) {
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(taken_), to.size(), to.begin());
  taken_ += to.size();
}

bool Cable::has_word(std::size_t bytes) {
  if (read_bytes_ == 0) {
    std::uint32_t told = 0;
    if (!fill(sizeof(told))) return false;
    take(std::as_writable_bytes(std::span(&told, 1)));
    read_bytes_ = told;
  }
  if (read_bytes_ != bytes) throw other_length(read_bytes_, bytes);
  return fill(sizeof(Time) + bytes);
}

std::optional<Time> Cable::read(std::span<std::byte> word, Time wanted, bool waits) {
  while (!has_word(word.size())) {
    if (!waits) return std::nullopt;
    is_ready(POLLIN, true);
  }
  Time arrives = 0;
  take(std::as_writable_bytes(std::span(&arrives, 1)));
  take(word);
  return std::max(wanted, arrives);
}

bool Cable::has_room() { return is_ready(POLLOUT, false); }

void End::require(bool writes) const {
  if (writes != writes_) {
    throw bad_use(writes_ ? "it is read, and the link configuration has it write"
                          : "it is written to, and the link configuration has it read",
                  "turn its stream_connect round: from the end that writes to the one that reads");
  }
}

void End::pass(Time at) {
  clock_->now = at;
  next_ = network::later(at, clock_->cycle);
}

bool End::read(void* word, std::size_t bytes, bool waits) try {
  require(false);
  is_waiting_ = waits;
  const std::optional<Time> taken = channel_->read({static_cast<std::byte*>(word), bytes}, wanted(), waits);
  is_waiting_ = false;
  if (taken) pass(*taken);
  return taken.has_value();
} catch (const Error& error) {
  throw_named(name_, error);
}

bool End::write(const void* word, std::size_t bytes, bool waits) try {
  require(true);
  is_waiting_ = waits;
  const std::span given(static_cast<const std::byte*>(word), bytes);
  std::optional<Time> left = wanted();  // of a word that is lost
  if (const WordFault fault = std::exchange(fault_, WordFault::kNone); fault == WordFault::kFlipped) {
    std::vector<std::byte> corrupted(given.begin(), given.end());
    // Of a number's highest byte, where a little-endian one has its sign and exponent.
    corrupted[std::min<std::size_t>(bytes, 4) - 1] ^= std::byte{1};
    left = channel_->write(corrupted, wanted(), waits);
  } else if (fault == WordFault::kNone) {
    left = channel_->write(given, wanted(), waits);
  }
  is_waiting_ = false;
  if (left) pass(*left);
  return left.has_value();
} catch (const Error& error) {
  throw_named(name_, error);
}

bool End::is_ready(std::size_t bytes) { return writes_ ? channel_->has_room() : channel_->has_word(bytes); }

std::string End::waits_for() const {
  if (!is_waiting_) return "";
  return (writes_ ? "room in its stream " : "a word of its stream ") + name_;
}

}  // namespace fabricmark::card
