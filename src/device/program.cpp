#include "device/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "device/crash_line.hpp"
#include "device/folders.hpp"

namespace fabricmark::device {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> file_content(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// What follows a token and the blanks before and after it. By hand: std::regex overflows the stack on very
/// long lines.
std::optional<std::string_view> after(std::string_view token, std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\f\v";
  const auto skip_blanks = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  };
  skip_blanks();
  if (!line.starts_with(token)) return std::nullopt;
  line.remove_prefix(token.size());
  skip_blanks();
  return line;
}

/// What follows #include in a line.
std::optional<std::string_view> after_include(std::string_view line) {
  const std::optional<std::string_view> directive = after("#", line);
  return directive ? after("include", *directive) : std::nullopt;
}

/// The name in quotes that a text begins with.
std::optional<std::string> quoted_name(std::string_view text) {
  if (!text.starts_with('"')) return std::nullopt;
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos || end == 1) return std::nullopt;
  return std::string(text.substr(1, end - 1));
}

/// Whether a path lies in a folder or below it; both without links.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// Without links as far as it exists, however long its name is.
fs::path without_links(const fs::path& path) {
  std::error_code ignored;
  const fs::path found = fs::weakly_canonical(path, ignored);
  return found.empty() ? path : found;
}

/// Whether the lines of a file so far stand between an #if and its #endif; the guard that a whole file stands
/// in is none.
class Conditions {
 public:
  void read(const std::string& line) {
    const std::optional<std::string_view> what = after("#", line);
    if (!what) return;
    const bool is_guard = !has_directives_ && what->starts_with("ifndef");
    has_directives_ = true;
    if (what->starts_with("if") && !is_guard) ++depth_;
    if (what->starts_with("endif") && depth_ > 0) --depth_;
  }
  [[nodiscard]] bool any() const { return depth_ > 0; }

 private:
  int depth_ = 0;
  bool has_directives_ = false;
};

/// Puts included files in their place.
class Expansion {
 public:
  Expansion(const fs::path& file, const fs::path& root, std::int64_t replicas, const fs::path& own)
      : root_(without_links(root)),
        own_(own.empty() ? without_links(file).parent_path() : without_links(own)),
        replicas_(replicas),
        included_{without_links(file)} {
    add(file, false);
  }
  [[nodiscard]] Source source() const { return {text_.str(), files_}; }

 private:
  void add(const fs::path& file, bool is_conditional) {
    const std::optional<std::string> content = file_content(file);
    if (!content) {
      throw bad_use("cannot read the kernel file '" + file.string() + "'",
                    "check its name and the files it includes");
    }
    if (replica_ == 0) keep(without_links(file), *content);
    std::istringstream lines(*content);
    std::string line;
    Conditions conditions;
    for (int number = 1; std::getline(lines, line); ++number) {
      conditions.read(line);
      const std::string_view what = after_include(line).value_or("");
      const std::optional<std::string> name = quoted_name(what);
      if (name) {
        const fs::path found = found_for(without_links(file).parent_path(), *name);
        include(found, is_conditional || conditions.any());
      } else if (what.starts_with("__FILE__")) {
        add_replica(file);
      } else {
        text_ << line << '\n';
        continue;
      }
      text_ << "#line " << number + 1 << '\n';  // so that the compiler's messages count this file's lines
    }
  }

  /// Once, as files with guards are; but what one branch of an #if names may be all that the compiler sees,
  /// so that it is no reason to leave the file out elsewhere.
  void include(const fs::path& found, bool is_conditional) {
    if (included_.contains(found) || !open_.insert(found).second) return;
    if (!is_conditional) included_.insert(found);
    add(found, is_conditional);
    open_.erase(found);
  }

  /// The kernel file's folder comes first, for what files of the suite include too: else a changed copy of a
  /// header would be taken or not by who includes it.
  [[nodiscard]] fs::path found_for(const fs::path& beside, const std::string& name) const {
    std::vector<fs::path> places;
    if (is_below(beside, root_)) {
      places.push_back(own_ / beside.lexically_relative(root_) / name);
      places.push_back(own_ / name);
      places.push_back(beside / name);
    } else {
      places.push_back(beside / name);
      places.push_back(own_ / name);
    }
    // Of a copied folder of the suite: "hpl/types.h" is types.h there.
    if (*fs::path(name).begin() == own_.filename()) places.push_back(own_.parent_path() / name);
    for (const fs::path& place : places) {
      std::error_code ignored;  // a name too long for a path is one that cannot be read
      if (fs::exists(place, ignored)) return without_links(place);
    }
    return without_links(root_ / name);
  }

  void keep(const fs::path& file, const std::string& content) {
    const bool is_shipped = is_below(file, root_);
    if (!kept_.insert(file).second) return;
    files_.push_back({file.lexically_relative(is_shipped ? root_ : own_).string(), content_digest(content),
                      /*is_own=*/!is_shipped});
  }

  void add_replica(const fs::path& file) {
    if (++replica_ >= replicas_) return;
    text_ << "#undef FM_REPLICA\n#define FM_REPLICA " << replica_ << "\n#line 1\n";
    add(file, false);
  }

  fs::path root_;
  fs::path own_;  // folder of the kernel file, or of the benchmark whose kernel it is
  std::int64_t replicas_;
  std::int64_t replica_ = 0;
  std::set<fs::path> included_;
  std::set<fs::path> open_;  // whose lines are being added
  std::set<fs::path> kept_;
  std::vector<SourceFile> files_;
  std::ostringstream text_;
};

