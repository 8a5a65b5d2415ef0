#include "device/xclbin.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "base/host.hpp"

namespace fabricmark::device {

namespace {

// Places in the structure axlf of XRT's xclbin.h.
constexpr std::string_view kMagic("xclbin2\0", 8);
constexpr std::size_t kLengthAt = 304;
constexpr std::size_t kPlatformAt = 352;
constexpr std::size_t kPlatformBytes = 64;
constexpr std::size_t kSectionsAt = 448;
constexpr std::size_t kFrontBytes = 456;
constexpr std::size_t kRowBytes = 40;
constexpr std::size_t kStartInRow = 24;
constexpr std::size_t kSizeInRow = 32;
constexpr std::uint32_t kMetadata = 2;
constexpr std::uint32_t kMemories = 6;
constexpr std::uint32_t kConnectivity = 7;
constexpr std::uint32_t kUnits = 8;
constexpr std::size_t kFirstMemoryAt =
    8;  // behind how many there are; each says its kind, whether it is used
constexpr std::size_t kMemoryBytes = 40;
constexpr const char* kCardMode = "sw_emu";  // by which XRT starts the suite's emulated card
constexpr std::array kNeeded{std::pair(std::uint32_t{0}, "BITSTREAM"),
                             std::pair(kMetadata, "EMBEDDED_METADATA"), std::pair(kMemories, "MEM_TOPOLOGY"),
                             std::pair(kConnectivity, "CONNECTIVITY"), std::pair(kUnits, "IP_LAYOUT")};

template <typename T>
T number_at(const std::string& content, std::size_t place) {
  T number = 0;
  std::memcpy(&number, content.data() + place, sizeof(number));
  return number;
}

/// Of a container without a fault; empty where it has none.
std::string section_of(const std::string& content, std::uint32_t kind) {
  const std::size_t count = number_at<std::uint32_t>(content, kSectionsAt);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = kFrontBytes + i * kRowBytes;
    if (number_at<std::uint32_t>(content, row) == kind) {
      return content.substr(number_at<std::uint64_t>(content, row + kStartInRow),
                            number_at<std::uint64_t>(content, row + kSizeInRow));
    }
  }
  return "";
}

/// The xrt.ini that XRT reads: where XRT_INI_PATH says, beside the program, or here.
std::filesystem::path file_of_settings() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  constexpr const char* kName = "xrt.ini";
  const std::string given = environment("XRT_INI_PATH");
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / kName;
  return !given.empty() ? fs::path(given) : fs::exists(beside, ignored) ? beside : fs::path(kName);
}

/// Whether it has a line of one of XRT's schedulers.
bool names_scheduler(const std::filesystem::path& settings) {
  std::ifstream file(settings);
  static const std::regex known("\\s*(ert|kds)\\s*=.*", std::regex::icase);
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 256 && std::regex_match(line, known)) return true;
  }
  return false;
}

}  // namespace

std::string fault_of_xclbin(const std::string& content, const DeviceInfo& info) {
  if (!content.starts_with(kMagic)) return "it does not begin with xclbin2";
  if (content.size() < kFrontBytes) return "it ends within its header";
  const auto length = number_at<std::uint64_t>(content, kLengthAt);
  if (length != content.size()) {
    return "its header says " + std::to_string(length) + " bytes, and it has " +
           std::to_string(content.size());
  }
  const std::size_t count = number_at<std::uint32_t>(content, kSectionsAt);
  if (count > (content.size() - kFrontBytes) / kRowBytes)
    return "its " + std::to_string(count) + " sections end outside of it";
  std::set<std::uint32_t> found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = kFrontBytes + i * kRowBytes;
    const auto start = number_at<std::uint64_t>(content, row + kStartInRow);
    const auto size = number_at<std::uint64_t>(content, row + kSizeInRow);
    if (start > length || size > length - start)
      return "its section " + std::to_string(i + 1) + " lies outside of it";
    found.insert(number_at<std::uint32_t>(content, row));
  }
  const std::string mode = environment("XCL_EMULATION_MODE");
  if (mode != kCardMode && is_of_emulated_card(content)) {
    return std::string("it is for XCL_EMULATION_MODE=") + kCardMode + ", which is " +
           (mode.empty() ? "not set" : mode);
  }
  if (!info.is_emulated_board) return "";
  for (const auto& [kind, name] : kNeeded) {
    if (!found.contains(kind)) return std::string("it has no ") + name;
  }
  std::string platform(content.data() + kPlatformAt, strnlen(content.data() + kPlatformAt, kPlatformBytes));
  std::ranges::replace_if(
      platform, [](unsigned char letter) { return std::isprint(letter) == 0; }, '?');  // of a damaged one
  return platform == info.name ? "" : "it is for " + platform;
}

std::string metadata_of_xclbin(const std::string& content) { return section_of(content, kMetadata); }

bool is_of_emulated_card(const std::string& content) {
  return metadata_of_xclbin(content).find("vlnv=\"fabricmark:card:") != std::string::npos;
}

std::string scheduler_advice(const std::string& content) {
  constexpr int kMany = 16;
  const std::string units = content.starts_with(kMagic) ? section_of(content, kUnits) : "";
  const auto count = units.size() < sizeof(std::int32_t) ? 0 : number_at<std::int32_t>(units, 0);
  if (count < kMany || names_scheduler(file_of_settings())) return "";
  return std::to_string(count) +
         " compute units: on a board compare a run with ert=false, and one with kds=false, under [Runtime] "
         "of "
         "xrt.ini: XRT's scheduler on the card, or in the driver, starts them in turn (docs/xrt.md)";
}

int first_memory_of_xclbin(const std::string& content) {
  const std::string links = section_of(content, kConnectivity);
  constexpr std::size_t kMemoryInLinkAt = 12;  // behind the number of links, and its argument and unit
  if (links.size() < kMemoryInLinkAt + sizeof(std::int32_t) || number_at<std::int32_t>(links, 0) < 1)
    return 0;
  return number_at<std::int32_t>(links, kMemoryInLinkAt);
}

std::uint64_t memory_bytes_of_xclbin(const std::string& content) {
  if (!fault_of_xclbin(content, DeviceInfo()).empty()) return 0;
  const std::string memories = section_of(content, kMemories);
  std::uint64_t bytes = 0;
  for (int i = 0; kFirstMemoryAt + static_cast<std::size_t>(i) * kMemoryBytes < memories.size(); ++i) {
    const bool is_used = memories[kFirstMemoryAt + static_cast<std::size_t>(i) * kMemoryBytes + 1] != 0;
    if (is_used) bytes += memory_bytes_of_xclbin(content, i);
  }
  return bytes;
}

std::uint64_t memory_bytes_of_xclbin(const std::string& content, int number) {
  constexpr std::size_t kSizeAt = 8, kUnit = 1024;
  const std::string memories = section_of(content, kMemories);
  const std::size_t row = kFirstMemoryAt + static_cast<std::size_t>(number) * kMemoryBytes;
  if (number < 0 || row + kMemoryBytes > memories.size()) return 0;
  return kUnit * number_at<std::uint64_t>(memories, row + kSizeAt);
}

}  // namespace fabricmark::device
