#pragma once

#include <filesystem>
#include <string_view>

namespace fabricmark {

/// Replaces `path` by `content` so that a reader sees the old file or the whole new one, whenever this
/// process dies. Makes missing folders. Of a link the file is replaced that it leads to; a device, a pipe or
/// a stream of this process (/dev/stdout) is written into, never replaced. Throws Error naming the path when
/// it cannot be written: environment when the disk is full or broken, else bad use. `write_atomically` of
/// Python's `base/paths.py` does the same.
void write_atomically(const std::filesystem::path& path, std::string_view content);

/// Writes to standard output. Throws Error (environment) when that is closed or full; ends the process by
/// SIGPIPE, as other programs do, when its reader has gone.
void write_standard_output(std::string_view content);

/// Keeps standard streams that were closed from being handed out for other files, which would then be
/// written into. Writing to one still fails. To be called before any file is opened.
void occupy_closed_streams();

}  // namespace fabricmark
