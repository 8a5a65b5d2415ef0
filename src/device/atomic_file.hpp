#pragma once

#include <filesystem>
#include <string_view>

namespace fabricmark {

/// Replaces `path` by `content` so that a reader sees the old file or the whole new one, whenever this
/// process dies. Makes missing folders. Throws Error (bad use) naming the path when it cannot be written.
void write_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace fabricmark
