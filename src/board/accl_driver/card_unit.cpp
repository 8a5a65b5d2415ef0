#include "board/accl_driver/card_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace fabricmark::accl {

CardUnit::CardUnit(const runtime::Context& context, const std::string& kernel, const std::string& unit)
    : card_(&context.device()),
      kernel_(device::entry_point(context.program(), fmt::format("{}:{{{}}}", kernel, unit))),
      queue_(card_->queue()) {}

device::Buffer CardUnit::buffer(unsigned argument, std::size_t bytes) const {
  return {*card_,
          std::max<std::size_t>(bytes, 1),
          device::MemoryKind::kBuffer,
          {.kernel = kernel_.get(), .argument = argument}};
}

void CardUnit::write(device::Buffer& buffer, const void* source, std::size_t bytes) const {
  if (bytes > 0) buffer.write(queue_, source, bytes);
  queue_.finish();
}

void CardUnit::read(const device::Buffer& buffer, void* destination, std::size_t bytes) const {
  if (bytes > 0) buffer.read(queue_, destination, bytes);
  queue_.finish();
}

void CardUnit::set(unsigned argument, const device::Buffer& buffer) const {
  kernel_->set_memory(argument, buffer.implementation());
}

void CardUnit::set(unsigned argument, const fm::accl_use& use) const {
  set(argument, use.communicator);
  set(argument + 1, use.datapath);
  set(argument + 2, use.compression);
}

void CardUnit::start() const { kernel_->start(queue_.implementation(), {}, nullptr, nullptr); }

void run(const std::vector<const CardUnit*>& units) {
  for (const CardUnit* unit : units) unit->start();
  for (const CardUnit* unit : units) unit->finish();
}

CardCaller::CardCaller(const runtime::Context& context, const std::string& kernel, const std::string& unit,
                       unsigned failed)
    : CardUnit(context, kernel, unit), failed_(buffer(failed, std::vector<int>(2))) {
  set(failed, failed_);
}

void CardCaller::require_no_failure() const {
  std::array<int, 2> failed{};
  read(failed_, failed.data(), sizeof(failed));
  accl::require_no_failure(failed);
}

void require_one_replica(const runtime::Context& context) {
  if (context.parameters().integer("replications") == 1) return;
  throw bad_use("--replications asks for several of a kernel, and a card with ACCL's engine has one of each",
                "use --replications 1");
}

void require_no_failure(const std::array<int, 2>& failed) {
  if (failed[0] == 0) return;
  throw Error(
      ExitCode::kInvalidResult,
      fmt::format("{} calls of ACCL's engine have failed, the first with status {:#x}", failed[0], failed[1]),
      "see accl_error in kernels/common/accl_words.hpp");
}

}  // namespace fabricmark::accl
