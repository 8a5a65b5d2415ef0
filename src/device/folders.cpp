#include "device/folders.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/program.hpp"

namespace fabricmark::device {

namespace {

namespace fs = std::filesystem;

constexpr off_t kPoclBytes = off_t{4} << 20;  // a kernel's files take well below 1 MiB
constexpr const char* kRemedy = "free some space, or name another folder with POCL_CACHE_DIR";

/// Of a variable, as the XDG standard asks: what is not absolute counts as not set.
fs::path absolute_in(const char* variable) {
  const fs::path folder = environment(variable);
  return folder.is_absolute() ? folder : fs::path();
}

/// Without HOME, as in a service, that of the user's account: never the folder that the program runs in.
fs::path home_folder() {
  if (const fs::path home = absolute_in("HOME"); !home.empty()) return home;
  const passwd* const account = getpwuid(getuid());
  const fs::path home = account != nullptr && account->pw_dir != nullptr ? account->pw_dir : "";
  return home.is_absolute() ? home : fs::path();
}

/// As in pocl_cache_init_topdir of PoCL 3.1.
fs::path pocl_cache_folder() {
  if (std::string folder = environment("POCL_CACHE_DIR"); !folder.empty()) return folder;
  if (const fs::path folder = environment("XDG_CACHE_HOME"); !folder.empty())
    return folder / "pocl" / "kcache";
  const char* const home = std::getenv("HOME");
  return home != nullptr ? fs::path(home) / ".cache" / "pocl" / "kcache" : fs::path("/tmp/pocl/kcache");
}

/// 0, or the errno of why no file of `bytes` fits into the folder, or into the first above it that is there.
int lack_of_room(fs::path folder, off_t bytes) {
  std::error_code ignored;
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  if (folder.empty()) folder = ".";
  std::string name = (folder / ".room.XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return errno;
  const int reason = ::posix_fallocate(file, 0, bytes);
  ::close(file);
  ::unlink(name.c_str());
  return reason == EINVAL || reason == EOPNOTSUPP ? 0 : reason;  // a file system that cannot say
}

/// Makes it where it is not there. Somebody else's folder of this name may hold somebody else's kernels.
bool is_own_folder(const fs::path& folder) {
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat about {};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == getuid() &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

fs::path cache_folder() {
  if (std::string folder = environment("FABRICMARK_CACHE"); !folder.empty()) return folder;
  if (const fs::path folder = absolute_in("XDG_CACHE_HOME"); !folder.empty()) return folder / "fabricmark";
  const fs::path home = home_folder();
  return home.empty() ? home : home / ".cache" / "fabricmark";
}

std::optional<std::string> trouble_with_pocl_cache() {
  const fs::path folder = pocl_cache_folder();
  const int reason = lack_of_room(folder, kPoclBytes);
  if (reason == 0) return std::nullopt;
  return "its cache '" + folder.string() + "' cannot be written (" + std::strerror(reason) + ")";
}

void prepare_pocl_cache() {
  if (!environment("POCL_CACHE_DIR").empty() || !trouble_with_pocl_cache()) return;
  std::error_code failed;
  for (const fs::path& temporary :
       {fs::temp_directory_path(failed), fs::path("/tmp"), fs::path("/var/tmp")}) {
    if (temporary.empty()) continue;
    const fs::path own = temporary / ("fabricmark-pocl-" + std::to_string(getuid()));
    if (!is_own_folder(own) || lack_of_room(own, kPoclBytes) != 0) continue;
    setenv("POCL_CACHE_DIR", own.c_str(), /*overwrite=*/1);
    return;
  }
}

void check_runtime_cache(const DeviceInfo& info) {
  if (!info.is_of_pocl()) return;
  if (const std::optional<std::string> trouble = trouble_with_pocl_cache()) {
    throw environment_failure("PoCL cannot build kernels: " + *trouble, kRemedy);
  }
}

}  // namespace fabricmark::device
