#include "library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <stdexcept>

namespace fabricmark::sycl_plugin {

namespace {

/// Of a shared library, its header.
std::optional<Elf64_Ehdr> header_of(const std::string& bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const bool is_library = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                          header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN;
  return is_library ? std::optional(header) : std::nullopt;
}

/// Whether all segments and the table of sections, which ends a file, are there: the loader would touch
/// memory behind its end.
bool is_whole(const std::string& bytes, const Elf64_Ehdr& header) {
  const auto has = [&](std::uint64_t at, std::uint64_t size) {
    return at <= bytes.size() && size <= bytes.size() - at;
  };
  if (!has(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize)) return false;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || !has(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    return false;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (!has(segment.p_offset, segment.p_filesz)) return false;
  }
  return true;
}

/// A file in memory with these bytes. Throws std::runtime_error.
int file_of(const std::string& bytes) {
  const int file = memfd_create("fabricmark-kernels", MFD_CLOEXEC);
  std::size_t written = 0;
  while (file >= 0 && written < bytes.size()) {
    const ssize_t more = write(file, bytes.data() + written, bytes.size() - written);
    if (more <= 0) break;
    written += static_cast<std::size_t>(more);
  }
  if (file < 0 || written < bytes.size()) {
    if (file >= 0) close(file);
    throw std::runtime_error("the library of kernels found no room in memory");
  }
  return file;
}

/// More than any board has, HBM's 32 among them; beyond it a table is damaged.
constexpr int kMostMemories = 256;

void require_locations(const fm::EntryPoint& entry) {
  for (unsigned i = 0; i < entry.argument_count; ++i) {
    const fm::Argument& argument = entry.arguments[i];
    const bool is_buffer = std::string(argument.kind) == "buffer";
    if (argument.location >= -1 && argument.location < (is_buffer ? kMostMemories : 0)) continue;
    throw std::runtime_error("the library of kernels names memory " + std::to_string(argument.location) +
                             " for the argument '" + argument.name + "' of '" + entry.name +
                             "', which is none");
  }
}

}  // namespace

std::shared_ptr<const Library> Library::from(const std::string& bytes) {
  const std::optional<Elf64_Ehdr> header = header_of(bytes);
  if (!header || bytes.find("fm_entry_points") == std::string::npos) return nullptr;
  if (!is_whole(bytes, *header)) throw std::runtime_error("the library of kernels is cut short");
  const int file = file_of(bytes);
  void* const handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::shared_ptr<Library> made(new Library(file, handle));
  if (handle == nullptr)
    throw std::runtime_error(std::string("the library of kernels does not load: ") + dlerror());
  const auto* const entries = static_cast<const fm::EntryPoint*>(dlsym(handle, "fm_entry_points"));
  const auto* const count = static_cast<const unsigned*>(dlsym(handle, "fm_entry_point_count"));
  const auto* const emulated = static_cast<const int*>(dlsym(handle, "fm_is_emulated"));
  if (entries == nullptr || count == nullptr || emulated == nullptr)
    throw std::runtime_error("the library of kernels has no whole table of them");
  made->entries_ = entries;
  made->count_ = *count;
  made->is_emulated_ = *emulated != 0;
  for (unsigned i = 0; i < *count; ++i) {
    (void)made->start(entries[i]);
    require_locations(entries[i]);
  }
  return made;
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
  close(file_);
}

std::string Library::kernel_names() const {
  std::string names;
  for (unsigned i = 0; i < count_; ++i) names += (names.empty() ? "" : ";") + std::string(entries_[i].name);
  return names;
}

const fm::EntryPoint* Library::find(const std::string& name) const {
  for (unsigned i = 0; i < count_; ++i) {
    if (name == entries_[i].name) return entries_ + i;
  }
  return nullptr;
}

Library::Start Library::start(const fm::EntryPoint& entry) const {
  void* const found = dlsym(handle_, entry.start);
  if (found == nullptr) throw std::runtime_error(std::string("the library of kernels has no ") + entry.start);
  return reinterpret_cast<Start>(found);
}

}  // namespace fabricmark::sycl_plugin
