#include "runtime/publish.hpp"

#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;

/// Where the result is now that `failure` kept it from its place; throws `failure` where nothing takes it.
std::string rescued(const Result& result, const Error& failure) {
  std::error_code ignored;
  const fs::path folder = fs::temp_directory_path(ignored);
  const fs::path file = folder / (result.program + "-result-" + std::to_string(getpid()) + ".json");
  try {
    write_atomically(file, to_json(result));
  } catch (const Error&) {
    throw failure;
  }
  return file.string();
}

}  // namespace

void publish(const Result& result, const std::optional<std::string>& json) {
  const bool is_piped = json && *json == "-";
  const bool is_filed = json && !is_piped;
  try {
    if (is_filed) write_atomically(*json, to_json(result));
    if (is_piped) write_standard_output(to_json(result));
  } catch (const Error& failure) {
    throw Error(failure.code(), failure.what(), "the result is in '" + rescued(result, failure) + "'");
  }
  if (is_piped) return;
  try {
    write_standard_output(to_table(result, terminal_width()));
  } catch (const Error& failure) {
    // A wrong result stays one, whoever can read that.
    const bool is_valid = result.exit_code == static_cast<int>(ExitCode::kValid);
    throw Error(is_valid ? failure.code() : static_cast<ExitCode>(result.exit_code), failure.what(),
                "the result is in '" + (is_filed ? *json : rescued(result, failure)) + "'");
  }
}

}  // namespace fabricmark::runtime
