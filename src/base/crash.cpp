#include "base/crash.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's sigaction
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/forbidden_pages.hpp"

namespace fabricmark {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif
#else
constexpr bool kHasSanitizer = false;
#endif

struct Fatal {
  int number;
  std::string_view cause;
};
constexpr std::array kFatal{
    Fatal{SIGSEGV, "memory was touched that is not the program's (signal 11, SIGSEGV)"},
    Fatal{SIGBUS, "memory was touched that is not there (signal 7, SIGBUS)"},
    Fatal{SIGILL, "an instruction was met that this processor does not have (signal 4, SIGILL)"},
    Fatal{SIGABRT, "a library gave up (signal 6, SIGABRT)"},
};

std::atomic<bool> leaves_libraries = false;
// What a signal handler may look at. Plain memory that is never released.
std::atomic<const char*> started{nullptr};
std::atomic<const char*> program_name{"fabricmark"};
std::atomic<const char*> published{nullptr};
std::atomic_flag has_crashed;

/// A line in memory of its own: a handler must not allocate.
class Line {
 public:
  void add(std::string_view text) {
    for (const char letter : text) {
      if (length_ < text_.size()) text_[length_++] = letter;
    }
  }
  void add(std::size_t number) {
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    while (count > 0) add(std::string_view(&digits[--count], 1));
  }
  void print() const { [[maybe_unused]] const auto written = write(STDERR_FILENO, text_.data(), length_); }

 private:
  std::array<char, 512> text_{};
  std::size_t length_ = 0;
};

void add_cause(Line& line, int number, const void* address) {
  const bool has_address = number == SIGSEGV || number == SIGBUS;
  if (const std::optional<Forbidden> found = has_address ? forbidden_at(address) : std::nullopt) {
    line.add("memory was touched ");
    line.add(found->away);
    line.add(found->is_behind ? " bytes behind " : " bytes before ");
    line.add(found->memory != nullptr ? found->memory : "a buffer");
    return;
  }
  for (const Fatal& one : kFatal) {
    if (one.number == number) line.add(one.cause);
  }
}

}  // namespace

void speak_of_crash(int number, siginfo_t* info, void* /*context*/) {
  if (has_crashed.test_and_set()) _exit(static_cast<int>(ExitCode::kEnvironment));
  Line line;
  line.add(program_name.load());
  line.add(": error: ");
  add_cause(line, number, info->si_addr);
  if (const char* const kernel = started.load(); kernel != nullptr) {
    line.add("; the kernel '");
    line.add(kernel);
    line.add(
        "' was started last: check that it stays inside its buffers, or use another device or runtime\n");
  } else {
    line.add("; no kernel had been started: use another device or runtime (OCL_ICD_VENDORS)\n");
  }
  line.print();
  end_without_result(static_cast<int>(ExitCode::kEnvironment));
}

void speak_when_crashing(const std::string& program) {
  program_name = lasting_name(program);
  if (kHasSanitizer) return;
  struct sigaction action {};
  action.sa_sigaction = speak_of_crash;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_NODEFER | SA_ONSTACK);
  for (const Fatal& one : kFatal) sigaction(one.number, &action, nullptr);
}

void note_start(const char* name) { started.store(name, std::memory_order_relaxed); }

const char* started_kernel() { return started.load(std::memory_order_relaxed); }

const char* lasting_name(const std::string& name) {
  static std::mutex mutex;
  static auto* const names = new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return names->insert(name).first->c_str();
}

void remove_when_crashing(const std::string& file) {
  struct stat state {};
  if (lstat(file.c_str(), &state) == 0 && S_ISREG(state.st_mode)) published = lasting_name(file);
}

void leave_libraries_as_they_are() { leaves_libraries.store(true, std::memory_order_relaxed); }

bool leaves_libraries_as_they_are() { return leaves_libraries.load(std::memory_order_relaxed); }

void end_without_result(int exit_code) {
  if (const char* const file = published.load(); file != nullptr) unlink(file);
  _exit(exit_code);
}

}  // namespace fabricmark
