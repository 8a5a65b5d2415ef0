// fabricmark-card: an emulated board under AMD's XRT. The runtime starts it in the place of Vitis' device
// process when XCL_EMULATION_MODE is sw_emu; it connects to the runtime's socket and answers its calls until
// that closes.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/host.hpp"
#include "base/number_from.hpp"
#include "base/steady_seconds.hpp"
#include "card/service.hpp"

namespace {

using namespace fabricmark;
using card::Service;

constexpr double kUsualKernelSeconds = 600;
constexpr double kCallSeconds = 60;
constexpr std::chrono::milliseconds kLook{100};

void say(const std::string& text) {
  const std::string line = "fabricmark-card: error: " + text + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // who reads it has gone
}

/// By a signal, as the runtime waits for ever for a card that ends in any other way.
[[noreturn]] void die(const std::string& text) {
  say(text);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Of a kernel that touches what is not its own.
void speak_of_signal(int number) {
  const char* const unit = card::unit_of_this_thread();
  std::array<char, 256> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "fabricmark-card: error: %s%s ended with signal %d; %s\n",
                    unit != nullptr ? "the kernel of " : "the emulated card", unit != nullptr ? unit : "",
                    number, "look for an access outside of its buffers, or report it");
  if (write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)) < 0) number = SIGKILL;
  signal(number, SIG_DFL);
  raise(number);
}

card::Sharing sharing() {
  const std::string given = environment("FABRICMARK_CARD_MEMORY");
  if (given == "private") return card::Sharing::kPrivate;
  if (!given.empty() && given != "shared")
    throw bad_use("FABRICMARK_CARD_MEMORY=" + given + " is no kind of memory", "use shared or private");
  return card::Sharing::kFiles;
}

double kernel_seconds() {
  const std::string given = environment("FABRICMARK_CARD_SECONDS");
  if (given.empty()) return kUsualKernelSeconds;
  const double seconds = number_from<double>(given).value_or(0);
  if (!(seconds > 0))
    throw bad_use("FABRICMARK_CARD_SECONDS=" + given + " are no seconds", "give a number above 0");
  return seconds;
}

/// The socket at which the runtime listens.
std::string socket_path() {
  const std::string user = environment("USER"), given = environment("EMULATION_SOCKETID");
  return user.empty() ? "/tmp/xcl_sock" : "/tmp/" + user + "/" + (given.empty() ? "xcl_sock" : given);
}

/// Cables lie beside that; the runtime names its socket deviceN_..., by the card's number.
card::CablePlace cables() {
  constexpr std::string_view kPrefix = "device";
  const std::string given = environment("EMULATION_SOCKETID");
  const bool is_known = given.starts_with(kPrefix);
  const std::string number = is_known ? given.substr(kPrefix.size(), given.find('_') - kPrefix.size()) : "";
  return {std::filesystem::path(socket_path()).parent_path(), number_from<int>(number).value_or(-1),
          card::modelling_of_environment()};
}

FileDescriptor connected() {
  const std::string path = socket_path();
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path))
    throw environment_failure("the socket " + path + " has too long a name", "set USER to a short name");
  std::memcpy(address.sun_path, path.data(), path.size());
  FileDescriptor socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  constexpr int kTries = 500;
  constexpr std::chrono::milliseconds kBetween{10};
  for (int i = 0; i < kTries; ++i, std::this_thread::sleep_for(kBetween)) {
    if (connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return socket_;
  }
  throw environment_failure("the runtime does not listen at " + path + " (" + std::strerror(errno) + ")",
                            "start it by a program under XCL_EMULATION_MODE=sw_emu");
}

/// False where the runtime has gone.
bool receive(const FileDescriptor& from, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(from.number(), to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool send_all(const FileDescriptor& to, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t put = send(to.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    sent += static_cast<std::size_t>(put);
  }
  return true;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", seconds);
  return text.data();
}

/// Ends the card when a call is not answered or a kernel does not end: XRT itself waits for ever for both.
/// And when the host's process has gone: not its thread that started the card (PR_SET_PDEATHSIG), which is a
/// rank that may end before the others.
void watch(const Service& service, const std::atomic<double>& answering_since, double most_seconds,
           pid_t host) {
  const double call_seconds = std::min(kCallSeconds, most_seconds);
  for (;; std::this_thread::sleep_for(kLook)) {
    if (getppid() != host) std::_Exit(EXIT_FAILURE);
    const double since = answering_since;
    if (since > 0 && steady_seconds() - since > call_seconds)
      die("a call of the runtime was not answered within " + seconds_text(call_seconds) + "; report it");
    if (const std::string failure = service.failure(); !failure.empty()) die(failure);
    const std::string unit = service.running_for(most_seconds);
    if (!unit.empty()) {
      die("the kernel of " + unit + " has not ended within " + seconds_text(most_seconds) +
          "; check it, or set FABRICMARK_CARD_SECONDS to more");
    }
  }
}

void serve(const FileDescriptor& runtime, Service& service, std::atomic<double>& answering_since) {
  std::string head(card::Header::kBytes, '\0');
  while (!service.is_closed() && receive(runtime, head.data(), head.size())) {
    const card::Header header = card::header(head);
    if (header.bytes > card::kMostBytes) throw card::Malformed("a message of more than 2 GiB");
    std::string message(header.bytes, '\0');
    if (!receive(runtime, message.data(), message.size())) return;
    answering_since = steady_seconds();
    const std::string answer = service.answer(header.call, card::Fields(message));
    answering_since = 0;
    if (!send_all(runtime, card::answer_header(answer.size()) + answer)) return;
  }
}

}  // namespace

int main() {
  const pid_t host = getppid();
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) signal(number, speak_of_signal);
  // XRT does not see that a card ends in any other way: its next call waits for ever, or ends the program
  // with code 0.
  const auto refuse = [] { die("a kernel called exit; let it return"); };
  if (std::atexit(refuse) != 0) die("the end of the emulated card cannot be waited for; free some memory");
  try {
    // Never destroyed: the watching thread looks at both when an error is on its way out.
    auto& service = *new Service(sharing(), card::fault_of(environment("FABRICMARK_CARD_FAULT")), cables());
    auto& answering_since = *new std::atomic<double>(0);
    const FileDescriptor runtime = connected();
    std::thread(watch, std::cref(service), std::cref(answering_since), kernel_seconds(), host).detach();
    serve(runtime, service, answering_since);
    std::_Exit(EXIT_SUCCESS);  // kernels may still run, for nobody
  } catch (const Error& error) {
    die(error.what());
  } catch (const card::Malformed& error) {
    die(std::string("the runtime sent ") + error.what() + "; use XRT 2.13, or report it");
  } catch (const std::exception& error) {
    die(std::string(error.what()) + "; report it");
  }
}