std::string compiler_options(const Definitions& definitions) {
  // Argument info is for signature.hpp. Without -w PoCL counts warnings on standard error, as of vectors that
  // are wider than the processor's.
  std::string options =
      definitions.contains(kSyclOption) ? kSyclOption : "-cl-std=CL1.2 -cl-kernel-arg-info -w";
  for (const auto& [name, value] : definitions) {
    if (name == kSyclOption) continue;
    options += name.starts_with('-') ? " " + name : " -D" + name + "=" + value;
  }
  return options;
}

/// The compiler's first line that speaks of an error, without its line breaks.
std::string first_complaint(const std::string& log) {
  std::istringstream lines(log);
  std::string line;
  std::string first;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler gave no reason" : first;
}

// A cached binary carries its own digest, so that a damaged file is noticed before a driver sees it.
std::optional<std::string> cached_binary(const fs::path& path) {
  const std::optional<std::string> content = file_content(path);
  if (!content || content->size() < 32) return std::nullopt;
  std::string binary = content->substr(32);
  if (content->compare(0, 32, content_digest(binary)) != 0) return std::nullopt;
  return binary;
}

// None where a driver refuses its own binary: it is then built anew.
Program cached_program(const Device& device, const fs::path& path) {
  const std::optional<std::string> binary = cached_binary(path);
  if (!binary) return nullptr;
  try {
    return device.implementation().load(*binary);
  } catch (const BuildFailure&) {
    return nullptr;
  }
}

/// PoCL compiles a kernel for the work-groups that it is started with, and keeps that itself. Asked for a
/// binary, it compiles all kernels once more, for work-groups of any size: that pays only for what an earlier
/// run has built, of which an empty file tells. Ranks of a run begin before any of them has built.
void store_binary(const DeviceInfo& info, const fs::path& path, const backend::Program& program,
                  fs::file_time_type began) {
  try {
    if (info.is_of_pocl()) {
      const std::optional<std::string> content = file_content(path);
      if (!content) return write_atomically(path, "");
      std::error_code ignored;
      if (content->empty() && fs::last_write_time(path, ignored) >= began) return;
    }
    const std::string binary = program.binary();
    write_atomically(path, content_digest(binary) + binary);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): without a cache the next run only builds again
  }
}

}  // namespace

void expect_kernels_in_sycl() { setenv("CL_CONFIG_CPU_VECTORIZER_MODE", "1", /*overwrite=*/0); }

Source source_of(const fs::path& file, const fs::path& root, std::int64_t replicas, const fs::path& own) {
  return Expansion(file, root, replicas, own).source();
}

std::string expand_includes(const fs::path& file, const fs::path& root, std::int64_t replicas,
                            const fs::path& own) {
  return source_of(file, root, replicas, own).text;
}

std::string build_key(const DeviceInfo& info, const std::string& source, const std::string& options) {
  const char separator = '\n';
  return content_digest(info.platform + separator + info.platform_version + separator + info.name +
                        separator + info.driver + separator + options + separator + source);
}

BuiltProgram build_from_source(const Device& device, const std::string& source, const std::string& name,
                               const Definitions& definitions) {
  static const fs::file_time_type began = fs::file_time_type::clock::now();
  const auto lock = setup_lock();
  check_runtime_cache(device.info());
  const std::string options = compiler_options(definitions);
  const fs::path cache = cache_folder();
  const fs::path cached = cache / "kernels" / (build_key(device.info(), source, options) + ".bin");
  if (!cache.empty()) {
    if (Program program = cached_program(device, cached)) return {std::move(program), true};
  }
  try {
    const CrashLine line("kernels were built for " + device.info().name);
    Program program = device.implementation().build(source, options);
    if (!cache.empty()) store_binary(device.info(), cached, *program, began);
    return {std::move(program), false};
  } catch (const BuildFailure& failure) {
    throw bad_use("the kernel file '" + name + "' does not compile for " + device.info().name + ": " +
                      first_complaint(failure.log()) + " (" + failure.what() + ")",
                  "correct the file or the parameters it is built with (" + options + ")");
  }
}

std::string bitstream_content(const fs::path& file) {
  std::optional<std::string> binary = file_content(file);
  if (!binary) throw bad_use("cannot read the bitstream '" + file.string() + "'", "check the file's name");
  return *std::move(binary);
}

Program load_bitstream(const Device& device, const fs::path& file, const std::string& binary) {
  const auto lock = setup_lock();
  check_runtime_cache(device.info());
  const Watched watched(Awaiting::kDevice);
  try {
    return device.implementation().load(binary);
  } catch (const BuildFailure& failure) {
    throw bad_use("the bitstream '" + file.string() + "' is not for " + device.info().name + " (" +
                      failure.what() + ")",
                  "choose the device it was built for with --platform and --device, or build it again");
  }
}

std::unique_ptr<backend::Kernel> entry_point(const Program& program, const std::string& name) {
  const auto lock = setup_lock();
  if (std::unique_ptr<backend::Kernel> kernel = program->kernel(name)) return kernel;
  throw bad_use("the program has no kernel '" + name + "', only '" + program->kernel_names() + "'",
                "give the kernel the name and arguments that kernel.toml lists");
}

}  // namespace fabricmark::device
