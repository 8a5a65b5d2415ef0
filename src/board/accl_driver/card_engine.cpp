#include "board/accl_driver/card_engine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/host.hpp"
#include "network/message_fault.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::accl {

namespace {

constexpr const char* kRemedy =
    "build ACCL's driver and the plugin (docs/building.md), and set FABRICMARK_ACCL to the latter";
constexpr std::int32_t kFirstPort = 5500;      // as hosts of ACCL have it
constexpr std::uint32_t kTimeout = 1'000'000;  // likewise

Error cannot_drive(const std::string& file, std::string why) {
  std::ranges::replace(why, '\n', ' ');
  return environment_failure(fmt::format("the plugin '{}' does not drive ACCL's engine: {}", file, why),
                             kRemedy);
}

/// Never closed: XRT's library ends with the process.
const accl_driver::Functions& loaded(const std::string& file) {
  if (file.empty()) {
    throw environment_failure(
        "nothing here drives ACCL's engine of the bitstream: FABRICMARK_ACCL is not set", kRemedy);
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw cannot_drive(file, why != nullptr ? why : "the system does not say why");
  }
  const auto entry = reinterpret_cast<accl_driver::Entry>(dlsym(library, accl_driver::kEntry));
  if (entry == nullptr) throw cannot_drive(file, std::string("it has no ") + accl_driver::kEntry);
  const accl_driver::Functions* const functions = entry();
  if (functions->version != accl_driver::kVersion) {
    throw cannot_drive(
        file, fmt::format("its interface is version {}, not {}", functions->version, accl_driver::kVersion));
  }
  return *functions;
}

/// A file in memory: ACCL's driver takes a bitstream by its path.
FileDescriptor file_of(const std::string& bytes) {
  FileDescriptor file(memfd_create("fabricmark-bitstream", MFD_CLOEXEC));
  std::size_t written = 0;
  while (file.is_open() && written < bytes.size()) {
    const ssize_t more = write(file.number(), bytes.data() + written, bytes.size() - written);
    if (more <= 0) break;
    written += static_cast<std::size_t>(more);
  }
  if (!file.is_open() || written < bytes.size())
    throw environment_failure("the bitstream finds no room in memory", "free some");
  return file;
}

std::int32_t protocol_of(const std::string& transport) {
  const std::string protocol = runtime::transport_spec(transport).protocol;
  if (protocol == "udp") return accl_driver::kUdp;
  if (protocol == "tcp") return accl_driver::kTcp;
  throw bad_use(
      fmt::format("no bitstream of XRT has ACCL's engine over {}, which needs Coyote's shell", protocol),
      "choose a transport over UDP or TCP");
}

std::int32_t driven(collectives::Type type) {
  switch (type) {
    case collectives::Type::kFloat16:
      return accl_driver::kFloat16;
    case collectives::Type::kFloat32:
      return accl_driver::kFloat32;
    case collectives::Type::kFloat64:
      return accl_driver::kFloat64;
    case collectives::Type::kInt32:
      return accl_driver::kInt32;
    case collectives::Type::kInt64:
      return accl_driver::kInt64;
    default:
      throw bad_use("ACCL has no arithmetic for elements of 8 bits", "choose another type");
  }
}

void require_calls_of_kernels(const runtime::Context& context) {
  if (context.parameters().text("issuer") == "host")
    throw bad_use("on a card kernels call the engine, and the host does not", "use --issuer logic");
  if (network::message_fault(context.fault())) {
    throw bad_use("--inject-fault asks for a fault of messages, which nothing makes on a card",
                  "use one of values, as element, or FABRICMARK_CARD_FAULT on emulated cards");
  }
}

}  // namespace

std::vector<std::pair<std::string, std::int32_t>> card_addresses(int ranks) {
  std::vector<std::pair<std::string, std::int32_t>> found;
  const std::string file = environment(kAddressesVariable);
  nlohmann::json addresses = nlohmann::json::array();
  if (!file.empty()) {
    std::ifstream stream(file);
    const nlohmann::json document = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
    const bool is_list = document.is_object() && document.contains("ips") && document["ips"].is_array();
    if (is_list) addresses = document["ips"];
    const bool are_texts = std::ranges::all_of(addresses, [](const auto& one) { return one.is_string(); });
    if (!is_list || !are_texts) {
      throw bad_use(fmt::format("'{}' of {} has no list of addresses", file, kAddressesVariable),
                    R"(write {"ips": ["10.10.10.1", "10.10.10.2"]}, with one for each rank)");
    }
    if (addresses.size() < static_cast<std::size_t>(ranks)) {
      throw bad_use(fmt::format("'{}' has {} addresses for {} ranks", file, addresses.size(), ranks),
                    "add one for each rank's card");
    }
  }
  for (int i = 0; i < ranks; ++i) {
    found.emplace_back(file.empty() ? fmt::format("10.10.10.{}", i + 1) : addresses[i].get<std::string>(),
                       kFirstPort + i);
  }
  return found;
}

CardEngine::CardEngine(const runtime::Context& context) {
  const runtime::Parameters& parameters = context.parameters();
  require_calls_of_kernels(context);
  const std::int32_t protocol = protocol_of(parameters.text("transport"));
  const auto addresses = card_addresses(context.ranks().size());
  const std::string file = environment(kDriverVariable);
  functions_ = &loaded(file);
  void* const device = context.device().implementation().driver_handle();
  if (device == nullptr) {
    throw bad_use("ACCL's driver speaks to XRT natively, and this device is not opened so",
                  "use --backend xrt with a bitstream for an Alveo board");
  }
  std::vector<accl_driver::Rank> ranks;
  for (const auto& [address, port] : addresses) ranks.push_back({address.c_str(), port});
  const FileDescriptor bitstream = file_of(context.program()->binary());
  const std::string path = fmt::format("/proc/self/fd/{}", bitstream.number());
  const accl_driver::Settings settings{device,
                                       path.c_str(),
                                       protocol,
                                       ranks.data(),
                                       context.ranks().size(),
                                       context.ranks().rank(),
                                       static_cast<std::uint32_t>(parameters.integer("rx_buffers")),
                                       static_cast<std::uint32_t>(parameters.integer("rx_bytes")),
                                       kTimeout};
  accl_driver::Engine* opened = nullptr;
  if (functions_->open(&settings, &opened) != accl_driver::kDone)
    throw cannot_drive(file, functions_->last_words());
  engine_ = std::shared_ptr<accl_driver::Engine>(opened, functions_->close);
}

std::uint32_t CardEngine::communicator(const std::vector<int>& ranks) const {
  std::uint32_t made = 0;
  const auto count = static_cast<std::int32_t>(ranks.size());
  if (functions_->communicator(engine_.get(), ranks.data(), count, &made) != accl_driver::kDone)
    throw cannot_drive(environment(kDriverVariable), functions_->last_words());
  return made;
}

fm::accl_use CardEngine::use(collectives::Type type, std::uint32_t communicator) const {
  accl_driver::Places places{};
  if (functions_->places(engine_.get(), communicator, driven(type), &places) != accl_driver::kDone)
    throw cannot_drive(environment(kDriverVariable), functions_->last_words());
  return {places.communicator, places.datapath, 0};
}

}  // namespace fabricmark::accl
