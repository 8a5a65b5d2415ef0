#pragma once

#include <csignal>
#include <string>

namespace fabricmark {

/// From here on a signal that ends the process for its own fault (SIGSEGV, SIGBUS, SIGILL, SIGABRT) makes one
/// line with cause and remedy and exit code 3 (environment). To be called before other libraries are loaded,
/// which may want some of these for themselves. Not in a library, and without effect under a sanitizer, whose
/// report says more.
void speak_when_crashing(const std::string& program);

/// What it does then, as a handler of signals: for handlers that stand before it and have nothing to say.
void speak_of_crash(int number, siginfo_t* info, void* context);

/// Which kernel was started last in this process: what a crash or a wait without end is likely to be about.
/// `name` lives until the process ends (`lasting_name`).
void note_start(const char* name);
[[nodiscard]] const char* started_kernel();
/// A copy that is never released; the same one for equal names.
const char* lasting_name(const std::string& name);

/// Removes `file`, where it is a regular one, if this process crashes from here on: the result of a run that
/// did not end well is none.
void remove_when_crashing(const std::string& file);
/// Ends the process at once, as a crash does.
[[noreturn]] void end_without_result(int exit_code);

/// From here on a program that has returned leaves the process without what its libraries do at its end: one
/// of them does not survive it.
void leave_libraries_as_they_are();
[[nodiscard]] bool leaves_libraries_as_they_are();

}  // namespace fabricmark
