#include "runtime/outside_transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::runtime {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDescription = "transport.toml";

std::vector<fs::path> below(const std::string& named) {
  std::error_code ignored;
  const fs::path folder = fs::canonical(named, ignored);  // without a slash at its end
  std::vector<fs::path> found;
  if (!folder.empty() && fs::exists(folder / kDescription, ignored)) return {folder / kDescription};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::exists(entry.path() / kDescription, ignored)) found.push_back(entry.path() / kDescription);
  }
  if (found.empty()) {
    throw bad_use(
        fmt::format("{}: no {} is in '{}' or right below it", kTransportFolders, kDescription, named),
        "name folders of transports, with colons between");
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<fs::path> outside_transports() {
  std::istringstream list(environment(kTransportFolders));
  std::vector<fs::path> found;
  for (std::string folder; std::getline(list, folder, ':');) {
    if (folder.empty()) continue;
    for (const fs::path& description : below(folder)) {
      const std::string name = description.parent_path().filename().string();
      if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
          name.front() < 'a' || name == "none") {
        throw bad_use(fmt::format("'{}': its folder's name is no transport's", description.string()),
                      "use small letters, digits and _, a letter first; none stands for no transport");
      }
      found.push_back(description);
    }
  }
  return found;
}

fs::path outside_library(const fs::path& description) {
  const fs::path folder = description.parent_path();
  return folder / ("lib" + folder.filename().string() + ".so");
}

}  // namespace fabricmark::runtime
