#include "runtime/publish.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "runtime/complain.hpp"

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;

/// Texts only: when they are written, nothing that makes them is left.
struct Held {
  std::string program;
  std::string content;
  std::string table;
  std::optional<std::string> json;
  int exit_code = 0;
};

struct Publication {
  std::mutex mutex;
  std::string program;
  std::unique_ptr<Held> held;
  std::optional<Watched> watched;  ///< that all is closed in time
  std::atomic<bool> has_returned = false;
};

/// Never destroyed, as the end of the process looks at it.
Publication& publication() {
  static auto* const one = new Publication;
  return *one;
}

/// Where the result is now that `failure` kept it from its place; throws `failure` where nothing takes it.
std::string rescued(const Held& held, const Error& failure) {
  std::error_code ignored;
  const fs::path folder = fs::temp_directory_path(ignored);
  const fs::path file = folder / (held.program + "-result-" + std::to_string(getpid()) + ".json");
  try {
    write_atomically(file, held.content);
  } catch (const Error&) {
    throw failure;
  }
  return file.string();
}

void publish(const Held& held) {
  const bool is_piped = held.json && *held.json == "-";
  const bool is_filed = held.json && !is_piped;
  try {
    if (is_filed) write_atomically(*held.json, held.content);
    if (is_piped) write_standard_output(held.content);
  } catch (const Error& failure) {
    throw Error(failure.code(), failure.what(), "the result is in '" + rescued(held, failure) + "'");
  }
  if (is_filed) remove_when_crashing(*held.json);
  if (is_piped) return;
  try {
    write_standard_output(held.table);
  } catch (const Error& failure) {
    // A wrong result stays one, whoever can read that.
    const bool is_valid = held.exit_code == static_cast<int>(ExitCode::kValid);
    throw Error(is_valid ? failure.code() : static_cast<ExitCode>(held.exit_code), failure.what(),
                "the result is in '" + (is_filed ? *held.json : rescued(held, failure)) + "'");
  }
}

void publish_held() {
  if (!publication().has_returned) {  // XRT does so, with code 0, when it loses a board that it emulates
    complain(publication().program,
             "a library ended the program before its work was done; see what it printed, and look for a "
             "device that does not answer any more");
    end_without_result(static_cast<int>(ExitCode::kEnvironment));
  }
  try {
    publish_now();
  } catch (const Error& failure) {
    complain(publication().program, failure.what());
    _exit(static_cast<int>(failure.code()));
  }
}

}  // namespace

void publish_at_exit(const std::string& program) {
  publication().program = program;
  if (std::atexit(publish_held) != 0) {
    throw environment_failure("the end of the process cannot be waited for", "free some memory");
  }
}

int note_return(int exit_code) {
  publication().has_returned = true;
  if (!leaves_libraries_as_they_are()) return exit_code;
  publish_held();
  static_cast<void>(std::fflush(nullptr));
  _exit(exit_code);
}

void hold_result(const Result& result, const std::optional<std::string>& json, const std::string& text) {
  auto held = std::make_unique<Held>(Held{result.program, to_json(result), text, json, result.exit_code});
  const std::scoped_lock lock(publication().mutex);
  publication().held = std::move(held);
  publication().watched.emplace(Awaiting::kEnd);
}

void publish_now() {
  const std::scoped_lock lock(publication().mutex);
  publication().watched.reset();
  const std::unique_ptr<Held> held = std::move(publication().held);
  if (held) publish(*held);
}

void drop_result() {
  const std::scoped_lock lock(publication().mutex);
  publication().held.reset();
}

}  // namespace fabricmark::runtime
