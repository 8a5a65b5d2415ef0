#pragma once

#include <optional>
#include <string>

#include "runtime/result.hpp"

namespace fabricmark::runtime {

/// To be called once, first in a program: what `hold_result` holds then comes out when all that was loaded
/// and made since has been closed, the last thing that this process does. So a run that crashes or hangs at
/// its end has no result.
void publish_at_exit(const std::string& program);
/// To be called where a program has done its work, whatever came of it. A process that ends before was ended
/// by a library: then a line says so, nothing comes out, and the exit code is 3 (environment). Returns the
/// exit code, or ends the process where libraries are left as they are (base/crash.hpp).
int note_return(int exit_code);

/// Holds a result for `json` ("-": standard output) and, where standard output is free for it, `text`, which
/// is its table or line. What cannot be written then makes one line and the exit code; the result is in the
/// folder of temporary files, which the line names.
void hold_result(const Result& result, const std::optional<std::string>& json, const std::string& text);

/// Writes what is held now: of processes under a launcher, which ends all of them once one has ended with
/// another code than 0. Throws Error where nothing takes it.
void publish_now();

/// Where the run did not end well after all.
void drop_result();

}  // namespace fabricmark::runtime
