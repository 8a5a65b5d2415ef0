#include "microbench/omb/device_memories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "device/memory.hpp"
#include "device/xclbin.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::microbench::omb {

namespace {

constexpr const char* kBuild =
    "build kernels/common/touch.cl for it, such as v++ -c -k touch ... and v++ -l ... --connectivity.sp "
    "touch_1.bytes:{}, and give --bitstream FILE --bank {}=NUMBER";

std::string_view words_of(Placement place) {
  switch (place) {
    case Placement::kHost:
      return "host memory";
    case Placement::kDevice:
      return "DDR memory";
    case Placement::kHighBandwidth:
      return "high-bandwidth memory";
    case Placement::kOnChip:
      break;
  }
  return "on-chip memory";
}

/// As the vendor's linker calls it.
std::string_view linker_name(Placement place) {
  if (place == Placement::kHighBandwidth) return "HBM[0]";
  return place == Placement::kOnChip ? "PLRAM[0]" : "DDR[0]";
}

Error lacking(const std::string& who, Placement place) {
  return bad_use(fmt::format("{} has no {} of its own ({})", who, words_of(place), static_cast<char>(place)),
                 fmt::format(fmt::runtime(kBuild), linker_name(place), static_cast<char>(place)));
}

}  // namespace

int bank_of(const device::DeviceInfo& info, const Options& options, Placement place) {
  const std::optional<int> bank = options.banks.at(std::string_view("DBP").find(static_cast<char>(place)));
  if (info.device_class != device::DeviceClass::kFpga) {
    if (place == Placement::kDevice && !bank) return -1;
    if (bank) throw bad_use(fmt::format("{} has no banks that can be chosen", info.name), "leave out --bank");
    throw bad_use(
        fmt::format("{} has no {} of its own ({})", info.name, words_of(place), static_cast<char>(place)),
        "use D, or an FPGA that has it");
  }
  if (options.bitstream.empty()) throw lacking(fmt::format("{} without a bitstream", info.name), place);
  if (!bank && place != Placement::kDevice) {
    throw lacking(std::filesystem::path(options.bitstream).filename().string(), place);
  }
  return bank.value_or(-1);
}

DeviceMemories::DeviceMemories(const device::Device& device, const device::Program& loaded,
                               const Options& options, Placement place)
    : device_(device),
      kind_(device::memory_kind(options.memory)),
      bank_(bank_of(device.info(), options, place)),
      queue_(device.queue()) {
  device::Program program = loaded;
  if (options.bitstream.empty()) {
    const std::filesystem::path file = runtime::kernels_folder() / "common" / "touch.cl";
    device::Source source = device::source_of(file, runtime::kernels_folder());
    file_ = {file.filename().string(), content_digest(source.text), "shipped", std::move(source.files)};
    program = device::build_from_source(device_, source.text, file_.file, {}).program;
  } else {
    const std::string binary = device::bitstream_content(options.bitstream);
    const std::string name = std::filesystem::path(options.bitstream).filename().string();
    file_ = {name, content_digest(binary), "bitstream"};
    if (device.info().is_of_xrt()) {
      memory_bytes_ = device::memory_bytes_of_xclbin(binary, device::first_memory_of_xclbin(binary));
      if (bank_ >= 0) memory_bytes_ = std::min(memory_bytes_, device::memory_bytes_of_xclbin(binary, bank_));
      if (memory_bytes_ == 0) {
        throw bad_use(fmt::format("{} has no memory {}", name, bank_),
                      "give --bank the number of one, as `xclbinutil --info` lists them");
      }
    }
  }
  kernel_ = device::entry_point(program, "touch");
}

std::unique_ptr<transport::Memory> DeviceMemories::allocate(std::size_t bytes) const {
  // Without a number a board's memory is that which its kernel is linked to.
  const device::Placement place{
      .bank = bank_, .is_spread = bank_ >= 0, .kernel = kernel_.get(), .argument = 0};
  return std::make_unique<transport::Memory>(
      device::Buffer(device_, std::max<std::size_t>(bytes, 1), kind_, place), device_.queue());
}

std::size_t DeviceMemories::room(std::size_t wanted) const {
  const auto said = static_cast<std::size_t>(device_.info().max_allocation_bytes);
  std::size_t bytes = std::min(wanted, said);
  // Of two buffers, with room beside them. Nothing is tried: XRT's OpenCL breaks the heap where it finds
  // none.
  if (memory_bytes_ > 0) return std::min(bytes, static_cast<std::size_t>(memory_bytes_ / 4));
  if (bank_ < 0) return bytes;
  // What a bank holds no runtime says.
  for (; bytes > 1; bytes /= 2) {
    try {
      const auto first = allocate(bytes);
      const auto second = allocate(bytes);
      return bytes;
    } catch (const Error&) {
      continue;
    }
  }
  return bytes;
}

void DeviceMemories::touch(transport::Memory& memory) const {
  kernel_->set_memory(0, memory.device().implementation());
  kernel_->start(queue_.implementation(), {}, nullptr, nullptr);
  queue_.finish();
}

}  // namespace fabricmark::microbench::omb
