#pragma once

#include <stdexcept>
#include <string>

namespace fabricmark {

/// What a program ends with; the same on every rank.
enum class ExitCode : int {
  kValid = 0,          ///< every check passed
  kInvalidResult = 1,  ///< a result is wrong
  kBadUse = 2,         ///< options, files or parameters that cannot be used
  kEnvironment = 3,    ///< no device, no memory, a driver or a peer that failed
};

/// A failure that a user can act on: one line that names the cause and the remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& cause, const std::string& remedy)
      : std::runtime_error(cause + "; " + remedy), code_(code), cause_(cause), remedy_(remedy) {}
  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const std::string& cause() const { return cause_; }
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  ExitCode code_;
  std::string cause_;
  std::string remedy_;
};

inline Error bad_use(const std::string& cause, const std::string& remedy) {
  return {ExitCode::kBadUse, cause, remedy};
}
inline Error environment_failure(const std::string& cause, const std::string& remedy) {
  return {ExitCode::kEnvironment, cause, remedy};
}

}  // namespace fabricmark
