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
      : std::runtime_error(cause + "; " + remedy), code_(code), cause_length_(cause.size()) {}
  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] std::string cause() const { return {what(), cause_length_}; }
  [[nodiscard]] std::string remedy() const { return what() + cause_length_ + 2; }

 private:
  ExitCode code_;
  std::size_t cause_length_;  // copies of an exception must not throw
};

inline Error bad_use(const std::string& cause, const std::string& remedy) {
  return {ExitCode::kBadUse, cause, remedy};
}
inline Error environment_failure(const std::string& cause, const std::string& remedy) {
  return {ExitCode::kEnvironment, cause, remedy};
}

}  // namespace fabricmark
